import { type Input, isApiError, type LoginWithResult } from '@dure/client';
import { useMutation, useObject } from '@dure/react';
import { useRef } from 'react';
import { toast } from 'react-hot-toast/headless';
import { Link, useLocation, useNavigate } from 'react-router';
import { ConsentChoices, consentsIn } from '../account/consents.tsx';
import { dure } from '../api.ts';
import { ownPath } from '../app/session.tsx';
import { t } from '../text.ts';
import { Button, Form, Loaded, Page, TextField, UsernameField } from '../ui/index.ts';
import { CodeForm, codeSentTo, NewPasswordField } from './fields.tsx';

type NewAccount = Pick<Input<'signUp'>, 'username' | 'name' | 'email' | 'consents'>;

/** What the entry of the history keeps, also over a reload. Passwords are not kept. */
export interface SignUpState {
  /** A login that has no account yet, with which the new account has no password. */
  provider?: Extract<LoginWithResult, { status: 'sign_up_required' }>;
  /** An address that a code or a mailed link has proved. */
  proved?: { email: string; verification_token: string };
  /** What was entered. */
  account?: NewAccount;
  /** `code` creates the account, `verify` verifies it, where it exists and is logged in. */
  step?: 'code' | 'verify' | undefined;
}

/** Creates an account, and verifies its address with the mailed code, unless the address is proved already. */
export function SignUp() {
  const location: { state: SignUpState | null } = useLocation();
  const state = location.state ?? {};
  const { provider, proved, account, step } = state;
  const navigate = useNavigate();
  const consents = useObject(dure.auth.listConsents);
  const confirmEmail = useMutation(dure.auth.confirmEmail);
  const password = useRef('');
  const created = useRef('');
  const suggested = provider?.suggested;
  const provedEmail = proved?.email ?? (suggested?.is_email_verified ? suggested.email : null);

  async function signUp(entered: NewAccount) {
    try {
      await create(entered, proved?.verification_token);
    } catch (error) {
      // With EMAIL_VERIFICATION=required the service wants the code first.
      const needsCode = isApiError(error) && error.fields['verification_token'] !== undefined;
      if (provedEmail !== null || !needsCode) throw error;
      await dure.auth.sendVerificationCode({ email: entered.email });
      return navigate('/signup', { state: { ...state, account: entered, step: 'code' } });
    }
    if (provedEmail !== null) return enter();
    return navigate('/signup', { replace: true, state: { ...state, account: entered, step: 'verify' } });
  }

  async function confirm(entered: NewAccount, code: string) {
    const { email, verification_token } = await confirmEmail.mutateAsync({ email: entered.email, code });
    if (step === 'verify') return enter();
    // After a reload, the password is entered again.
    if (!provider && password.current === '') {
      const next = { ...state, proved: { email, verification_token }, step: undefined };
      return navigate('/signup', { replace: true, state: next });
    }
    await create(entered, verification_token);
    return enter();
  }

  async function create(entered: NewAccount, verification_token?: string) {
    if (provider) {
      const input = { ...entered, sign_up_token: provider.token, verification_token };
      return void (await dure.auth.signUpWithProvider(input));
    }
    // When only the login failed, the next attempt finds the account.
    if (created.current !== entered.username) {
      await dure.auth.signUp({ ...entered, password: password.current, verification_token });
      created.current = entered.username;
    }
    await dure.auth.logIn({ username: entered.username, password: password.current });
  }

  function enter() {
    toast(t('가입이 완료되었습니다. 이제 가게를 등록해 보세요.', 'Welcome! Now register your shop.'));
    navigate(ownPath(provider?.returnTo), { replace: true });
  }

  if (account && step) {
    const later = <Button look="plain" label={t('나중에 인증하기', 'Verify later')} onClick={enter} />;
    return (
      <Page
        key="code"
        title={t('이메일 인증', 'Verify your email')}
        lead={codeSentTo(account.email)}
        width="form-page"
      >
        <CodeForm
          email={account.email}
          onCode={(code) => confirm(account, code)}
          actions={step === 'verify' && later}
        />
      </Page>
    );
  }
  return (
    <Page
      key="account"
      title={t('회원가입', 'Sign up')}
      lead={lead(provedEmail, provider !== undefined)}
      width="form-page"
    >
      <Loaded query={consents}>
        {({ items }) => (
          <Form
            draft="sign-up"
            submitLabel={provedEmail === null ? t('인증번호 받기', 'Get a code') : t('회원가입', 'Sign up')}
            onSubmit={(read, data) => {
              password.current = read('password');
              return signUp({
                username: read('username'),
                name: read('name'),
                email: provedEmail ?? read('email'),
                consents: items.length > 0 ? consentsIn(data) : undefined,
              });
            }}
          >
            <TextField
              name="name"
              label={t('이름', 'Name')}
              autoComplete="name"
              defaultValue={account?.name ?? suggested?.name ?? ''}
            />
            {provedEmail === null && (
              <TextField
                name="email"
                type="email"
                label={t('이메일', 'Email')}
                hint={t('이 주소로 인증번호를 보내 드립니다.', 'We will send a code to this address.')}
                autoComplete="email"
                defaultValue={account?.email ?? suggested?.email ?? ''}
              />
            )}
            <UsernameField
              hint={t(
                '영문 소문자로 시작하는 4~30자. 숫자와 . _ - 도 쓸 수 있습니다.',
                '4 to 30 characters, starting with a lower-case letter. Digits and . _ - are fine, too.',
              )}
              defaultValue={account?.username}
            />
            {!provider && <NewPasswordField name="password" />}
            <ConsentChoices items={items} />
          </Form>
        )}
      </Loaded>
      <Link className="back small" to="/login">
        {t('이미 계정이 있으신가요? 로그인', 'Already have an account? Log in')}
      </Link>
    </Page>
  );
}

function lead(provedEmail: string | null, hasProvider: boolean): string {
  if (provedEmail !== null) {
    return t(
      `${provedEmail} 주소를 확인했습니다. 나머지 정보를 입력해 주세요.`,
      `We have checked ${provedEmail}. Please fill in the rest.`,
    );
  }
  return hasProvider
    ? t('거의 다 되었습니다. 나머지 정보를 입력해 주세요.', 'Almost done. Please fill in the rest.')
    : t('가게 사장님이라면 누구나 무료로 쓸 수 있습니다.', 'Free for everyone who runs a shop.');
}
