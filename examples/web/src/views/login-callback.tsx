import { LoginWithError, type LoginWithResult } from '@dure/client';
import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { dure } from '../api.ts';
import { ownPath, pendingLink, useArrival } from '../arrival.ts';
import { Page } from '../components/page.tsx';
import { describeError, Skeleton } from '../components/states.tsx';
import { useToasts } from '../components/toasts.tsx';
import { useSession } from '../session.tsx';
import { useLanguage } from '../texts/language.tsx';
import { LogInView } from './log-in.tsx';
import { SignUpView } from './sign-up.tsx';

/** Where a provider leads back to: finishes what was begun there, and asks for what is missing. */
export function LoginCallbackView() {
  const { t } = useLanguage();
  const { route } = useLocation();
  const { show } = useToasts();
  const arrive = useArrival();
  const [result, setResult] = useState<LoginWithResult>();
  const [error, setError] = useState<unknown>();

  function proceed(finished: LoginWithResult) {
    const next = ownPath(finished.returnTo);
    switch (finished.status) {
      case 'logged_in':
        return void arrive(next);
      case 'linked':
        show(t.identities.connected);
        return route(next, true);
      case 'confirmed':
        show(t.confirmation.done);
        return route(next, true);
      case 'link_required':
        pendingLink.keep(finished.token);
        return route(`/login?next=${encodeURIComponent(next)}`, true);
      default:
        setResult(finished);
    }
  }

  useEffect(() => {
    dure.auth.finishLoginWith().then(proceed, setError);
  }, []);

  if (result?.status === 'sign_up_required') return <SignUpView provider={result} />;
  if (result?.status === 'second_factor_required') {
    return <LogInView secondFactorToken={result.token} next={result.returnTo} />;
  }
  if (error !== undefined) return <Stopped error={error} />;
  return (
    <Page title={t.loginCallback.title} width="form-page">
      <Skeleton count={1} />
    </Page>
  );
}

/** The user has declined, or the login did not work. */
function Stopped({ error }: { error: unknown }) {
  const { t } = useLanguage();
  const { session } = useSession();
  const isSignedIn = session.status === 'signedIn';
  return (
    <Page title={t.loginCallback.stopped} width="form-page">
      <div class="stack">
        <p class="note warn" role="alert">
          {error instanceof LoginWithError ? t.loginCallback[error.code] : describeError(error, t)}
        </p>
        <div>
          <a class="button primary" href={isSignedIn ? '/account/login-methods' : '/login'}>
            {isSignedIn ? t.loginCallback.toLoginMethods : t.loginCallback.toLogin}
          </a>
        </div>
      </div>
    </Page>
  );
}
