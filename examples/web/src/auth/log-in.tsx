import { isApiError, LoginWithError, supportsPasskeys } from '@dure/client';
import { useSession } from '@dure/react';
import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { toast } from 'react-hot-toast/headless';
import { Link, Navigate, type NavigateProps, useLocation, useNavigate } from 'react-router';
import { dure } from '../api.ts';
import { change } from '../app/change.ts';
import { ownPath } from '../app/session.tsx';
import { t } from '../text.ts';
import {
  attempt,
  Button,
  ButtonLink,
  describeError,
  Form,
  Icon,
  Page,
  PasswordField,
  Skeleton,
  showError,
  UsernameField,
} from '../ui/index.ts';
import { SecondFactorField, secondFactorIn } from './fields.tsx';
import { ProviderButtons } from './provider-buttons.tsx';
import type { SignUpState } from './sign-up.tsx';

/** What the entry of the history keeps, also over a reload. */
interface LogInState {
  /** Of a login whose first step is done. */
  secondFactorToken?: string | undefined;
  /** Of a login with a provider whose address an account has: connected after the login to that account. */
  linkToken?: string | undefined;
}

function useLogIn() {
  const { state, search }: { state: LogInState | null; search: string } = useLocation();

  async function run(login: () => Promise<unknown>) {
    await login();
    const link_token = state?.linkToken;
    if (link_token) await attempt(() => change(dure.auth.addIdentity, { link_token }));
  }

  return { state, search, run, returnTo: ownPath(new URLSearchParams(search).get('next')) };
}

/** Logs in, and goes on where the user was. */
export function LogIn() {
  const { status } = useSession();
  const { state, returnTo } = useLogIn();
  if (status === 'signed_in') return <Navigate replace to={returnTo} />;
  return state?.secondFactorToken ? <SecondFactor token={state.secondFactorToken} /> : <FirstFactor />;
}

function FirstFactor() {
  const { state, search, run, returnTo } = useLogIn();
  const navigate = useNavigate();
  useEffect(() => {
    // Offers passkeys in the autofill of the username, while the page is shown.
    const shown = new AbortController();
    run(() => dure.passkeys.logIn({ conditional: true, signal: shown.signal })).catch((error: unknown) => {
      // Where autofill does not work, the other ways do.
      if (isApiError(error, 'finishPasskeyLogin')) showError(error);
    });
    return () => shown.abort();
  }, [state?.linkToken]);

  async function logIn({ username, password }: { username: string; password: string }) {
    try {
      await run(() => dure.auth.logIn({ username: username.trim(), password }));
    } catch (error) {
      if (!isApiError(error, 'logIn') || error.code !== 'second_factor_required') throw error;
      navigate({ search }, { state: { ...state, secondFactorToken: error.data.second_factor_token } });
    }
  }

  return (
    <Page title={t('로그인', 'Log in')} width="form-page">
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
      {!state?.linkToken && returnTo.startsWith('/posts/') && (
        <p className="note">
          {t(
            '이웃 가게의 제휴 글입니다. 로그인하시면 바로 보실 수 있습니다.',
            'A shop shares a post with you. Log in to read it.',
          )}
        </p>
      )}
      <Form
        values={{ username: '', password: '' }}
        submitLabel={t('로그인', 'Log in')}
        pendingLabel={t('로그인하는 중…', 'Logging in…')}
        onSubmit={logIn}
        actions={<ButtonLink look="plain" to="/signup" label={t('회원가입', 'Sign up')} />}
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
      <ProviderButtons returnTo={returnTo} />
      {supportsPasskeys() && (
        <Button
          look="wide provider"
          icon={<Icon name="passkey" />}
          label={t('패스키로 로그인', 'Log in with a passkey')}
          onClick={() => run(() => dure.passkeys.logIn())}
        />
      )}
    </Page>
  );
}

function SecondFactor({ token }: { token: string }) {
  const { state, search, run } = useLogIn();
  const again = { ...state, secondFactorToken: undefined };

  function finish({ code }: { code: string }) {
    const input = { second_factor_token: token, code: secondFactorIn(code) };
    return run(() => dure.auth.finishLogin(input));
  }

  return (
    <Page title={t('2단계 인증', 'Two-step verification')} width="form-page">
      <Form
        values={{ code: '' }}
        submitLabel={t('로그인', 'Log in')}
        pendingLabel={t('로그인하는 중…', 'Logging in…')}
        onSubmit={finish}
        actions={
          <ButtonLink
            replace
            look="plain"
            to={{ search }}
            state={again}
            label={t('처음부터 로그인', 'Start again')}
          />
        }
      >
        <SecondFactorField />
      </Form>
    </Page>
  );
}

/** Where a provider leads back to: finishes what was begun there, and goes on where something is missing. */
export function LoginCallback() {
  const { status } = useSession();
  // A query, because it runs once, also when React mounts the page twice.
  const { data, error } = useQuery({
    queryKey: ['login-callback'],
    queryFn: finishLoginWith,
    gcTime: 0,
    retry: false,
    refetchOnWindowFocus: false,
    networkMode: 'always',
  });
  if (data) return <Navigate replace {...data} />;
  if (!error) {
    return (
      <Page title={t('로그인하는 중입니다', 'Logging you in')} width="form-page">
        <Skeleton />
      </Page>
    );
  }
  const [to, label] =
    status === 'signed_in'
      ? ['/account/login-methods', t('로그인 방법으로', 'Back to the ways to log in')]
      : ['/login', t('로그인 화면으로', 'Back to the login')];
  const hasDeclined = error instanceof LoginWithError && error.code === 'declined';
  return (
    <Page title={t('완료하지 못했습니다', 'This did not work')} width="form-page">
      <p className="note warn" role="alert">
        {hasDeclined ? t('요청을 취소하셨습니다.', 'You have cancelled it.') : describeError(error)}
      </p>
      <div>
        <ButtonLink look="primary" to={to} label={label} />
      </div>
    </Page>
  );
}

async function finishLoginWith(): Promise<NavigateProps> {
  const result = await dure.auth.finishLoginWith();
  const next = ownPath(result.returnTo);
  const logIn = (state: LogInState) => ({ to: `/login?next=${encodeURIComponent(next)}`, state });
  switch (result.status) {
    case 'sign_up_required':
      return { to: '/signup', state: { provider: result } satisfies SignUpState };
    case 'second_factor_required':
      return logIn({ secondFactorToken: result.token });
    case 'link_required':
      return logIn({ linkToken: result.token });
    case 'linked':
      toast(t('연결했습니다.', 'Connected.'));
      break;
    case 'confirmed':
      toast(
        t(
          '본인 확인이 완료되었습니다. 하시던 작업을 다시 눌러 주세요.',
          'Thank you. Please choose again what you wanted to do.',
        ),
      );
      break;
  }
  return { to: next };
}
