import type { AccessTokenSource } from './access-token.ts';
import { type CallContext, type Caller, createCaller } from './caller.ts';
import type { User } from './models.ts';
import type { ClientHooks } from './observer.ts';
import type { AuthChange, SignedOutReason } from './session.ts';
import { cookieStorage, type TokenStorage } from './tokens.ts';
import type { Language, Method, Operation, OperationId } from './types.ts';

/** The options of `createBaseClient`, and of `createClient`. */
export interface BaseClientOptions extends ClientHooks {
  /** Origin of the service, such as `https://api.example.com`, with a path where a proxy adds one. */
  baseUrl: string;
  /** Where tokens are kept; in memory without it. */
  storage?: TokenStorage;
  /** `cookie`, for browsers: the refresh token is in a cookie that no script can read, and nothing goes to `storage`. */
  tokens?: 'cookie' | undefined;
  /** For servers and bots, in place of a storage: gives the access token of each call. The client neither stores nor refreshes it. */
  accessToken?: AccessTokenSource;
  /** Of the server's texts. Without it, that of the browser; Korean in Node.js, which names none. */
  language?: Language;
  /** Sent with all calls. An `authorization` replaces that of the client. */
  headers?: Record<string, string> | Headers;
  /** Called once whenever this tab is no longer signed in. */
  onSignedOut?: (reason: SignedOutReason) => void;
  /** In place of the global one. */
  fetch?: (url: string, init: RequestInit) => Promise<Response>;
  /** Milliseconds that one attempt may take; 15,000 without it, because the service responds within ten seconds. */
  timeout?: number;
  /** How often a call that may be repeated is repeated; twice without it. */
  retries?: number;
}

/** A client of the operations that an app names, so that a bundler leaves out all others. */
export interface BaseClient {
  /** `dure.method(listPosts)` is what {@link Client} has as `dure.posts.list`. */
  method<Id extends OperationId>(operation: Operation<Id>): Method<Id>;
  /** Whether there are tokens. With a storage that responds later, known after {@link BaseClient.ready}. */
  isSignedIn(): boolean;
  /** The `id` of the account whose tokens there are. */
  userId(): number | null;
  /** Resolves when the storage was read for the first time. */
  readonly ready: Promise<void>;
  /** Who is signed in, as far as this tab knows. */
  readonly session: {
    readonly userId: number | null;
    /** As the service has sent it last, such as with the login or by `getCurrentUser`; undefined until then. */
    readonly user: User | undefined;
  };
  /** Reports the state once it is known, then each event, in other tabs too. @returns ends that */
  onAuthChange(listener: (change: AuthChange) => void): () => void;
  /** Changes the language of later calls and of live notifications. */
  setLanguage(language: Language | undefined): void;
}

/** Creates a client that is small. @throws TypeError without a usable `baseUrl`, or with browser storage outside of a browser */
export function createBaseClient(options: BaseClientOptions): BaseClient {
  return createCore(options).base;
}

/** A base client, and what more is made of. */
export interface Core {
  base: BaseClient;
  caller: Caller;
  context: CallContext;
  storage: TokenStorage | undefined;
}

export function createCore(options: BaseClientOptions): Core {
  // JavaScript, or a variable of the environment that is not set.
  if (typeof options?.baseUrl !== 'string' || /[?#]/.test(options.baseUrl)) {
    throw new TypeError('createClient needs the option `baseUrl`, without a query');
  }
  const context: CallContext = {
    ...options,
    baseUrl: options.baseUrl.replace(/\/+$/, ''),
    fetch: options.fetch ?? ((url, init) => globalThis.fetch(url, init)),
    hasOwnFetch: options.fetch !== undefined,
    timeout: options.timeout ?? 15_000,
    retries: options.retries ?? 2,
    usesCookie: options.tokens === 'cookie',
  };
  const storage = context.usesCookie ? cookieStorage() : options.storage;
  const caller = createCaller(context, storage);
  const { request, session } = caller;
  const { onSignedOut } = options;
  if (onSignedOut) session.onChange(({ reason }) => reason && onSignedOut(reason));
  const userId = () => session.current()?.user_id ?? null;
  const base: BaseClient = {
    method: (operation) =>
      Object.assign(
        async (...args: Parameters<Method<typeof operation.id>>) => {
          return (await request(operation, ...args)).data;
        },
        { operation: operation.id, needsLogin: operation.auth === 'required' },
      ),
    isSignedIn: () => session.current() !== null,
    userId,
    ready: session.ready,
    session: {
      get userId() {
        return userId();
      },
      get user() {
        return session.user();
      },
    },
    onAuthChange(listener) {
      let stop: (() => void) | undefined = () => undefined;
      const begin = () => {
        if (stop === undefined) return;
        stop = session.onChange(listener);
        const id = userId();
        listener({ event: 'initial', signedIn: id !== null, userId: id, user: session.user() });
      };
      void session.ready.catch(() => undefined).then(begin);
      return () => {
        stop?.();
        stop = undefined;
      };
    },
    setLanguage(language) {
      context.language = language;
    },
  };
  return { base, caller, context, storage };
}
