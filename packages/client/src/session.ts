import { fromBase64url } from './base64url.ts';
import { createMutex, shareBetweenTabs } from './between-tabs.ts';
import { type ApiErrorOf, isApiError } from './errors.ts';
import { createListeners } from './listeners.ts';
import type { User } from './models.ts';
import { sleep } from './retries.ts';
import type { TokenStorage, Tokens } from './tokens.ts';

/** Why a client is no longer signed in: the server's reason to reject the refresh token, or what happened here. */
export type SignedOutReason =
  | 'logged_out'
  | 'account_deleted'
  /** Another tab logged out or lost its session. */
  | 'elsewhere'
  | 'malformed'
  | 'expired'
  | 'revoked'
  | 'reused'
  | 'wrong_type';

/**
 * - `initial`: the state when the listener was added, or once it is known
 * - `signed_in`, `signed_out`: in this tab or in another one; `signed_in` also for a change to another account
 * - `token_refreshed`: there is a new access token
 * - `user_updated`: a response in this tab or another one has changed data of the user
 */
export type AuthEvent = 'initial' | 'signed_in' | 'signed_out' | 'token_refreshed' | 'user_updated';

/** What `onAuthChange` reports. */
export interface AuthChange {
  /** What has happened. */
  event: AuthEvent;
  /** The state after it. */
  signedIn: boolean;
  /** Whose account; null when signed out. */
  userId: number | null;
  /** As the service has sent it last; undefined until then. */
  user: User | undefined;
  /** Only when signed out. */
  reason?: SignedOutReason;
}

/** The response of a login or a refresh, as far as it matters here. */
export interface TokenResponse {
  access: string;
  refresh?: string;
  expires_in: number;
}

/** The tokens of a client, one refresh at a time. */
export interface Session {
  /** Resolves when the tokens were read for the first time. */
  ready: Promise<void>;
  /** What was last read or written. */
  current(): Tokens | null;
  /** The stored tokens, renewed when the access token is about to expire. */
  usable(): Promise<Tokens | null>;
  /** Other tokens than those that the server rejected; null when there are none. @throws when the refresh gets no response */
  renew(rejected: Tokens): Promise<Tokens | null>;
  start(response: TokenResponse, user: User): Promise<void>;
  /** The user as the service has sent it last. */
  user(): User | undefined;
  /** Takes the user of a response, unless it is another one. */
  takeUser(user: User): void;
  /** Forgets the tokens. @returns what they were */
  end(reason: SignedOutReason): Promise<Tokens | null>;
  onChange(listener: (change: AuthChange) => void): () => void;
  /** Runs work while no tab refreshes: of two responses that set the cookie, the last one to arrive counts. */
  betweenRefreshes<Result>(work: () => Promise<Result>): Promise<Result>;
}

/** Browsers pass a change of `localStorage` on to other tabs later than a lock. In milliseconds. */
const propagation = 100;

/** @param refresh calls `refreshToken` */
export function createSession(
  storage: TokenStorage,
  refresh: (token: string | undefined) => Promise<TokenResponse>,
): Session {
  const { name } = storage;
  const refreshing = createMutex(name && `${name}.refresh`);
  // A refresh may take seconds; a login or logout does not wait for it.
  const writing = createMutex(name && `${name}.write`);
  const changes = createListeners<AuthChange>();
  let known: Tokens | null = null;
  const kept = createKeptUser(changes.emit);
  const shareUser = shareBetweenTabs<User>(name && `${name}.user`, kept.take);
  let writes = 0;

  function notice(tokens: Tokens | null, reason: SignedOutReason = 'elsewhere'): Tokens | null {
    const before = known;
    known = tokens;
    kept.follow(before, tokens, reason);
    return tokens;
  }

  async function load(): Promise<Tokens | null> {
    const before = writes;
    const tokens = await storage.load();
    // What was read while something else was written may be neither old nor new.
    return before === writes ? notice(tokens) : load();
  }

  async function save(tokens: Tokens | null, reason?: SignedOutReason): Promise<Tokens | null> {
    await storage.save(tokens);
    writes += 1;
    return notice(tokens, reason);
  }

  /** Stores the outcome of a refresh, unless a login or logout came in between. */
  function replace(used: Tokens, next: Tokens | null, reason?: SignedOutReason): Promise<Tokens | null> {
    return writing(async () => {
      const stored = await storage.load();
      const isSame = stored?.access === used.access && stored.user_id === used.user_id;
      return isSame ? save(next, reason) : notice(stored);
    });
  }

  function renew(rejected: Tokens): Promise<Tokens | null> {
    return refreshing(async (hasWaited) => {
      let used = await load();
      if (hasWaited && used?.refresh !== undefined && used.access === rejected.access) {
        await sleep(propagation);
        used = await load();
      }
      // Another call or another tab was faster.
      if (used === null || used.access !== rejected.access) return used;
      try {
        const response = await refresh(used.refresh);
        // A page of another origin may have logged in to another account: all pages of a site share the cookie.
        const isOther = used.refresh === undefined && userIdOf(response.access) !== used.user_id;
        return await replace(used, isOther ? null : tokensOf(response, used.user_id));
      } catch (error) {
        if (!endsSession(error)) throw error;
        return replace(used, null, reasonOf(error));
      }
    });
  }

  function takeUser(user: User): void {
    if (kept.take(user)) shareUser(user);
  }

  const first = storage.load();
  const ready = first instanceof Promise ? first.then((tokens) => void notice(tokens)) : Promise.resolve();
  if (!(first instanceof Promise)) notice(first);
  // Who awaits `ready` gets the error; without that, each call reads again and fails itself.
  ready.catch(() => undefined);
  storage.subscribe?.(() => void load().catch(() => undefined));

  return {
    ready,
    current: () => known,
    renew,
    async usable() {
      const tokens = await load();
      if (tokens === null || Date.now() < tokens.renew_at) return tokens;
      return renew(tokens).catch((error: unknown) => {
        if (tokens.access === '') throw error;
        // The token may still be good: the server decides.
        return tokens;
      });
    },
    user: kept.user,
    takeUser,
    start: (response, user) =>
      writing(async () => {
        kept.expect(user);
        try {
          await save(tokensOf(response, user.id));
        } finally {
          kept.expect(undefined);
        }
        // A login to the same account.
        takeUser(user);
      }),
    end: (reason) =>
      writing(async () => {
        const tokens = await storage.load();
        await save(null, reason);
        return tokens;
      }),
    onChange: changes.add,
    betweenRefreshes: refreshing,
  };
}

/** The user that belongs to the tokens, and the events about both. */
export function createKeptUser(emit: (change: AuthChange) => void) {
  let userId: number | null = null;
  let user: User | undefined;
  let expected: User | undefined;

  return {
    user: () => user,
    /** Who is about to be signed in; undefined once that is over. */
    expect(next: User | undefined): void {
      expected = next;
    },
    follow(before: Tokens | null, tokens: Tokens | null, reason: SignedOutReason): void {
      userId = tokens?.user_id ?? null;
      if (!Object.is(userId, before?.user_id ?? null)) {
        user = expected?.id === userId ? expected : undefined;
        if (tokens) emit({ event: 'signed_in', signedIn: true, userId, user });
        else emit({ event: 'signed_out', signedIn: false, userId, user, reason });
      } else if (tokens && tokens.access !== before?.access) {
        emit({ event: 'token_refreshed', signedIn: true, userId, user });
      }
    },
    /** @returns whether it is news of the account that is signed in */
    take(next: User): boolean {
      // A tab with another version of the app may send anything.
      if (next?.id !== userId || JSON.stringify(next) === JSON.stringify(user)) return false;
      user = next;
      emit({ event: 'user_updated', signedIn: true, userId, user });
      return true;
    },
  };
}

/** Relative to now, because the clock of the device may be wrong. */
function tokensOf({ access, refresh, expires_in }: TokenResponse, user_id: number): Tokens {
  const margin = Math.min(30, expires_in / 10);
  return { access, refresh, user_id, renew_at: Date.now() + (expires_in - margin) * 1_000 };
}

/** The subject of an access token; NaN for what is no token. */
export function userIdOf(access: string): number {
  try {
    const claims = new TextDecoder().decode(fromBase64url(access.split('.')[1] ?? ''));
    return Number(JSON.parse(claims).sub);
  } catch {
    return Number.NaN;
  }
}

/** 400: what is stored is no token. */
function endsSession(error: unknown): error is ApiErrorOf<'refreshToken'> {
  return isApiError(error, 'refreshToken') && (error.status === 401 || error.status === 400);
}

function reasonOf({ code, data }: ApiErrorOf<'refreshToken'>): SignedOutReason {
  // The browser has removed the cookie.
  if (code === 'not_authenticated') return 'expired';
  return 'reason' in data ? data.reason : 'malformed';
}
