import { isApiError } from '@dure/client';
import { type ComponentChildren, createContext } from 'preact';
import { useCallback, useContext, useEffect, useMemo, useState } from 'preact/hooks';
import { dure, onSignedOut, type Store, type User } from './api.ts';

type SessionState =
  | { status: 'loading' }
  /** The account could not be read, for example without a network. */
  | { status: 'failed'; error: unknown }
  /** `ended`: the session was ended elsewhere, which the login page explains. */
  | { status: 'signedOut'; ended: boolean }
  | { status: 'signedIn'; user: User; store: Store | null };

interface SessionContext {
  session: SessionState;
  logIn(username: string, password: string): Promise<void>;
  /** Reads the account and the store again. */
  reload(): Promise<void>;
  setUser(user: User): void;
  setStore(store: Store): void;
  /** Forgets the account, after a logout or its deletion. */
  forget(): void;
}

const Context = createContext<SessionContext | null>(null);

/** Knows who is signed in, and the store of that account. */
export function SessionProvider({ children }: { children: ComponentChildren }) {
  const [session, setSession] = useState<SessionState>({ status: 'loading' });

  const reload = useCallback(async () => {
    try {
      if (!(await dure.isSignedIn())) {
        setSession((current) => ({ status: 'signedOut', ended: current.status === 'signedOut' && current.ended }));
        return;
      }
      const [user, store] = await Promise.all([dure.getCurrentUser(), readOwnStore()]);
      setSession({ status: 'signedIn', user, store });
    } catch (error) {
      const isSignedOut = isApiError(error) && error.status === 401;
      setSession((current) => {
        if (isSignedOut) return { status: 'signedOut', ended: true };
        return current.status === 'signedIn' ? current : { status: 'failed', error };
      });
    }
  }, []);

  useEffect(() => {
    void reload();
    return onSignedOut(() => setSession({ status: 'signedOut', ended: true }));
  }, [reload]);

  const value = useMemo<SessionContext>(
    () => ({
      session,
      reload,
      async logIn(username, password) {
        const { user } = await dure.logIn({ username, password });
        setSession({ status: 'signedIn', user, store: await readOwnStore() });
      },
      setUser: (user) => setSession((current) => (current.status === 'signedIn' ? { ...current, user } : current)),
      setStore: (store) => setSession((current) => (current.status === 'signedIn' ? { ...current, store } : current)),
      forget: () => setSession({ status: 'signedOut', ended: false }),
    }),
    [session, reload],
  );
  return <Context.Provider value={value}>{children}</Context.Provider>;
}

async function readOwnStore(): Promise<Store | null> {
  try {
    return await dure.getOwnStore();
  } catch (error) {
    if (isApiError(error) && error.code === 'store_not_found') return null;
    throw error;
  }
}

/** The session, whatever its state. */
export function useSession(): SessionContext {
  const value = useContext(Context);
  if (value === null) throw new Error('useSession needs a SessionProvider');
  return value;
}

/** The account and its store, in views that only who is signed in can see. */
export function useAccount(): { user: User; store: Store | null } {
  const { session } = useSession();
  if (session.status !== 'signedIn') throw new Error('useAccount is for views that need a login');
  return session;
}
