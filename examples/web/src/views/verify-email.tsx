import { useState } from 'preact/hooks';
import { dure } from '../api.ts';
import { CodeForm } from '../components/code-form.tsx';
import { Form } from '../components/form.tsx';
import { useToasts } from '../components/toasts.tsx';
import { useAccount, useSession } from '../session.tsx';
import { useLanguage } from '../texts/language.tsx';

/** Verifies the address of the account: without that, no emails about requests are sent to it. */
export function VerifyEmail() {
  const { t } = useLanguage();
  const { user } = useAccount();
  const { reload } = useSession();
  const { show } = useToasts();
  const [isSent, setSent] = useState(false);
  return (
    <section class="card stack">
      <h2>{t.verifyEmail.title}</h2>
      <p class="soft">{isSent ? t.code.sentTo(user.email) : t.verifyEmail.text}</p>
      {isSent ? (
        <CodeForm
          email={user.email}
          onCode={async (code) => {
            await dure.auth.confirmEmail({ email: user.email, code });
            await reload();
            show(t.verifyEmail.done);
          }}
        />
      ) : (
        <Form
          submitLabel={t.verifyEmail.send}
          onSubmit={async () => {
            await dure.auth.sendVerificationCode({ email: user.email });
            setSent(true);
          }}
        />
      )}
    </section>
  );
}
