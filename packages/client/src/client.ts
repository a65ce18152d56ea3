import type { AccessTokenSource } from './access-token.ts';
import { type CallContext, createCaller } from './caller.ts';
import type { Resources } from './generated/methods.ts';
import { operationTable } from './generated/operations.ts';
import { createNotificationFeed, type NotificationFeed } from './live/feed.ts';
import { defaultTimes, type StreamTimes } from './live/types.ts';
import { createLoginWith, type LoginWith } from './login-with.ts';
import type { ClientHooks } from './observer.ts';
import type { OperationCall } from './operation-call.ts';
import { createPasskeys, type Passkeys } from './passkeys.ts';
import { createPush, type Push } from './push.ts';
import type { AuthChange, SignedOutReason } from './session.ts';
import { cookieStorage, type TokenStorage } from './tokens.ts';
import type { Arguments, Call, CallResponse, Language, OperationId } from './types.ts';

export interface ClientOptions extends ClientHooks {
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
  /** How live notifications arrive: `poll` where responses cannot be read while they come, such as in React Native. */
  transport?: 'stream' | 'poll';
  /** When live notifications reconnect and poll. */
  streamTimes?: Partial<StreamTimes>;
}

/** All operations of the API by resource, and what belongs to all of them. */
export interface Client extends Resources {
  auth: Resources['auth'] & LoginWith;
  passkeys: Resources['passkeys'] & Passkeys;
  push: Resources['push'] & Push;
  notifications: Resources['notifications'] & NotificationFeed;
  /** Calls an operation by its `operationId` and resolves to its whole response, with its headers and the server's text for people. */
  request<Id extends OperationId>(operation: Id, ...args: Arguments<Id>): Promise<CallResponse<Id>>;
  /** Whether there are tokens. With a storage that responds later, known after {@link Client.ready}. */
  isSignedIn(): boolean;
  /** The `id` of the account whose tokens there are. */
  userId(): number | null;
  /** Resolves when the storage was read for the first time. */
  readonly ready: Promise<void>;
  /** Reports the state once it is known, then each sign-in and sign-out, in other tabs too. @returns ends that */
  onAuthChange(listener: (change: AuthChange) => void): () => void;
  /** Changes the language of later calls and of live notifications. */
  setLanguage(language: Language | undefined): void;
}

/** Creates a client of a service. @throws TypeError without a usable `baseUrl`, or with browser storage outside of a browser */
export function createClient(options: ClientOptions): Client {
  // JavaScript, or a variable of the environment that is not set.
  if (typeof options?.baseUrl !== 'string' || /[?#]/.test(options.baseUrl)) {
    throw new TypeError('createClient needs the option `baseUrl`, without a query');
  }
  const context: CallContext = {
    ...options,
    baseUrl: options.baseUrl.replace(/\/+$/, ''),
    fetch: options.fetch ?? ((url, init) => globalThis.fetch(url, init)),
    timeout: options.timeout ?? 15_000,
    retries: options.retries ?? 2,
    language: options.language,
    headers: options.headers,
    accessToken: options.accessToken,
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
    transport: options.transport ?? 'stream',
  });
  const call: Call = async (id, ...args) => (await request(id, ...args)).data;
  const resources = createResources(call);
  const userId = () => session.current()?.user_id ?? null;
  return {
    ...resources,
    auth: { ...resources.auth, ...createLoginWith(call) },
    passkeys: { ...resources.passkeys, ...createPasskeys(call) },
    push: { ...resources.push, ...createPush(call) },
    notifications: { ...resources.notifications, subscribe: feed.subscribe },
    request,
    isSignedIn: () => session.current() !== null,
    userId,
    ready: session.ready,
    onAuthChange(listener) {
      let stop: (() => void) | undefined = () => undefined;
      const begin = () => {
        if (stop === undefined) return;
        stop = session.onChange(listener);
        listener({ signedIn: userId() !== null, userId: userId() });
      };
      void session.ready.catch(() => undefined).then(begin);
      return () => {
        stop?.();
        stop = undefined;
      };
    },
    setLanguage(language) {
      if (language === context.language) return;
      context.language = language;
      feed.restart();
    },
  };
}

/** A method for each operation but the stream, which responds without end. `Resources` has the types of the arguments. */
function createResources(call: Call): Resources;
function createResources(call: (id: OperationId, ...args: []) => unknown): object {
  const resources: Record<string, Record<string, unknown>> = {};
  const ids = Object.keys(operationTable).filter((id): id is OperationId => id !== 'streamNotifications');
  for (const id of ids) {
    const { resource, name, auth }: OperationCall = operationTable[id];
    const method = (...args: []) => call(id, ...args);
    resources[resource] ??= {};
    resources[resource][name] = Object.assign(method, { operation: id, needsLogin: auth === 'required' });
  }
  return resources;
}
