import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { LoadError, Skeleton } from './components/states.tsx';
import { useSession } from './session.tsx';

/** Wraps a view that needs a login: without one, the login page comes first and leads back to it. */
export function signedIn(View: ComponentType): ComponentType {
  return function SignedIn() {
    const { session, reload } = useSession();
    const { url, route } = useLocation();
    useEffect(() => {
      if (session.status !== 'signedOut') return;
      route(session.why === 'left' ? '/' : `/login?next=${encodeURIComponent(url)}`, true);
    }, [session]);
    if (session.status === 'failed') return <LoadError error={session.error} onRetry={reload} />;
    if (session.status !== 'signedIn') return <Skeleton />;
    return <View />;
  };
}
