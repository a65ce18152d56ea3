import { isApiError, supportsPasskeys } from '@dure/client';
import { useObject, useSession } from '@dure/react';
import { useEffect } from 'react';
import { toast } from 'react-hot-toast/headless';
import { Link, Navigate, useLocation, useNavigate } from 'react-router';
import { change } from '../account/change.tsx';
import { dure } from '../api.ts';
import { ownPath } from '../app/session.tsx';
import { t } from '../text.ts';
import { attempt, Form, Icon, Page, PasswordField, UsernameField } from '../ui/index.ts';
import { SecondFactorField, secondFactorIn } from './fields.tsx';

/** What the entry of the history keeps, also over a reload. */
export interface LogInState {
  /** Of a login whose first step is done. */
  secondFactorToken?: string | undefined;
  /** Of a login with a provider whose address an account has: connected after the login to that account. */
  linkToken?: string | undefined;
}

/** Runs a login. */
type Run = (login: () => Promise<unknown>) => Promise<void>;

function useLogInState() {
  const { state, search }: { state: LogInState | null; search: string } = useLocation();
  return { state, search };
}

/** Logs in, and goes on where the user was. */
export function LogIn() {
  const { status } = useSession();
  const { state, search } = useLogInState();
  const returnTo = ownPath(new URLSearchParams(search).get('next'));

  async function run(login: () => Promise<unknown>) {
    await login();
    const link_token = state?.linkToken;
    if (link_token) await attempt(() => change(dure.auth.addIdentity, { link_token }));
  }

  if (status === 'signed_in') return <Navigate replace to={returnTo} />;
  if (state?.secondFactorToken) return <SecondFactor token={state.secondFactorToken} run={run} />;
  return <FirstFactor returnTo={returnTo} run={run} />;
}

function FirstFactor({ returnTo, run }: { returnTo: string; run: Run }) {
  const { state, search } = useLogInState();
  const navigate = useNavigate();
  usePasskeyAutofill(run, state?.linkToken);

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
        {state?.linkToken && (
          <p className="note">
            {t(
              '이 이메일로 가입한 계정이 있습니다. 그 계정으로 로그인하시면 바로 연결됩니다.',
              'An account has this email already. Log in to it, and the two will be connected.',
            )}{' '}
            <Link replace to={{ search }}>
              {t('연결하지 않기', 'Do not connect')}
            </Link>
          </p>
        )}
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
function usePasskeyAutofill(run: Run, linkToken: string | undefined) {
  useEffect(() => {
    const shown = new AbortController();
    const logIn = () => dure.passkeys.logIn({ conditional: true, signal: shown.signal });
    run(logIn).catch((error: unknown) => {
      // Where autofill does not work, the other ways do.
      if (isApiError(error, 'finishPasskeyLogin')) toast(error.detail);
    });
    return () => shown.abort();
  }, [linkToken]);
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

function SecondFactor({ token, run }: { token: string; run: Run }) {
  const { state, search } = useLogInState();
  return (
    <Page title={t('2단계 인증', 'Two-step verification')} width="form-page">
      <Form
        submitLabel={t('로그인', 'Log in')}
        onSubmit={(read) => {
          const input = { second_factor_token: token, code: secondFactorIn(read) };
          return run(() => dure.auth.finishLogin(input));
        }}
        actions={
          <Link
            replace
            className="button plain"
            to={{ search }}
            state={{ ...state, secondFactorToken: undefined }}
          >
            {t('처음부터 로그인', 'Start again')}
          </Link>
        }
      >
        <SecondFactorField />
      </Form>
    </Page>
  );
}
