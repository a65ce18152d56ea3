import type { AuthChange, Client, SignedOutReason } from '@dure/client';
import { QueryClient, QueryClientContext, QueryClientProvider } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from 'react';
import { queryKey } from './query-key.ts';

/**
 * Who is signed in: `loading` until the client has read its tokens, and while a server renders. `reason` says why the user was signed
 * out while the page was open.
 */
export type SessionState =
  | { status: 'loading'; userId: null; reason: undefined }
  | { status: 'signed_out'; userId: null; reason: SignedOutReason | undefined }
  | { status: 'signed_in'; userId: number; reason: undefined };

interface DureContext {
  client: Client;
  session: SessionState;
}

const Context = createContext<DureContext | null>(null);
const loading: SessionState = { status: 'loading', userId: null, reason: undefined };

interface DureProviderProps {
  /** Created once, outside of components. Give the provider a `key` where the app changes to the client of another service. */
  client: Client;
  /** That of the app. Without it, that of the `QueryClientProvider` around this one, or a new one. */
  queryClient?: QueryClient;
  children: ReactNode;
}

/** Gives a client to all hooks, and keeps what they have read apart for each account. */
export function DureProvider({ client, queryClient, children }: DureProviderProps) {
  const outer = useContext(QueryClientContext);
  const [own] = useState(() => new QueryClient());
  const queries = queryClient ?? outer ?? own;
  const [session, setSession] = useState(loading);
  const context = useMemo(() => ({ client, session }), [client, session]);
  useEffect(
    () =>
      client.onAuthChange((change) => {
        const { event, userId, user } = change;
        if (event === 'user_updated') queries.setQueryData(queryKey(userId, 'getCurrentUser'), user);
        else if (event !== 'token_refreshed') setSession(sessionOf(change));
      }),
    [client, queries],
  );
  useEffect(() => {
    // What a server or a storage has provided may be that of the account that is not known yet.
    if (session === loading) return;
    // After the hooks have changed to the keys of this account.
    queries.removeQueries({ queryKey: ['dure'], predicate: (query) => query.queryKey[1] !== session.userId });
  }, [queries, session]);
  return (
    <QueryClientProvider client={queries}>
      <Context.Provider value={context}>{children}</Context.Provider>
    </QueryClientProvider>
  );
}

function sessionOf({ userId, reason }: AuthChange): SessionState {
  return userId === null
    ? { status: 'signed_out', userId, reason }
    : { status: 'signed_in', userId, reason: undefined };
}

/** @throws Error outside a {@link DureProvider} */
export function useDureContext(): DureContext {
  const value = useContext(Context);
  if (value === null) throw new Error('The hooks of @dure/react need a DureProvider');
  return value;
}

/** The client of the {@link DureProvider}. @throws Error outside of one, as all hooks do */
export function useDure(): Client {
  return useDureContext().client;
}
