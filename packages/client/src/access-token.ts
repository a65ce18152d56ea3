import { createListeners } from './listeners.ts';
import { type AuthChange, createKeptUser, type Session, userIdOf } from './session.ts';
import type { Tokens } from './tokens.ts';

/** Gives the access token for a call, or null where the user is not signed in. */
export type AccessTokenSource = () => string | null | undefined | Promise<string | null | undefined>;

/** A session whose access tokens the app provides, such as a server for the user of a request. Nothing is stored or refreshed. */
export function createProvidedSession(accessToken: AccessTokenSource): Session {
  const changes = createListeners<AuthChange>();
  const kept = createKeptUser(changes.emit);
  let known: Tokens | null = null;

  async function usable(): Promise<Tokens | null> {
    const before = known;
    const access = await accessToken();
    known = access ? { access, renew_at: Number.POSITIVE_INFINITY, user_id: userIdOf(access) } : null;
    kept.follow(before, known, 'elsewhere');
    return known;
  }

  const ready = usable().then(() => undefined);
  ready.catch(() => undefined);
  return {
    ready,
    current: () => known,
    usable,
    async renew(rejected) {
      const tokens = await usable();
      return tokens?.access === rejected.access ? null : tokens;
    },
    user: kept.user,
    takeUser: kept.take,
    start: () => Promise.resolve(),
    end: usable,
    onChange: changes.add,
    betweenRefreshes: (work) => work(),
  };
}
