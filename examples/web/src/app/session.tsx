import { isApiError, type SignedOutReason, type Store, type User } from '@dure/client';
import { queryKey, useObject, useSession } from '@dure/react';
import { useQuery } from '@tanstack/react-query';
import { Navigate, Outlet, useLocation, useOutletContext } from 'react-router';
import { dure, type Tagged } from '../api.ts';
import { LoadError, Skeleton } from '../ui/index.ts';

interface Account {
  user: User;
  store: Tagged<Store> | null;
}

/** The account and its store, for views behind {@link SignedIn}. */
export const useAccount = () => useOutletContext<Account>();

const tag = <Data extends object>({ data, headers }: { data: Data; headers: Headers }): Tagged<Data> => ({
  ...data,
  etag: headers.get('etag') ?? undefined,
});

/** As `useObject` does, with the `ETag`. */
export function usePost(post_id: number) {
  const { userId } = useSession();
  return useQuery({
    queryKey: [...queryKey(userId, 'getPost', { post_id }), 'etag'],
    queryFn: ({ signal }) => dure.request('getPost', { post_id }, { signal }).then(tag),
    enabled: userId !== null,
    retry: false,
  });
}

/** The own store; null where the account has none, because for TanStack Query an error would be nothing to keep. */
export function useOwnStore() {
  const { userId } = useSession();
  return useQuery({
    queryKey: [...queryKey(userId, 'getOwnStore'), 'etag'],
    queryFn: ({ signal }) =>
      dure.request('getOwnStore', {}, { signal }).then(tag, (error: unknown) => {
        if (isApiError(error, 'getOwnStore') && error.code === 'store_not_found') return null;
        throw error;
      }),
    enabled: userId !== null,
    retry: false,
  });
}

/** Routes that need a login: without one, the login page comes first and leads back. */
export function SignedIn() {
  const { status, reason } = useSession();
  const user = useObject(dure.auth.getCurrentUser);
  const store = useOwnStore();
  const { pathname, search } = useLocation();
  if (status === 'signed_out') {
    const hasLeft = reason !== undefined && !isRemote(reason);
    const next = encodeURIComponent(pathname + search);
    return <Navigate replace to={hasLeft ? '/' : `/login?next=${next}`} />;
  }
  if (user.data !== undefined && store.data !== undefined) {
    // Nothing that a page keeps is shown to another account.
    return <Outlet key={user.data.id} context={{ user: user.data, store: store.data } satisfies Account} />;
  }
  const failed = [user, store].find(({ error }) => error);
  return failed ? <LoadError {...failed} /> : <Skeleton />;
}

/** Whether the session was not ended here, so that the user does not know. */
export const isRemote = (reason: SignedOutReason) => reason !== 'logged_out' && reason !== 'account_deleted';

/** Only paths of this app, so that a link to the login page cannot lead to another site. */
export function ownPath(next: string | null | undefined): string {
  const { origin } = location;
  const url = new URL(next && URL.canParse(next, origin) ? next : '/', origin);
  // A path that begins with two slashes is another site for `location`.
  return url.origin === origin ? url.pathname.replace(/^\/+/, '/') + url.search : '/';
}
