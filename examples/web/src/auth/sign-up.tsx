import { type CallOptions, isApiError, type LoginWithResult } from '@dure/client';
import { useMutation, useObject, useSession } from '@dure/react';
import { useEffect, useRef, useState } from 'react';
import { toast } from 'react-hot-toast/headless';
import { Link, Navigate, useLocation, useNavigate } from 'react-router';
import { ConsentChoices, consentsIn, noConsents } from '../account/consents.tsx';
import { dure } from '../api.ts';
import { ownPath } from '../app/session.tsx';
import { m } from '../paraglide/messages.js';
import { EmailField, TextField, UsernameField } from '../ui/fields.tsx';
import { Button, ButtonLink, Form, Loaded, Page } from '../ui/index.ts';
import { CodeForm, codeSentTo, NewPasswordField } from './fields.tsx';
import { ProviderButtons } from './provider-buttons.tsx';

interface Proof {
  email: string;
  verification_token: string;
}

interface Entered {
  username: string;
  name: string;
  email: string;
  consents: typeof noConsents;
}

/** What the entry of the history keeps, also over a reload. Passwords are not kept. */
export interface SignUpState {
  /** A login that has no account yet, with which the new account has no password. */
  provider?: Extract<LoginWithResult, { status: 'sign_up_required' }>;
  /** An address that a code or a mailed link has proved. */
  proved?: Proof | undefined;
  account?: Entered;
  /** `code` creates the account, `verify` verifies it, where it exists and is logged in. */
  step?: 'code' | 'verify' | undefined;
}

/** Tells a tab that waits for a code of the address that the link in the mail has proved. */
export const proofs = new BroadcastChannel('dure.proofs');

/** Creates an account, and verifies its address with the mailed code, unless the address is proved already. */
export function SignUp() {
  const location: { state: SignUpState | null } = useLocation();
  const state = location.state ?? {};
  const { provider, proved, account, step } = state;
  const navigate = useNavigate();
  const { status } = useSession();
  const consents = useObject(dure.auth.listConsents);
  const confirmEmail = useMutation(dure.auth.confirmEmail);
  const password = useRef('');
  const created = useRef<string>(undefined);
  const [failure, setFailure] = useState<unknown>();
  const suggested = provider?.suggested;
  const provedEmail = proved?.email ?? (suggested?.is_email_verified ? suggested.email : null);
  const open = (next: SignUpState) => navigate('/signup', { replace: true, state: { ...state, ...next } });

  async function signUp(entered: Entered & { password: string }, { idempotencyKey }: CallOptions) {
    const { password: secret, ...account } = { ...entered, email: provedEmail ?? entered.email };
    password.current = secret;
    try {
      await create(account, proved?.verification_token, idempotencyKey);
    } catch (error) {
      // With EMAIL_VERIFICATION=required the service wants the code first.
      const needsCode = isApiError(error) && error.fields['verification_token'] !== undefined;
      if (provedEmail !== null || !needsCode) throw error;
      await dure.auth.sendVerificationCode({ email: account.email });
      const next: SignUpState = { ...state, account, step: 'code' };
      return navigate('/signup', { state: next });
    }
    return provedEmail === null ? open({ account, step: 'verify' }) : enter();
  }

  async function confirm(account: Entered, code: string) {
    const proof = await confirmEmail.mutateAsync({ email: account.email, code });
    return step === 'verify' ? enter() : goOn(account, proof);
  }

  /** Creates the account of a proved address. What goes wrong is shown in the form, where everything is as it was entered. */
  async function goOn(account: Entered, { email, verification_token }: Proof) {
    const back = { proved: { email, verification_token }, account, step: undefined };
    // After a reload, the password is entered again.
    if (!provider && password.current === '') return open(back);
    try {
      await create(account, verification_token);
      return enter();
    } catch (error) {
      setFailure(error);
      return open(back);
    }
  }

  async function create(entered: Entered, verification_token?: string, idempotencyKey?: string) {
    const { items = [] } = consents.data ?? {};
    const fields = { ...entered, consents: items.length ? consentsIn(entered.consents, items) : undefined };
    if (provider) {
      const input = { ...fields, sign_up_token: provider.token, verification_token };
      created.current = entered.username;
      return void (await dure.auth.signUpWithProvider(input));
    }
    // When only the login failed, the next attempt finds the account.
    if (created.current !== entered.username) {
      const input = { ...fields, password: password.current, verification_token };
      await dure.auth.signUp(input, { idempotencyKey });
      created.current = entered.username;
    }
    await dure.auth.logIn({ username: entered.username, password: password.current });
  }

  function enter() {
    toast(m.welcome_now_register_your_shop());
    navigate(ownPath(provider?.returnTo), { replace: true });
  }

  // The link of the mail may be opened in another tab, or on another device.
  const isWaiting = step === 'verify';
  const { data: user } = useObject(dure.auth.getCurrentUser, {}, { refetchInterval: isWaiting && 5_000 });
  const isVerified = isWaiting && user?.is_verified === true;
  useEffect(() => {
    if (isVerified) enter();
  }, [isVerified]);
  useEffect(() => {
    if (step !== 'code' || !account) return undefined;
    const listen = ({ data }: MessageEvent<Proof>) => {
      if (data.email === account.email) void goOn(account, data);
    };
    proofs.addEventListener('message', listen);
    return () => proofs.removeEventListener('message', listen);
  }, [step]);

  const first = { step: undefined, proved: undefined };
  if (status === 'signed_in' && !step && created.current === undefined) return <Navigate replace to="/" />;
  if (account && step) {
    return (
      <Page key="code" title={m.verify_your_email_2()} lead={codeSentTo(account.email)} width="form-page">
        {step === 'verify' && status === 'signed_out' ? (
          // Without a login, a code would be used up and verify no account.
          <p className="note warn">
            {m.log_in_and_go_on()}{' '}
            <Link to="/login?next=%2Fsignup" state={{ back: state }}>
              {m.log_in()}
            </Link>
          </p>
        ) : (
          <CodeForm
            email={account.email}
            onCode={(code) => confirm(account, code)}
            actions={step === 'verify' && <Button look="plain" label={m.verify_later()} onClick={enter} />}
          />
        )}
        <p className="row small">
          {m.is_the_address_wrong()}
          {step === 'verify' ? (
            <ButtonLink look="plain" to="/account#email" label={m.change_email()} />
          ) : (
            <Button look="plain" label={m.correct_the_address()} onClick={() => open(first)} />
          )}
        </p>
      </Page>
    );
  }
  const begin = provider ? m.almost_done_please_fill_in() : m.free_for_everyone_who_runs();
  const lead = provedEmail === null ? begin : m.we_have_checked_please_fill({ provedEmail });
  const values = {
    ...{ name: suggested?.name ?? '', email: suggested?.email ?? '', username: '', consents: noConsents },
    ...account,
    password: password.current,
  };
  return (
    <Page key="account" title={m.sign_up()} lead={lead} width="form-page">
      <Loaded query={consents}>
        {({ items }) => (
          <>
            <Form
              draft="sign-up"
              values={values}
              error={failure}
              submitLabel={provedEmail === null ? m.get_a_code() : m.sign_up()}
              onSubmit={signUp}>
              <TextField name="name" label={m.name()} autoComplete="name" />
              {provedEmail === null && <EmailField hint={m.we_will_send_a_code_2()} />}
              <UsernameField hint={m.n_4_to_30_characters_starting()} />
              {!provider && <NewPasswordField />}
              <ConsentChoices items={items} />
            </Form>
            {proved && <Button look="plain" label={m.use_another_email()} onClick={() => open(first)} />}
            <Link className="back small" to="/login">
              {m.already_have_an_account_log()}
            </Link>
            {!provider && !proved && <ProviderButtons />}
          </>
        )}
      </Loaded>
    </Page>
  );
}
