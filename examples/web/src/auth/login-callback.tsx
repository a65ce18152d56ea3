import { LoginWithError } from '@dure/client';
import { useSession } from '@dure/react';
import { useQuery } from '@tanstack/react-query';
import { toast } from 'react-hot-toast/headless';
import { Link, Navigate, type NavigateProps } from 'react-router';
import { dure } from '../api.ts';
import { ownPath } from '../app/session.tsx';
import { t } from '../text.ts';
import { describeError, Page, Skeleton } from '../ui/index.ts';
import type { LogInState } from './log-in.tsx';
import type { SignUpState } from './sign-up.tsx';

/** Where a provider leads back to: finishes what was begun there, and goes on where something is missing. */
export function LoginCallback() {
  // A query, because it runs once, also when React mounts the page twice.
  const { data, error } = useQuery({
    queryKey: ['login-callback'],
    queryFn: finish,
    gcTime: 0,
    retry: false,
    refetchOnWindowFocus: false,
    networkMode: 'always',
  });
  if (data) return <Navigate replace {...data} />;
  if (error) return <Stopped error={error} />;
  return (
    <Page title={t('로그인하는 중입니다', 'Logging you in')} width="form-page">
      <Skeleton />
    </Page>
  );
}

async function finish(): Promise<NavigateProps> {
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

/** The user has declined, or the login did not work. */
function Stopped({ error }: { error: Error }) {
  const { status } = useSession();
  const hasDeclined = error instanceof LoginWithError && error.code === 'declined';
  const [to, label] =
    status === 'signed_in'
      ? ['/account/login-methods', t('로그인 방법으로', 'Back to the ways to log in')]
      : ['/login', t('로그인 화면으로', 'Back to the login')];
  return (
    <Page title={t('완료하지 못했습니다', 'This did not work')} width="form-page">
      <div className="stack">
        <p className="note warn" role="alert">
          {hasDeclined ? t('요청을 취소하셨습니다.', 'You have cancelled it.') : describeError(error)}
        </p>
        <div>
          <Link className="button primary" to={to}>
            {label}
          </Link>
        </div>
      </div>
    </Page>
  );
}
