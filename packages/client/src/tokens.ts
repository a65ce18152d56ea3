/** What a client keeps of a login. */
export interface Tokens {
  access: string;
  refresh: string;
  /** From when the access token is renewed before it is used: shortly before it expires, by the clock of this device. */
  renew_at: number;
  /** Whose tokens they are. */
  user_id: number;
}

/** Where a client keeps its tokens. */
export interface TokenStorage {
  load(): Tokens | null | Promise<Tokens | null>;
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
  const store = usableStorage(key);
  if (store === undefined) return memoryStorage();
  return {
    name: key,
    load: () => parseTokens(store.getItem(key)),
    save(tokens) {
      if (tokens) store.setItem(key, JSON.stringify(tokens));
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
