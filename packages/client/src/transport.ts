import { NetworkError, TimeoutError } from './errors.ts';
import type { OperationCall } from './operation-call.ts';
import type { OperationId } from './types.ts';
import { canReportProgress, fetchWithProgress, type UploadProgress } from './upload.ts';

/** A request that is ready to be sent, as often as needed. */
export interface PreparedRequest {
  id: OperationId | 'streamNotifications';
  operation: OperationCall;
  url: string;
  headers: Record<string, string>;
  body: string | FormData | undefined;
}

/** The parsed answer to a request. */
export interface RawAnswer {
  status: number;
  headers: Headers;
  text: string;
  /** The text as JSON; undefined where it is none. */
  body: unknown;
}

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** @throws TypeError when an input is missing without which there is no path */
export function requirePathInputs(id: PreparedRequest['id'], { path }: OperationCall, input: object): void {
  const given = new Map<string, unknown>(Object.entries(input));
  for (const [, name = ''] of path.matchAll(/\{(\w+)\}/g)) {
    if ((given.get(name) ?? '') === '') throw new TypeError(`${id} needs the input \`${name}\``);
  }
}

/** Where each input of a call goes. */
export function prepareRequest(
  id: PreparedRequest['id'],
  operation: OperationCall,
  { baseUrl, input, headers }: { baseUrl: string; input: object; headers: Record<string, string> },
): PreparedRequest {
  const rest: Record<string, unknown> = { ...input };
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = rest[name];
    delete rest[name];
    return encodeURIComponent(String(value));
  });
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(rest)) {
    if (operation.body && !operation.query?.includes(name)) continue;
    delete rest[name];
    for (const one of [value].flat()) if (one !== undefined && one !== null) query.append(name, String(one));
  }
  const search = String(query);
  const url = baseUrl + path + (search && `?${search}`);
  return { id, operation, url, ...encode(operation, rest, headers) };
}

function encode({ body }: OperationCall, input: Record<string, unknown>, headers: Record<string, string>) {
  if (body === undefined) return { headers, body: undefined };
  if (body === 'json') {
    return { headers: { 'Content-Type': 'application/json', ...headers }, body: JSON.stringify(input) };
  }
  const form = new FormData();
  for (const [name, value] of Object.entries(input)) {
    if (value instanceof Blob) form.append(name, value);
    else if (value !== undefined) form.append(name, String(value));
  }
  // `fetch` adds the type with its boundary.
  return { headers, body: form };
}

export interface SendOptions {
  fetch: Fetch;
  /** In milliseconds. */
  timeout: number;
  signal?: AbortSignal | undefined;
  onUploadProgress?: ((progress: UploadProgress) => void) | undefined;
}

/**
 * Sends a request once and reads the whole answer.
 *
 * @throws NetworkError, TimeoutError, or the reason of the signal
 */
export async function send(
  request: PreparedRequest,
  { fetch, timeout, signal, onUploadProgress }: SendOptions,
): Promise<RawAnswer> {
  signal?.throwIfAborted();
  // `AbortSignal.any` is missing in browsers of 2023.
  const ending = new AbortController();
  const onAbort = () => ending.abort();
  signal?.addEventListener('abort', onAbort);
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    ending.abort();
  }, timeout);
  try {
    const { operation, url, headers, body = null } = request;
    const init = { method: operation.method, headers, signal: ending.signal };
    const response =
      onUploadProgress && body instanceof FormData && canReportProgress()
        ? await fetchWithProgress(url, { ...init, body }, onUploadProgress)
        : await fetch(url, { ...init, body });
    return await readAnswer(response);
  } catch (error) {
    signal?.throwIfAborted();
    const options = { cause: error };
    if (isLate) throw new TimeoutError(`No answer to ${request.id} within ${timeout} ms`, options);
    throw new NetworkError(`No answer to ${request.id}`, options);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}

async function readAnswer(response: Response): Promise<RawAnswer> {
  const { status, headers } = response;
  const text = await response.text();
  return { status, headers, text, body: parseJson(text) };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
