import { useState } from 'preact/hooks';
import { dure } from '../api.ts';
import { CodeField, TextField } from '../components/field.tsx';
import { Form } from '../components/form.tsx';
import { useToasts } from '../components/toasts.tsx';
import { useConfirmed } from '../confirmation.tsx';
import { useSession } from '../session.tsx';
import { useLanguage } from '../texts/language.tsx';

/** Moves the account to another address, which a mailed code proves. */
export function ChangeEmail() {
  const { t } = useLanguage();
  const { setUser } = useSession();
  const { show } = useToasts();
  const confirmed = useConfirmed();
  const [newEmail, setNewEmail] = useState<string>();
  return (
    <section class="card stack">
      <h2>{t.account.changeEmail}</h2>
      <p class="soft">{newEmail ? t.code.sentTo(newEmail) : t.account.changeEmailText}</p>
      {newEmail === undefined ? (
        <Form
          key="address"
          submitLabel={t.verifyEmail.send}
          onSubmit={async (read) => {
            const email = read('email');
            await dure.auth.sendVerificationCode({ email });
            setNewEmail(email);
          }}
        >
          <TextField name="email" type="email" label={t.account.newEmail} autocomplete="email" />
        </Form>
      ) : (
        <Form
          key="code"
          submitLabel={t.account.changeEmail}
          onSubmit={async (read) => {
            const code = read('code').trim();
            setUser(
              await confirmed((password) => dure.auth.changeEmail({ new_email: newEmail, code, password })),
            );
            setNewEmail(undefined);
            show(t.account.emailChanged);
          }}
          actions={
            <button type="button" class="button" onClick={() => setNewEmail(undefined)}>
              {t.common.cancel}
            </button>
          }
        >
          <CodeField hint={t.code.hint} />
        </Form>
      )}
    </section>
  );
}
