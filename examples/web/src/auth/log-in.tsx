import { isApiError, LoginWithError, supportsPasskeys } from '@dure/client';
import { useSession } from '@dure/react';
import { useQuery } from '@tanstack/react-query';
import { KeyRound } from 'lucide-react';
import { useEffect } from 'react';
import { toast } from 'react-hot-toast/headless';
import { Link, Navigate, type NavigateProps, useLocation, useNavigate } from 'react-router';
import { dure } from '../api.ts';
import { change } from '../app/change.ts';
import { ownPath } from '../app/session.tsx';
import { m } from '../paraglide/messages.js';
import { PasswordField, UsernameField } from '../ui/fields.tsx';
import { attempt, Button, ButtonLink, describeError, Form, Page, Skeleton, showError } from '../ui/index.ts';
import { SecondFactorField, secondFactorIn } from './fields.tsx';
import { ProviderButtons } from './provider-buttons.tsx';

/** What the entry of the history keeps, also over a reload. */
interface LogInState {
  secondFactorToken?: string | undefined;
  /** Of a login with a provider whose address an account has: connected after the login to that account. */
  linkToken?: string | undefined;
  /** What was entered, of a login that took too long. */
  username?: string;
  /** For the page that the login leads back to. */
  back?: unknown;
}

/** The host writes the title of a post that is shared into the page. */
const title = document.querySelector<HTMLMetaElement>('meta[name="shared-post"]')?.content;

function useLogIn() {
  const { state, search }: { state: LogInState | null; search: string } = useLocation();

  async function run(login: () => Promise<unknown>) {
    await login();
    const link_token = state?.linkToken;
    if (link_token) await attempt(() => change(dure.auth.addIdentity, { link_token }));
  }

  return { state, search, run, returnTo: ownPath(new URLSearchParams(search).get('next')) };
}

export function LogIn() {
  const { status } = useSession();
  const { state, returnTo } = useLogIn();
  if (status === 'signed_in') return <Navigate replace to={returnTo} state={state?.back} />;
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
      const next: LogInState = { ...state, username, secondFactorToken: error.data.second_factor_token };
      navigate({ search }, { state: next });
    }
  }

  const shared = title ? m.a_shop_shares_this_post({ title }) : m.a_shop_shares_a_post();
  return (
    <Page title={m.log_in()} width="form-page">
      {state?.linkToken && (
        <p className="note">
          {m.an_account_has_this_email()}{' '}
          <Link replace to={{ search }}>
            {m.do_not_connect()}
          </Link>
        </p>
      )}
      {state?.username && <p className="note warn">{m.your_login_took_too_long()}</p>}
      {!state?.linkToken && /^\/posts\/\d+(\?|$)/.test(returnTo) && <p className="note">{shared}</p>}
      <Form
        values={{ username: state?.username ?? '', password: '' }}
        submitLabel={m.log_in()}
        onSubmit={logIn}
        actions={<ButtonLink look="plain" to="/signup" label={m.sign_up()} />}>
        <UsernameField label={m.username_or_email()} autoComplete="username webauthn" />
        <PasswordField autoComplete="current-password" />
      </Form>
      <p className="row small">
        <Link className="back" to="/find-id">
          {m.forgot_username()}
        </Link>
        <Link className="back" to="/reset-password-request">
          {m.forgot_password()}
        </Link>
      </p>
      <ProviderButtons returnTo={returnTo} />
      {supportsPasskeys() && (
        <Button
          look="wide provider"
          icon={<KeyRound />}
          label={m.log_in_with_a_passkey()}
          onClick={() => run(dure.passkeys.logIn)}
        />
      )}
    </Page>
  );
}

function SecondFactor({ token }: { token: string }) {
  const { state, search, run } = useLogIn();
  const navigate = useNavigate();
  const { username, ...again } = { ...state, secondFactorToken: undefined };

  async function finish({ code }: { code: string }) {
    const input = { second_factor_token: token, code: secondFactorIn(code) };
    try {
      await run(() => dure.auth.finishLogin(input));
    } catch (error) {
      const isOver = isApiError(error, 'finishLogin') && error.code === 'second_factor_token_invalid';
      if (!isOver || username === undefined) throw error;
      navigate({ search }, { replace: true, state: { ...again, username } });
    }
  }

  return (
    <Page title={m.two_step_verification()} width="form-page">
      <Form
        values={{ code: '' }}
        submitLabel={m.log_in()}
        onSubmit={finish}
        actions={<ButtonLink replace look="plain" to={{ search }} state={again} label={m.start_again()} />}>
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
      <Page title={m.logging_you_in()} width="form-page">
        <Skeleton />
      </Page>
    );
  }
  const [to, label] =
    status === 'signed_in'
      ? ['/account/login-methods', m.back_to_the_ways_to()]
      : ['/login', m.back_to_the_login()];
  const hasDeclined = error instanceof LoginWithError && error.code === 'declined';
  return (
    <Page title={m.this_did_not_work()} width="form-page">
      <p className="note warn" role="alert">
        {hasDeclined ? m.you_have_cancelled_it() : describeError(error)}
      </p>
      <ButtonLink look="primary" to={to} label={label} />
    </Page>
  );
}

async function finishLoginWith(): Promise<NavigateProps> {
  const result = await dure.auth.finishLoginWith();
  const next = ownPath(result.returnTo);
  const logIn = (state: LogInState) => ({ to: `/login?next=${encodeURIComponent(next)}`, state });
  if (result.status === 'sign_up_required') return { to: '/signup', state: { provider: result } };
  if (result.status === 'second_factor_required') return logIn({ secondFactorToken: result.token });
  if (result.status === 'link_required') return logIn({ linkToken: result.token });
  if (result.status === 'linked') toast(m.connected());
  if (result.status === 'confirmed') toast(m.thank_you_please_choose_again());
  return { to: next };
}
