import { isApiError } from '@dure/client';
import { type ComponentChildren, createContext } from 'preact';
import { useCallback, useContext, useEffect, useMemo, useState } from 'preact/hooks';
import { dure, type Store, type User } from './api.ts';

type SessionState =
  | { status: 'loading' }
  /** The account could not be read, for example without a network. */
  | { status: 'failed'; error: unknown }
  /** `left`: by logging out or deleting the account here. `ended`: in another tab or by another device. */
  | { status: 'signedOut'; why?: 'left' | 'ended' }
  | { status: 'signedIn'; user: User; store: Store | null };

interface SessionContext {
  session: SessionState;
  /** Reads the account and the store again. */
  reload(): Promise<void>;
  setUser(user: User): void;
  setStore(store: Store): void;
}

const Context = createContext<SessionContext | null>(null);

/** Knows who is signed in, and the store of that account. */
export function SessionProvider({ children }: { children: ComponentChildren }) {
  const [session, setSession] = useState<SessionState>(initialState);

  const reload = useCallback(async () => {
    try {
      const [user, store] = await Promise.all([dure.auth.getCurrentUser(), readOwnStore()]);
      setSession({ status: 'signedIn', user, store });
    } catch (error) {
      // The client has reported an end of the session already.
      if (dure.isSignedIn()) setSession({ status: 'failed', error });
    }
  }, []);

  useEffect(() => {
    if (dure.isSignedIn()) void reload();
    return dure.onAuthChange(({ signedIn, reason }) => {
      if (signedIn) {
        setSession({ status: 'loading' });
        void reload();
      } else {
        const isOwn = reason === 'logged_out' || reason === 'account_deleted';
        setSession({ status: 'signedOut', why: isOwn ? 'left' : 'ended' });
        // Push messages are for the account that is signed in.
        dure.push.unsubscribe().catch(() => undefined);
      }
    });
  }, [reload]);

  const value = useMemo<SessionContext>(() => {
    const change = (part: { user: User } | { store: Store }) =>
      setSession((current) => (current.status === 'signedIn' ? { ...current, ...part } : current));
    return { session, reload, setUser: (user) => change({ user }), setStore: (store) => change({ store }) };
  }, [session, reload]);
  return <Context.Provider value={value}>{children}</Context.Provider>;
}

function initialState(): SessionState {
  return dure.isSignedIn() ? { status: 'loading' } : { status: 'signedOut' };
}

async function readOwnStore(): Promise<Store | null> {
  try {
    return await dure.stores.getOwn();
  } catch (error) {
    if (isApiError(error, 'getOwnStore') && error.code === 'store_not_found') return null;
    throw error;
  }
}

/** The session, whatever its state. */
export function useSession(): SessionContext {
  const value = useContext(Context);
  if (value === null) throw new Error('useSession needs a SessionProvider');
  return value;
}

/** The account and its store, in views that only signed-in users see. */
export function useAccount(): { user: User; store: Store | null } {
  const { session } = useSession();
  if (session.status !== 'signedIn') throw new Error('useAccount is for views that need a login');
  return session;
}
