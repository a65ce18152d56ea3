import type { Output } from '@dure/client';
import { type SessionState, useDureContext } from './provider.tsx';
import { useObject } from './queries.ts';

/** Who is signed in. `user` is read from the service, and undefined until then. */
export function useSession(): SessionState & { user: Output<'getCurrentUser'> | undefined } {
  const { client, session } = useDureContext();
  const { data: user } = useObject(client.auth.getCurrentUser);
  return { ...session, user };
}
