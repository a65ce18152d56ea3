import { isApiError } from '@dure/client';
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { dure } from '../api.ts';
import { CodeForm } from '../components/code-form.tsx';
import { PasswordField, TextField } from '../components/field.tsx';
import { Form } from '../components/form.tsx';
import { Page } from '../components/page.tsx';
import { useToasts } from '../components/toasts.tsx';
import { useLanguage } from '../texts/language.tsx';

interface NewAccount {
  username: string;
  password: string;
  name: string;
  email: string;
}

interface Pending {
  account: NewAccount;
  /** The account exists and the code verifies it; otherwise the code is needed to create it. */
  isCreated: boolean;
}

/** Creates an account, and verifies its address with the mailed code. */
export function SignUpView() {
  const { t } = useLanguage();
  const { route } = useLocation();
  const { show } = useToasts();
  const [pending, setPending] = useState<Pending>();

  async function signUp(account: NewAccount) {
    try {
      await dure.signUp(account);
      setPending({ account, isCreated: true });
    } catch (error) {
      // With EMAIL_VERIFICATION=required the service wants the code first.
      if (!isApiError(error) || error.fields?.['verification_token'] === undefined) throw error;
      await dure.sendVerificationCode({ email: account.email });
      setPending({ account, isCreated: false });
    }
  }

  async function confirm({ account, isCreated }: Pending, code: string) {
    const { verification_token } = await dure.confirmEmail({ email: account.email, code });
    if (!isCreated) await dure.signUp({ ...account, verification_token });
    await enter(account, t.signUp.done);
  }

  async function enter({ username, password }: NewAccount, text: string) {
    await dure.logIn({ username, password });
    show(text);
    route('/', true);
  }

  if (pending) {
    return (
      <Page key="code" title={t.code.title} lead={t.code.sentTo(pending.account.email)} width="form-page">
        <CodeForm email={pending.account.email} onCode={(code) => confirm(pending, code)} />
        {pending.isCreated && (
          <p style="margin-top:16px">
            <button type="button" class="button plain" onClick={() => enter(pending.account, t.signUp.later)}>
              {t.code.later}
            </button>
          </p>
        )}
      </Page>
    );
  }
  return (
    <Page key="account" title={t.signUp.title} lead={t.signUp.lead} width="form-page">
      <Form
        submitLabel={t.signUp.submit}
        onSubmit={(read) =>
          signUp({
            username: read('username'),
            password: read('password'),
            name: read('name'),
            email: read('email'),
          })
        }
      >
        <TextField name="name" label={t.fields.name} autocomplete="name" />
        <TextField
          name="email"
          type="email"
          label={t.fields.email}
          hint={t.signUp.emailHint}
          autocomplete="email"
        />
        <TextField
          name="username"
          label={t.fields.username}
          hint={t.signUp.usernameHint}
          autocomplete="username"
          autocapitalize="none"
          spellcheck={false}
        />
        <PasswordField
          name="password"
          label={t.fields.password}
          hint={t.fields.passwordHint}
          autocomplete="new-password"
        />
      </Form>
      <p class="small" style="margin-top:16px">
        <a class="back" href="/login">
          {t.signUp.haveAccount}
        </a>
      </p>
    </Page>
  );
}
