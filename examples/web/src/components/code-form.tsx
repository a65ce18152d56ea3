import { useEffect, useState } from 'preact/hooks';
import { dure } from '../api.ts';
import { useLanguage } from '../texts/language.tsx';
import { CodeField } from './field.tsx';
import { Form } from './form.tsx';
import { describeError } from './states.tsx';

/** Takes the six digits that were mailed, and sends them again on request. */
export function CodeForm({ email, onCode }: { email: string; onCode: (code: string) => Promise<void> }) {
  const { t } = useLanguage();
  const [notice, setNotice] = useState('');
  const [wait, setWait] = useState(0);

  useEffect(() => {
    if (wait <= 0) return undefined;
    const timer = setTimeout(() => setWait(wait - 1), 1_000);
    return () => clearTimeout(timer);
  }, [wait]);

  async function resend() {
    if (wait > 0) return;
    try {
      const { data, message } = await dure.request('sendVerificationCode', { email });
      setNotice(message);
      setWait(data.resend_after);
    } catch (error) {
      setNotice(describeError(error, t));
    }
  }

  return (
    <div class="stack">
      <Form submitLabel={t.code.submit} onSubmit={(read) => onCode(read('code').trim())}>
        <CodeField hint={t.code.hint} />
      </Form>
      <div class="row">
        <button type="button" class="button plain" aria-disabled={wait > 0} onClick={resend}>
          {wait > 0 ? t.code.resendIn(wait) : t.code.resend}
        </button>
      </div>
      <p class="small soft" role="status">
        {notice}
      </p>
    </div>
  );
}
