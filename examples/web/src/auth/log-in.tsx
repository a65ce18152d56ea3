import { isApiError, supportsPasskeys } from '@dure/client';
import { useMutation, useObject, useSession } from '@dure/react';
import { useEffect, useState } from 'react';
import { toast } from 'react-hot-toast/headless';
import { Link, Navigate, useLocation, useNavigate, useSearchParams } from 'react-router';
import { dure } from '../api.ts';
import { ownPath } from '../app/session.tsx';
import { t } from '../text.ts';
import { attempt } from '../ui/errors.ts';
import { CodeField, PasswordField, TextField, UsernameField } from '../ui/fields.tsx';
import { Form } from '../ui/form.tsx';
import { Icon } from '../ui/icons.tsx';
import { Page } from '../ui/page.tsx';

/** What the entry of the history keeps, also over a reload. */
export interface LogInState {
  /** Of a login whose first step is done. */
  secondFactorToken?: string | undefined;
  /** Of a login with a provider whose address an account has: connected after the login to that account. */
  linkToken?: string | undefined;
}

/** Runs a login. */
type Run = (login: () => Promise<unknown>) => Promise<void>;

/** Logs in, and goes on where the user was. */
export function LogIn() {
  const { status } = useSession();
  const [query] = useSearchParams();
  const { state }: { state: LogInState | null } = useLocation();
  const link = useMutation(dure.auth.addIdentity);
  const returnTo = ownPath(query.get('next'));

  async function run(login: () => Promise<unknown>) {
    await login();
    if (!state?.linkToken) return;
    const input = { link_token: state.linkToken };
    await attempt(async () => {
      await link.mutateAsync(input);
      toast(
        t(
          '계정에 연결했습니다. 다음부터 이 방법으로 로그인할 수 있습니다.',
          'Connected. From now on you can log in this way.',
        ),
      );
    });
  }

  if (status === 'signed_in') return <Navigate replace to={returnTo} />;
  if (state?.secondFactorToken) return <SecondFactor token={state.secondFactorToken} run={run} />;
  return <FirstFactor returnTo={returnTo} run={run} />;
}

function FirstFactor({ returnTo, run }: { returnTo: string; run: Run }) {
  const { state, search } = useLocation();
  const navigate = useNavigate();
  usePasskeyAutofill(run);

  async function logIn(read: (name: string) => string) {
    try {
      await run(() => dure.auth.logIn({ username: read('username').trim(), password: read('password') }));
    } catch (error) {
      if (!isApiError(error, 'logIn') || error.code !== 'second_factor_required') throw error;
      navigate({ search }, { state: { ...state, secondFactorToken: error.data.second_factor_token } });
    }
  }

  return (
    <Page title={t('로그인', 'Log in')} width="form-page">
      <div className="stack">
        {state?.linkToken && <LinkNote />}
        <Form
          submitLabel={t('로그인', 'Log in')}
          onSubmit={logIn}
          actions={
            <Link className="button plain" to="/signup">
              {t('회원가입', 'Sign up')}
            </Link>
          }
        >
          <UsernameField
            label={t('아이디 또는 이메일', 'Username or email')}
            autoComplete="username webauthn"
          />
          <PasswordField autoComplete="current-password" />
        </Form>
        <p className="row small">
          <Link className="back" to="/find-id">
            {t('아이디 찾기', 'Forgot username')}
          </Link>
          <Link className="back" to="/reset-password-request">
            {t('비밀번호 찾기', 'Forgot password')}
          </Link>
        </p>
        <p className="divider">{t('또는', 'or')}</p>
        <ProviderButtons returnTo={returnTo} />
        {supportsPasskeys() && (
          <button
            type="button"
            className="button wide provider"
            onClick={() => attempt(() => run(() => dure.passkeys.logIn()))}
          >
            <Icon name="passkey" />
            {t('패스키로 로그인', 'Log in with a passkey')}
          </button>
        )}
      </div>
    </Page>
  );
}

/** Offers passkeys in the autofill of the username, while the page is shown. */
function usePasskeyAutofill(run: Run) {
  useEffect(() => {
    const shown = new AbortController();
    const logIn = () => dure.passkeys.logIn({ conditional: true, signal: shown.signal });
    run(logIn).catch((error: unknown) => {
      // Where autofill does not work, the other ways do.
      if (isApiError(error, 'finishPasskeyLogin')) toast(error.detail);
    });
    return () => shown.abort();
  }, []);
}

function LinkNote() {
  const { search } = useLocation();
  return (
    <div className="note stack">
      <p>
        {t(
          '이 이메일로 가입한 계정이 있습니다. 그 계정으로 로그인하시면 바로 연결됩니다.',
          'An account has this email already. Log in to it, and the two will be connected.',
        )}
      </p>
      <div>
        <Link replace className="button" to={{ search }}>
          {t('연결하지 않기', 'Do not connect')}
        </Link>
      </div>
    </div>
  );
}

/** Texts, and the symbols in public/login, as the design rules of the providers want them; their reviews compare. */
const branded: Partial<Record<string, string>> = {
  kakao: t('카카오 로그인', 'Login with Kakao'),
  naver: t('네이버 로그인', 'Log in with Naver'),
  google: t('Google 계정으로 로그인', 'Sign in with Google'),
  apple: t('Apple로 로그인', 'Sign in with Apple'),
};

/** A button for each provider of the service, in its order. */
function ProviderButtons({ returnTo }: { returnTo: string }) {
  const { data } = useObject(dure.auth.listLoginProviders);
  return data?.items.map(({ id, name }) => (
    <button
      key={id}
      type="button"
      className={`button wide provider ${id}`}
      onClick={() => attempt(() => dure.auth.loginWith(id, { returnTo }))}
    >
      {branded[id] && <img src={`/login/${id}.svg`} alt="" />}
      {branded[id] ?? name}
    </button>
  ));
}

/** The second step of a login: a code of the authenticator app, or a recovery code. */
function SecondFactor({ token, run }: { token: string; run: Run }) {
  const { state, search } = useLocation();
  const [isRecovery, setRecovery] = useState(false);
  const lead = isRecovery
    ? t(
        '보관해 두신 복구 코드 하나를 입력해 주세요. 한 번 쓴 코드는 다시 쓸 수 없습니다.',
        'Enter one of the recovery codes that you saved. Each works once.',
      )
    : t(
        '인증 앱에 표시된 인증번호 6자리를 입력해 주세요.',
        'Enter the 6 digits that your authenticator app shows.',
      );
  return (
    <Page title={t('2단계 인증', 'Two-step verification')} lead={lead} width="form-page">
      <Form
        key={String(isRecovery)}
        submitLabel={t('로그인', 'Log in')}
        onSubmit={(read) => {
          const code = read('code').replace(/\s/g, '');
          return run(() => dure.auth.finishLogin({ second_factor_token: token, code }));
        }}
        actions={
          <button type="button" className="button plain" onClick={() => setRecovery(!isRecovery)}>
            {isRecovery
              ? t('인증 앱 사용', 'Use the authenticator app')
              : t('복구 코드 사용', 'Use a recovery code')}
          </button>
        }
      >
        {isRecovery ? (
          <TextField
            name="code"
            label={t('복구 코드', 'Recovery code')}
            autoComplete="off"
            autoCapitalize="none"
          />
        ) : (
          <CodeField />
        )}
      </Form>
      <p className="mt-16">
        <Link
          replace
          className="button plain"
          to={{ search }}
          state={{ ...state, secondFactorToken: undefined }}
        >
          {t('처음부터 로그인', 'Start again')}
        </Link>
      </p>
    </Page>
  );
}
