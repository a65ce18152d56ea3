import { LoadError, Skeleton } from '../components/states.tsx';
import { useSession } from '../session.tsx';
import { FeedView } from './feed.tsx';
import { WelcomeView } from './welcome.tsx';

/** The feed, or, without a login, what the app is for. */
export function HomeView() {
  const { session, reload } = useSession();
  if (session.status === 'failed') return <LoadError error={session.error} onRetry={reload} />;
  if (session.status === 'loading') return <Skeleton />;
  return session.status === 'signedIn' ? <FeedView /> : <WelcomeView />;
}
