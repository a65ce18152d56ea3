import { isApiError, type SignedOutReason } from '@dure/client';
import { queryKey, useObject, useSession } from '@dure/react';
import { useQuery } from '@tanstack/react-query';
import { Navigate, Outlet, useLocation } from 'react-router';
import { dure, type Store, type User } from '../api.ts';
import { LoadError, Skeleton } from '../ui/index.ts';

/** The account and its store, for views behind {@link SignedIn}. */
export function useAccount(): { user: User; store: Store | null } {
  const { user, store } = useOwn();
  if (user === undefined || store === undefined) throw new Error('useAccount is for views behind SignedIn');
  return { user, store };
}

/** Both are undefined until they are read. */
function useOwn() {
  const user = useObject(dure.auth.getCurrentUser);
  const store = useOwnStore();
  const failed = [user, store].find(({ data, error }) => error && data === undefined);
  return { user: user.data, store: store.data, failed };
}

/** The own store; null where the account has none, because for TanStack Query an error would be nothing to keep. */
export function useOwnStore() {
  const { userId } = useSession();
  return useQuery({
    queryKey: queryKey(userId, 'getOwnStore', {}),
    queryFn: ({ signal }) => dure.stores.getOwn({}, { signal }).catch(nullIfNone),
    enabled: userId !== null,
    retry: false,
  });
}

function nullIfNone(error: unknown): null {
  if (isApiError(error, 'getOwnStore') && error.code === 'store_not_found') return null;
  throw error;
}

/** Routes that need a login: without one, the login page comes first and leads back. */
export function SignedIn() {
  const { status, reason } = useSession();
  const { user, store, failed } = useOwn();
  const { pathname, search } = useLocation();
  if (status === 'signed_out') {
    const hasLeft = reason !== undefined && !isRemote(reason);
    const next = encodeURIComponent(pathname + search);
    return <Navigate replace to={hasLeft ? '/' : `/login?next=${next}`} />;
  }
  if (failed) return <LoadError {...failed} />;
  return user === undefined || store === undefined ? <Skeleton /> : <Outlet />;
}

/** Whether the session was not ended here, so that the user does not know. */
export function isRemote(reason: SignedOutReason): boolean {
  return reason !== 'logged_out' && reason !== 'account_deleted';
}

/** Only paths of this app, so that a link to the login page cannot lead to another site. */
export function ownPath(next: string | null | undefined): string {
  const { origin } = location;
  const url = new URL(next && URL.canParse(next, origin) ? next : '/', origin);
  // A path that begins with two slashes is another site for `location`.
  return url.origin === origin ? url.pathname.replace(/^\/+/, '/') + url.search : '/';
}
