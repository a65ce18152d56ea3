/** What a client keeps of a login. */
export interface Tokens {
  /** Empty where the refresh token of the cookie has to give one first. */
  access: string;
  /** Missing where the browser keeps it in a cookie. */
  refresh?: string | undefined;
  /** From when the access token is renewed before it is used: shortly before it expires, by the clock of this device. */
  renew_at: number;
  /** Whose tokens they are. */
  user_id: number;
}

/** Where a client keeps its tokens. */
export interface TokenStorage {
  /** What was saved last; null where there is nothing. */
  load(): Tokens | null | Promise<Tokens | null>;
  /** Keeps the tokens; null removes them. */
  save(tokens: Tokens | null): void | Promise<void>;
  /** Names what is stored, for tabs that share it: they refresh once, and have one stream together. */
  name?: string;
  /** Calls the listener when another tab has changed what is stored. @returns ends that */
  subscribe?(listener: () => void): () => void;
}

/** Keeps tokens until the page or the process ends. */
export function memoryStorage(initial: Tokens | null = null): TokenStorage {
  let kept = initial;
  return {
    load: () => kept,
    save(tokens) {
      kept = tokens;
    },
  };
}

/** Keeps tokens in `localStorage`, for all tabs; in memory where the browser allows no storage. */
export function browserStorage({ key = 'dure' }: { key?: string } = {}): TokenStorage {
  return localStore(key, { read: parseTokens, write: (tokens) => tokens && JSON.stringify(tokens) });
}

/**
 * Keeps the access token of this tab in memory. The refresh token is in a cookie that no script can read; `localStorage` has
 * only whose it is, for all tabs.
 */
export function cookieStorage(): TokenStorage {
  let kept: Tokens | null = null;
  return localStore('dure', {
    read(text) {
      // Tokens that `browserStorage` kept before are no id.
      const user_id = Number(text) || 0;
      if (kept?.user_id !== user_id) kept = user_id > 0 ? { access: '', renew_at: 0, user_id } : null;
      return kept;
    },
    write(tokens) {
      kept = tokens;
      return tokens && String(tokens.user_id);
    },
  });
}

interface TextFormat {
  read(text: string | null): Tokens | null;
  /** @returns what to store; null for nothing */
  write(tokens: Tokens | null): string | null;
}

function localStore(key: string, { read, write }: TextFormat): TokenStorage {
  if (typeof document === 'undefined') {
    throw new TypeError(
      'browserStorage and `tokens: "cookie"` need a browser. A server creates a client for each request, with `accessToken` or a `storage`',
    );
  }
  const store = usableStorage(key);
  if (store === undefined) return memoryStorage();
  // What an earlier version stored, or another program, may be a token that is not to stay.
  if (read(store.getItem(key)) === null) store.removeItem(key);
  return {
    name: key,
    load: () => read(store.getItem(key)),
    save(tokens) {
      const text = write(tokens);
      if (text !== null) store.setItem(key, text);
      else store.removeItem(key);
    },
    subscribe(listener) {
      const onStorage = (event: StorageEvent) => {
        // A key of null: everything was removed.
        if (event.storageArea === store && (event.key === key || event.key === null)) listener();
      };
      addEventListener('storage', onStorage);
      return () => removeEventListener('storage', onStorage);
    },
  };
}

/** Private modes and blocked cookies make each access throw. */
function usableStorage(key: string): Storage | undefined {
  try {
    const store = globalThis.localStorage;
    const probe = `${key}.probe`;
    store.setItem(probe, '1');
    store.removeItem(probe);
    return store;
  } catch {
    return undefined;
  }
}

/** What an earlier version stored, or another program, counts as nothing. */
function parseTokens(text: string | null): Tokens | null {
  if (text === null) return null;
  try {
    const value: Partial<Tokens> | null = JSON.parse(text);
    const { access, refresh, renew_at, user_id } = value ?? {};
    if (typeof access !== 'string' || typeof refresh !== 'string') return null;
    if (typeof renew_at !== 'number' || typeof user_id !== 'number') return null;
    return { access, refresh, renew_at, user_id };
  } catch {
    return null;
  }
}
