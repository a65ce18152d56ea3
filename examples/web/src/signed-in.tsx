import type { ComponentType } from 'preact';
import { useLocation } from 'preact-iso';
import { useEffect } from 'preact/hooks';
import { LoadError, Skeleton } from './components/states.tsx';
import { useSession } from './session.tsx';

/** Wraps a view that needs a login: without one, the login page comes first and leads back to it. */
export function signedIn(View: ComponentType): ComponentType {
  return function SignedIn() {
    const { session, reload } = useSession();
    const { url, route } = useLocation();
    const isSignedOut = session.status === 'signedOut';
    useEffect(() => {
      if (isSignedOut) route(`/login?next=${encodeURIComponent(url)}`, true);
    }, [isSignedOut]);
    if (session.status === 'failed') return <LoadError error={session.error} onRetry={reload} />;
    if (session.status !== 'signedIn') return <Skeleton />;
    return <View />;
  };
}
