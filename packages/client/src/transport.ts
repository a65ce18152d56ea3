import { NetworkError, TimeoutError } from './errors.ts';
import { type ClientHooks, observe } from './observer.ts';
import type { OperationCall } from './operation-call.ts';
import { throwIfAborted } from './retries.ts';
import type { Operation, OperationId } from './types.ts';
import { fetchWithProgress, type UploadProgress } from './upload.ts';

/** A request that is ready to be sent, as often as needed. */
export interface PreparedRequest {
  operation: Operation<OperationId>;
  url: string;
  headers: Headers;
  body: string | FormData | undefined;
}

/** The parsed response to a request. */
export interface RawResponse {
  /** Without the query. */
  url: string;
  status: number;
  headers: Headers;
  text: string;
  /** The text as JSON; undefined where it is none. */
  body: unknown;
}

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** What may stand in a path. */
const pathKinds = {
  id: {
    text: 'a positive integer',
    isValid: (value: unknown) => Number.isSafeInteger(value) && Number(value) > 0,
  },
  uuid: { text: 'a UUID', isValid: (value: unknown) => typeof value === 'string' && uuid.test(value) },
  // Dots are not escaped.
  text: {
    text: 'a name',
    isValid: (value: unknown) => typeof value === 'string' && !/^\.{0,2}$/.test(value),
  },
};

/**
 * Moves the ids of a path out of the input. Other values could lead to another operation: `.` and `..` disappear from URLs.
 *
 * @throws TypeError when an id is missing or is none
 */
export function takePath({ id, path }: PreparedRequest['operation'], input: Record<string, unknown>): string {
  return path.replace(/\{(\w+)(?::(\w+))?\}/g, (_, name: string, kind: keyof typeof pathKinds = 'id') => {
    const value = input[name];
    const { text, isValid } = pathKinds[kind];
    if (!isValid(value)) throw new TypeError(`${id} needs ${text} as \`${name}\``);
    delete input[name];
    return encodeURIComponent(String(value));
  });
}

/** Where each input of a call goes. */
export function prepareRequest(
  operation: PreparedRequest['operation'],
  { baseUrl, input, headers }: { baseUrl: string; input: object; headers: Headers },
): PreparedRequest {
  const rest: Record<string, unknown> = { ...input };
  const path = takePath(operation, rest);
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(rest)) {
    if (operation.body && !operation.query?.includes(name)) continue;
    delete rest[name];
    for (const one of [value].flat()) if (one !== undefined && one !== null) query.append(name, String(one));
  }
  const search = String(query);
  const url = baseUrl + path + (search && `?${search}`);
  // `fetch` adds the type of a form with its boundary.
  if (operation.body === 'json' && !headers.has('content-type')) {
    headers.set('content-type', 'application/json');
  }
  return { operation, url, headers, body: encode(operation, rest) };
}

function encode({ body }: OperationCall, input: Record<string, unknown>): PreparedRequest['body'] {
  if (body === undefined) return undefined;
  if (body === 'json') return JSON.stringify(input);
  const form = new FormData();
  for (const [name, value] of Object.entries(input)) {
    // React Native takes its files, which the types of browsers do not know.
    if (value instanceof Object) Reflect.apply(form.append, form, [name, value]);
    else if (value !== undefined) form.append(name, String(value));
  }
  return form;
}

/**
 * The service never redirects, and a body with a password or token would follow to another origin. Cloudflare Workers refuse
 * `error`; a redirect is a response that is not expected.
 */
export const redirect = 'manual' as const;

interface SendOptions {
  fetch: Fetch;
  /** In milliseconds: of all, or since the last progress of an upload. */
  timeout: number;
  signal?: AbortSignal | undefined;
  /** Only where progress can be reported. */
  onUploadProgress?: ((progress: UploadProgress) => void) | undefined;
  withCookie?: boolean | undefined;
  hooks: ClientHooks;
}

/**
 * Sends a request once and reads the whole response.
 *
 * @throws NetworkError, TimeoutError, or the reason of the signal
 */
export async function send(
  request: PreparedRequest,
  { fetch, timeout, signal, onUploadProgress, withCookie, hooks }: SendOptions,
): Promise<RawResponse> {
  throwIfAborted(signal);
  const { headers, report } = await observe(request, hooks);
  throwIfAborted(signal);
  // `AbortSignal.any` is missing in browsers of 2023.
  const ending = new AbortController();
  const onAbort = () => ending.abort();
  signal?.addEventListener('abort', onAbort);
  let isLate = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const startTimer = () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      isLate = true;
      ending.abort();
    }, timeout);
  };
  startTimer();
  let read: RawResponse;
  try {
    const { operation, url, body = null } = request;
    const { method } = operation;
    const init: RequestInit = { method, headers, redirect, signal: ending.signal };
    // A page that is left still gets its new cookie: the old one soon ends the session.
    if (withCookie) Object.assign(init, { credentials: 'include', keepalive: true });
    const response =
      onUploadProgress && body instanceof FormData
        ? await fetchWithProgress(url, { ...init, body }, (progress) => {
            startTimer();
            onUploadProgress(progress);
          })
        : await fetch(url, { ...init, body });
    read = await readResponse(addressOf(url), response);
  } catch (error) {
    throwIfAborted(signal);
    const failure = failureOf(request, isLate ? timeout : undefined, error);
    report(undefined, failure);
    throw failure;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
  // Apart from that, because an error of the app's hook is none of the network.
  report(read);
  return read;
}

function failureOf(
  { operation: { id }, url }: PreparedRequest,
  timeout: number | undefined,
  cause: unknown,
): NetworkError {
  const address = addressOf(url);
  if (timeout !== undefined) {
    return new TimeoutError(`${id}: no response from ${address} within ${timeout} ms`, { cause });
  }
  const { location } = globalThis;
  // A browser does not tell it from a lost network.
  const isForeign = location !== undefined && !address.startsWith(`${location.origin}/`);
  const hint = isForeign ? `, or the service does not allow ${location.origin} (CORS_ORIGINS)` : '';
  return new NetworkError(`${id}: no response from ${address}: ${reasonOf(cause)}${hint}`, { cause });
}

/** What Node.js calls `fetch failed` has the reason as its cause, which may be several errors without a text. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause instanceof Error) return reasonOf(error.cause);
  return error.message || ('code' in error ? String(error.code) : error.name);
}

function addressOf(url: string): string {
  return url.replace(/\?.*/s, '');
}

async function readResponse(url: string, response: Response): Promise<RawResponse> {
  const { status, headers } = response;
  const text = await response.text();
  return { url, status, headers, text, body: parseJson(text) };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
