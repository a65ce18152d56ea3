import { type AccessTokenSource, createProvidedSession } from './access-token.ts';
import { logOut, refreshToken } from './generated/operations.ts';
import { version } from './generated/version.ts';
import type { User } from './models.ts';
import type { ClientHooks } from './observer.ts';
import type { OperationCall } from './operation-call.ts';
import { isErrorEnvelope, resultOf } from './responses.ts';
import { abortReason, throwIfAborted, withRetries } from './retries.ts';
import { createSession, type Session, type TokenResponse } from './session.ts';
import { memoryStorage, type TokenStorage, type Tokens } from './tokens.ts';
import { type Fetch, prepareRequest, type RawResponse, redirect, send, takePath } from './transport.ts';
import type { Arguments, CallOptions, CallResponse, Language, Operation, OperationId } from './types.ts';
import { canReportProgress } from './upload.ts';

/** What all calls of a client share. */
export interface CallContext extends ClientHooks {
  baseUrl: string;
  fetch: Fetch;
  hasOwnFetch: boolean;
  timeout: number;
  retries: number;
  language?: Language | undefined;
  /** For all calls. */
  headers?: Record<string, string> | Headers;
  accessToken?: AccessTokenSource;
  /** Whether the refresh token is in a cookie. */
  usesCookie: boolean;
}

/** For the log of the service. */
const clientInfo = { 'X-Client-Info': `dure-js/${version}` };

type AnyOperation = Operation<OperationId>;

export interface Caller {
  session: Session;
  /** Calls an operation. @throws ApiError, NetworkError, UnexpectedResponseError, TypeError for an id or a header that cannot be sent, or the reason of the signal */
  request<Id extends OperationId>(
    operation: Operation<Id>,
    ...args: Arguments<Id>
  ): Promise<CallResponse<Id>>;
  /** Calls an operation and returns whatever the service responds, after a refresh and retries where these help. */
  exchange(operation: AnyOperation, input: object, options: CallOptions): Promise<RawResponse>;
  /** Sends a request whose response is read while it comes. */
  open(path: string, headers: Record<string, string>, signal: AbortSignal): Promise<Response>;
}

/**
 * The service takes a refresh token for ten seconds after it was used, and later ends the session. A refresh whose response is
 * lost is therefore given up, and repeated, soon enough. In milliseconds.
 */
const refreshTimeout = 5_000;

/**
 * The service ends an upload that does not arrive at 16 kB a second, so the client only ends what it cannot know: without progress
 * for a minute, in which a slow network sends what the system has buffered; and all of an upload whose progress cannot be observed,
 * for which 10 MiB at that rate take 11 minutes.
 */
const uploadTimeouts = { progress: 60_000, whole: 720_000 };

function defaultTimeout({ body }: OperationCall, { timeout }: CallContext, isObserved: boolean): number {
  if (body !== 'form') return timeout;
  return Math.max(timeout, isObserved ? uploadTimeouts.progress : uploadTimeouts.whole);
}

/** Connects operations, tokens and transport. */
export function createCaller(context: CallContext, storage: TokenStorage = memoryStorage()): Caller {
  const session = context.accessToken
    ? createProvidedSession(context.accessToken)
    : createSession(storage, async (refresh) => {
        const timeout = Math.min(context.timeout, refreshTimeout);
        const response = await attempt(refreshToken, { refresh }, { timeout }, null);
        return resultOf(refreshToken, response).data;
      });

  /** One call with the given tokens, repeated where that is safe. */
  function attempt(
    operation: AnyOperation,
    input: object,
    options: CallOptions,
    tokens: Tokens | null,
  ): Promise<RawResponse> {
    const withCookie = context.usesCookie && operation.cookie;
    const language = options.language ?? context.language;
    // In a browser, it would be the only reason for a preflight of what needs neither a token nor a body.
    const isNamed = tokens || operation.method !== 'GET' || globalThis.location === undefined;
    const own = {
      Accept: 'application/json',
      ...(isNamed && clientInfo),
      ...(language && { 'Accept-Language': language }),
      ...(withCookie && { 'X-Refresh-Token': 'cookie' }),
      ...(tokens?.access && { Authorization: `Bearer ${tokens.access}` }),
      ...(options.ifMatch && { 'If-Match': options.ifMatch }),
      ...(options.idempotencyKey && operation.idempotent && { 'Idempotency-Key': options.idempotencyKey }),
    };
    const headers = mergeHeaders(own, context.headers, options.headers);
    const request = prepareRequest(operation, { baseUrl: context.baseUrl, input, headers });
    const isRepeatable =
      operation.method === 'GET' || operation.idempotent || operation.id === 'refreshToken';
    const { fetch } = context;
    const { retries = context.retries, signal } = options;
    // Progress decides how long an upload may take. Only XMLHttpRequest reports it, in place of `fetch`, which tests replace.
    const { onUploadProgress: listener = context.hasOwnFetch ? undefined : () => undefined } = options;
    const onUploadProgress = operation.body === 'form' && canReportProgress() ? listener : undefined;
    const { timeout = defaultTimeout(operation, context, onUploadProgress !== undefined) } = options;
    const attemptOnce = () =>
      send(request, { fetch, timeout, signal, onUploadProgress, withCookie, hooks: context });
    const run = () => withRetries(attemptOnce, { retries: isRepeatable ? retries : 0, signal });
    return withCookie && operation.id !== 'refreshToken' ? session.betweenRefreshes(run) : run();
  }

  async function exchange(
    operation: AnyOperation,
    input: object,
    options: CallOptions,
  ): Promise<RawResponse> {
    const { auth, idempotent } = operation;
    takePath(operation, { ...input });
    const own = idempotent
      ? { ...options, idempotencyKey: options.idempotencyKey ?? newIdempotencyKey() }
      : options;
    const tokens =
      auth && !hasOwnAuthorization(options, context)
        ? await unlessAborted(session.usable(), options.signal)
        : null;
    const response = await attempt(operation, input, own, tokens);
    if (tokens === null || !isTokenRejected(response)) return response;
    const renewed = await unlessAborted(session.renew(tokens), options.signal);
    // Another account may have logged in meanwhile.
    return renewed?.user_id === tokens.user_id ? attempt(operation, input, own, renewed) : response;
  }

  /** Forgets the tokens at once, so that neither a lost network nor a refresh under way keeps the user signed in. */
  async function endSession(input: object, options: CallOptions): Promise<RawResponse> {
    const tokens = await session.end('logged_out');
    // The refresh token stands in for an access token that has expired.
    const own = { ...(tokens?.refresh && { refresh: tokens.refresh }), ...input };
    const response = await attempt(logOut, own, options, tokens);
    // The session has already ended, which is what the caller wants.
    return tokens && response.status === 401 && isErrorEnvelope(response.body)
      ? { ...response, status: 200, body: { message: '', data: {} } }
      : response;
  }

  async function request<Id extends OperationId>(
    operation: Operation<Id>,
    ...args: Arguments<Id>
  ): Promise<CallResponse<Id>> {
    const { id }: AnyOperation = operation;
    const [input = {}, options = {}] = args;
    const isOwn = hasOwnAuthorization(options, context);
    const response = await (id === 'logOut' && !isOwn
      ? endSession(input, options)
      : exchange(operation, input, options));
    const result = resultOf(operation, response);
    const data: unknown = result.data;
    if (isLogin(data)) await session.start(data, data.user);
    else if (id === 'deleteCurrentUser' && !isOwn) await session.end('account_deleted');
    else if (isUser(id, data)) session.takeUser(data);
    return result;
  }

  function open(path: string, headers: Record<string, string>, signal: AbortSignal): Promise<Response> {
    const { baseUrl, fetch, language } = context;
    const own = { ...clientInfo, ...(language && { 'Accept-Language': language }) };
    return fetch(baseUrl + path, { headers: mergeHeaders(own, context.headers, headers), redirect, signal });
  }

  return { session, request, exchange, open };
}

/** Later ones replace earlier ones, in whichever case they are written. @throws TypeError for one that cannot be sent */
function mergeHeaders(...all: CallOptions['headers'][]): Headers {
  const merged = new Headers();
  for (const one of all) {
    new Headers(one).forEach((value, name) => {
      merged.set(name, value);
    });
  }
  return merged;
}

/** Whether a response begins a session, of whichever way to log in. */
function isLogin(data: unknown): data is TokenResponse & { user: User } {
  return data instanceof Object && 'access' in data && 'user' in data;
}

/** Whether a response is the user whose token was sent. */
function isUser(id: OperationId, _data: unknown): _data is User {
  return id === 'getCurrentUser' || id === 'updateCurrentUser' || id === 'changeEmail';
}

function isTokenRejected({ status, body }: RawResponse): boolean {
  return status === 401 && isErrorEnvelope(body) && body.data.code === 'token_not_valid';
}

/** Whether a call is not made for the account that is signed in. @throws TypeError for a header that cannot be sent */
function hasOwnAuthorization(...all: Pick<CallOptions, 'headers'>[]): boolean {
  return all.some(({ headers }) => new Headers(headers).has('authorization'));
}

/** Work that other calls wait for goes on when one of them is aborted. */
async function unlessAborted<Result>(
  work: Promise<Result>,
  signal: AbortSignal | undefined,
): Promise<Result> {
  if (!signal) return work;
  throwIfAborted(signal);
  let onAbort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(abortReason(signal));
    signal.addEventListener('abort', onAbort);
  });
  return Promise.race([work, aborted]).finally(() => signal.removeEventListener('abort', onAbort));
}

/**
 * A key for a form: with each attempt to send it, `{ idempotencyKey }` gives the first success again instead of creating a second
 * object. A random one that cannot be guessed, as far as the platform has `crypto`: React Native has none, nor pages without HTTPS.
 */
export function newIdempotencyKey(): string {
  const weak = () => Array.from({ length: 3 }, () => Math.random().toString(36).slice(2)).join('-');
  return globalThis.crypto?.randomUUID?.() ?? weak();
}
