import type { AuthChange, Client, SignedOutReason } from '@dure/client';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext, useEffect, useState } from 'react';

/** Who is signed in. */
export interface SessionState {
  /** `loading` until the client has read its tokens, and while a server renders. */
  status: 'loading' | 'signed_out' | 'signed_in';
  userId: number | null;
  /** Why the user was signed out while the page was open. */
  reason: SignedOutReason | undefined;
}

interface DureContext {
  client: Client;
  session: SessionState;
}

const Context = createContext<DureContext | null>(null);

interface DureProviderProps {
  client: Client;
  /** That of the app, where it has one. */
  queryClient?: QueryClient;
  children: ReactNode;
}

/** Gives a client to all hooks, and keeps what they have read apart for each account. */
export function DureProvider({ client, queryClient, children }: DureProviderProps) {
  const [own] = useState(() => queryClient ?? new QueryClient());
  const queries = queryClient ?? own;
  const [session, setSession] = useState<SessionState>({
    status: 'loading',
    userId: null,
    reason: undefined,
  });
  useEffect(() => client.onAuthChange((change) => setSession(sessionOf(change))), [client]);
  useEffect(() => {
    // After the hooks have changed to the keys of this account.
    queries.removeQueries({
      queryKey: ['dure'],
      predicate: ({ queryKey }) => queryKey[1] !== session.userId,
    });
  }, [queries, session.userId]);
  return (
    <QueryClientProvider client={queries}>
      <Context.Provider value={{ client, session }}>{children}</Context.Provider>
    </QueryClientProvider>
  );
}

function sessionOf({ signedIn, userId, reason }: AuthChange): SessionState {
  return { status: signedIn ? 'signed_in' : 'signed_out', userId, reason };
}

/** @throws Error outside a {@link DureProvider} */
export function useDureContext(): DureContext {
  const value = useContext(Context);
  if (value === null) throw new Error('The hooks of @dure/react need a DureProvider');
  return value;
}

/** The client of the {@link DureProvider}. */
export function useDure(): Client {
  return useDureContext().client;
}
