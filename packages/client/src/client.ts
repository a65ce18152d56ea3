import { type CallContext, createCaller } from './caller.ts';
import type { Methods } from './generated/methods.ts';
import { operationTable } from './generated/operations.ts';
import { createNotificationFeed, type NotificationFeed } from './live/feed.ts';
import { defaultTimes, type StreamTimes } from './live/types.ts';
import {
  beginLoginWith,
  finishLoginWith,
  type LoginWithOptions,
  type LoginWithResult,
} from './login-with.ts';
import { createPasskeys, type Passkeys } from './passkeys.ts';
import { createPush, type Push } from './push.ts';
import type { AuthChange, SignedOutReason } from './session.ts';
import { cookieStorage, type TokenStorage } from './tokens.ts';
import type { Arguments, Call, CallResponse, OperationId } from './types.ts';

export interface ClientOptions {
  /** Origin of the service, such as `https://api.example.com`, with a path where a proxy adds one. */
  baseUrl: string;
  /** Where tokens are kept; in memory without it. */
  storage?: TokenStorage;
  /** `cookie`, for browsers: the refresh token is in a cookie that no script can read, and nothing goes to `storage`. */
  tokens?: 'cookie' | undefined;
  /** Of the server's texts: `ko` or `en`. Without it, that of the browser; Korean in Node.js, which names none. */
  language?: string;
  /** Called once whenever this tab is no longer signed in. */
  onSignedOut?: (reason: SignedOutReason) => void;
  /** In place of the global one. */
  fetch?: (url: string, init: RequestInit) => Promise<Response>;
  /** Milliseconds that one attempt may take; 15,000 without it, because the service responds within ten seconds. */
  timeout?: number;
  /** How often a call that may be repeated is repeated; twice without it. */
  retries?: number;
  /** When live notifications reconnect and poll. */
  streamTimes?: Partial<StreamTimes>;
}

/** All operations of the API by their `operationId`, and what belongs to all of them. */
export interface Client extends Methods, Passkeys, Push {
  /** Begins a login with a provider and leaves the page. @throws ApiError, or TypeError for a `returnTo` of another origin */
  loginWith(provider: string, options?: LoginWithOptions): Promise<void>;
  /** Finishes it on the callback page, once. @throws LoginWithError, ApiError */
  finishLoginWith(url?: string): Promise<LoginWithResult>;
  /** Calls an operation and resolves to its whole response, with the server's text for people. */
  request<Id extends OperationId>(operation: Id, ...args: Arguments<Id>): Promise<CallResponse<Id>>;
  /** Whether there are tokens. With a storage that responds later, known after {@link Client.ready}. */
  isSignedIn(): boolean;
  /** The `id` of the account whose tokens there are. */
  userId(): number | null;
  /** Resolves when the storage was read for the first time. */
  readonly ready: Promise<void>;
  /** Reports each sign-in and sign-out, in other tabs too. @returns ends that */
  onAuthChange(listener: (change: AuthChange) => void): () => void;
  /** Live notifications. */
  readonly notifications: NotificationFeed;
  /** Changes the language of later calls and of live notifications. */
  setLanguage(language: string | undefined): void;
}

/** Creates a client of a service. @throws TypeError without a `baseUrl` that a path can be appended to */
export function createClient(options: ClientOptions): Client {
  // JavaScript, or a variable of the environment that is not set.
  if (typeof options?.baseUrl !== 'string' || /[?#]/.test(options.baseUrl)) {
    throw new TypeError('createClient needs the option `baseUrl`, without a query');
  }
  const context: CallContext = {
    baseUrl: options.baseUrl.replace(/\/+$/, ''),
    fetch: options.fetch ?? ((url, init) => globalThis.fetch(url, init)),
    timeout: options.timeout ?? 15_000,
    retries: options.retries ?? 2,
    language: options.language,
    usesCookie: options.tokens === 'cookie',
  };
  const storage = context.usesCookie ? cookieStorage() : options.storage;
  const caller = createCaller(context, storage);
  const { request, session } = caller;
  const { onSignedOut } = options;
  if (onSignedOut) session.onChange(({ reason }) => reason && onSignedOut(reason));
  const feed = createNotificationFeed({
    caller,
    storageName: storage?.name,
    scope: () => `${context.baseUrl}:${context.language ?? ''}`,
    times: { ...defaultTimes, ...options.streamTimes },
  });
  const call: Call = async (id, ...args) => (await request(id, ...args)).data;
  return {
    ...createMethods(call),
    ...createPasskeys(call),
    ...createPush(call),
    loginWith: (provider, own) => beginLoginWith(call, provider, own),
    finishLoginWith: (url = location.href) => finishLoginWith(call, url),
    request,
    isSignedIn: () => session.current() !== null,
    userId: () => session.current()?.user_id ?? null,
    ready: session.ready,
    onAuthChange: session.onChange,
    notifications: { subscribe: feed.subscribe },
    setLanguage(language) {
      if (language === context.language) return;
      context.language = language;
      feed.restart();
    },
  };
}

/** A method for each operation but the stream, which responds without end. `Methods` has the types of the arguments. */
function createMethods(call: Call): Methods;
function createMethods(call: (id: OperationId, ...args: []) => unknown): object {
  const ids = Object.keys(operationTable).filter((id): id is OperationId => id !== 'streamNotifications');
  return Object.fromEntries(ids.map((id) => [id, (...args: []) => call(id, ...args)]));
}
