import { type Input, isApiError, type LoginWithResult } from '@dure/client';
import { useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { dure } from '../api.ts';
import { ownPath } from '../arrival.ts';
import { CodeForm } from '../components/code-form.tsx';
import { ConsentChoices, consentsIn } from '../components/consent-choices.tsx';
import { PasswordField, TextField } from '../components/field.tsx';
import { Form } from '../components/form.tsx';
import { Page } from '../components/page.tsx';
import { useToasts } from '../components/toasts.tsx';
import { useLoad } from '../hooks/use-load.ts';
import { useSession } from '../session.tsx';
import { useLanguage } from '../texts/language.tsx';

type NewAccount = Pick<Input<'signUp'>, 'username' | 'password' | 'name' | 'email' | 'consents'>;

/** An address that a mailed link has proved. */
export interface ProvedEmail {
  email: string;
  verification_token: string;
}

interface Pending {
  account: NewAccount;
  /** The account exists and is logged in, so that the code verifies it; otherwise the code is needed to create it. */
  isCreated: boolean;
}

interface SignUpProps {
  proved?: ProvedEmail;
  /** A login that has no account yet, with which the new account has no password. */
  provider?: Extract<LoginWithResult, { status: 'sign_up_required' }>;
}

/** Creates an account, and verifies its address with the mailed code, unless the address is proved already. */
export function SignUpView({ proved, provider }: SignUpProps) {
  const { t } = useLanguage();
  const { route } = useLocation();
  const { reload } = useSession();
  const { show } = useToasts();
  const [pending, setPending] = useState<Pending>();
  const created = useRef('');
  const suggested = provider?.suggested;
  const consents = useLoad((signal) => dure.auth.listConsents({}, { signal }), []);
  const provedEmail = proved?.email ?? (suggested?.is_email_verified ? suggested.email : null);

  async function signUp(account: NewAccount) {
    try {
      await create(account, proved?.verification_token);
    } catch (error) {
      // With EMAIL_VERIFICATION=required the service wants the code first.
      if (provedEmail !== null || !isApiError(error) || error.fields?.['verification_token'] === undefined)
        throw error;
      await dure.auth.sendVerificationCode({ email: account.email });
      return setPending({ account, isCreated: false });
    }
    if (provedEmail !== null) enter(t.signUp.done);
    else setPending({ account, isCreated: true });
  }

  async function confirm({ account, isCreated }: Pending, code: string) {
    const { verification_token } = await dure.auth.confirmEmail({ email: account.email, code });
    if (isCreated) await reload();
    else await create(account, verification_token);
    enter(t.signUp.done);
  }

  async function create({ password, ...account }: NewAccount, verification_token?: string) {
    if (provider) {
      await dure.auth.signUpWithProvider({ ...account, sign_up_token: provider.token, verification_token });
      return;
    }
    // When only the login failed, the next attempt finds the account.
    if (created.current !== account.username) {
      await dure.auth.signUp({ ...account, password, verification_token });
      created.current = account.username;
    }
    await dure.auth.logIn({ username: account.username, password });
  }

  function describe(): string {
    if (provedEmail !== null) return t.signUp.proved(provedEmail);
    return provider ? t.signUp.almostDone : t.signUp.lead;
  }

  function enter(text: string) {
    show(text);
    route(ownPath(provider?.returnTo), true);
  }

  if (pending) {
    return (
      <Page key="code" title={t.code.title} lead={t.code.sentTo(pending.account.email)} width="form-page">
        <CodeForm email={pending.account.email} onCode={(code) => confirm(pending, code)} />
        {pending.isCreated && (
          <p style="margin-top:16px">
            <button type="button" class="button plain" onClick={() => enter(t.signUp.later)}>
              {t.code.later}
            </button>
          </p>
        )}
      </Page>
    );
  }
  return (
    <Page key="account" title={t.signUp.title} lead={describe()} width="form-page">
      <Form
        submitLabel={provedEmail === null ? t.signUp.submit : t.signUp.title}
        onSubmit={(read, data) =>
          signUp({
            username: read('username'),
            password: read('password'),
            name: read('name'),
            email: provedEmail ?? read('email'),
            consents: consents.value?.items.length ? consentsIn(data) : undefined,
          })
        }
      >
        <TextField
          name="name"
          label={t.fields.name}
          autocomplete="name"
          defaultValue={suggested?.name ?? ''}
        />
        {provedEmail === null && (
          <TextField
            name="email"
            type="email"
            label={t.fields.email}
            hint={t.signUp.emailHint}
            autocomplete="email"
            defaultValue={suggested?.email ?? ''}
          />
        )}
        <TextField
          name="username"
          label={t.fields.username}
          hint={t.signUp.usernameHint}
          autocomplete="username"
          autocapitalize="none"
          spellcheck={false}
        />
        {!provider && (
          <PasswordField
            name="password"
            label={t.fields.password}
            hint={t.fields.passwordHint}
            autocomplete="new-password"
          />
        )}
        <ConsentChoices consents={consents} />
      </Form>
      <p class="small" style="margin-top:16px">
        <a class="back" href="/login">
          {t.signUp.haveAccount}
        </a>
      </p>
    </Page>
  );
}
