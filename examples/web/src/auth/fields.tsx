import { type ReactNode, useEffect, useState } from 'react';
import { useFormContext } from 'react-hook-form';
import { toast } from 'react-hot-toast/headless';
import { dure } from '../api.ts';
import { m } from '../paraglide/messages.js';
import { CodeField, PasswordField, TextField } from '../ui/fields.tsx';
import { Button, Form } from '../ui/index.ts';

interface CodeFormProps {
  email: string;
  submitLabel?: string;
  onCode: (code: string) => Promise<unknown>;
  actions?: ReactNode;
}

/** Takes the six digits that were mailed, and sends them again on request. */
export function CodeForm({ email, submitLabel = m.verify(), onCode, actions }: CodeFormProps) {
  const [wait, setWait] = useState(0);
  useEffect(() => {
    const timer = setTimeout(() => setWait(Math.max(0, wait - 1)), 1_000);
    return () => clearTimeout(timer);
  }, [wait]);

  async function resend() {
    const { data, message } = await dure.request('sendVerificationCode', { email });
    toast(message);
    setWait(data.resend_after);
  }

  const again = wait > 0 ? m.send_a_new_code_in({ wait }) : m.send_a_new_code();
  return (
    <div className="stack">
      <Form
        draft={`code-${email}`}
        values={{ code: '' }}
        submitLabel={submitLabel}
        onSubmit={({ code }) => onCode(code)}
        actions={actions}>
        <CodeField hint={m.if_you_do_not_see()} />
      </Form>
      <Button look="plain" label={again} onClick={resend} disabled={wait > 0} />
    </div>
  );
}

export const codeSentTo = (email: string) => m.enter_the_6_digits_that({ email });

export function SecondFactorField() {
  const { setValue } = useFormContext();
  const [isRecovery, setRecovery] = useState(false);
  // In place of the rule of the other field, which has the same name.
  const anyText = { rules: { onChange: () => undefined }, autoComplete: 'off', autoCapitalize: 'none' };

  function change() {
    setValue('code', '');
    setRecovery(!isRecovery);
  }

  return (
    <>
      {isRecovery ? (
        <TextField name="code" label={m.recovery_code_2()} {...anyText} />
      ) : (
        <CodeField hint={m.the_6_digits_that_your()} />
      )}
      <Button look="plain" label={isRecovery ? m.use_the_app() : m.use_a_recovery_code()} onClick={change} />
    </>
  );
}

/** What was entered. Recovery codes may be pasted with spaces. */
export const secondFactorIn = (code: string) => code.replace(/\s/g, '');

export function NewPasswordField(props: { name?: string; label?: string }) {
  return <PasswordField {...props} hint={m.at_least_8_characters_not()} autoComplete="new-password" />;
}
