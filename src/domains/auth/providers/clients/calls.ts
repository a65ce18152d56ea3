import { Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import type { CustomFetchOptions } from 'openid-client';
import { ApiError, serviceUnavailable } from '../../../../http/errors.ts';
import { authErrors } from '../../errors.ts';

/** Milliseconds for all calls of one login: a request is answered within 10 s. */
const timeLimit = 8_000;
/** Bytes of a response, decompressed. */
const maxSize = 1024 * 1024;
/** Logins that may wait for one provider at once. */
const maxRunning = 100;

/** The error of a provider that does not answer, or not in its protocol. The message has no secret. */
export const unavailable = (message: string): ApiError => serviceUnavailable(new Error(message));

/** As `openid-client` calls it. */
export type BoundedFetch = (url: string, options?: Partial<CustomFetchOptions>) => Promise<Response>;

/** Calls to one provider, which may be slow, broken or hostile: bounded in time, size and number, and without redirects. */
export function createCalls(id: string) {
  let running = 0;

  /** @throws {ApiError} `service_unavailable` after a call without a usable response, `provider_refused` after any other error */
  return async function call<Result>(work: (fetch: BoundedFetch) => Promise<Result>): Promise<Result> {
    if (running >= maxRunning) throw unavailable(`${id}: too many calls wait`);
    const signal = AbortSignal.timeout(timeLimit);
    // `openid-client` wraps what its `fetch` throws.
    let failure: ApiError | undefined;
    running += 1;
    try {
      return await work((url, options) =>
        readJson(url, options, signal).catch((error: unknown) => {
          // Without the query, which may have secrets.
          const message = `${id}: ${url.replace(/[?#].*/, '')}: ${describe(error)}`;
          failure = unavailable(message);
          throw new Error(message);
        }),
      );
    } catch (error) {
      if (failure || error instanceof ApiError) throw failure ?? error;
      const reason = `${id}: ${describe(error)}`;
      // The operator has to change the client id or the secret.
      if (reason.includes('invalid_client')) throw unavailable(reason);
      throw new ApiError(authErrors.providerRefused, { cause: new Error(reason) });
    } finally {
      running -= 1;
    }
  };
}

const Failure = Type.Object({ error: Type.String() });

/** Reads JSON, whatever its type says; an error of Naver gets the status 400. @throws for what is no answer in time, size or form */
async function readJson(url: string, options: Partial<CustomFetchOptions> = {}, signal: AbortSignal) {
  const { method = 'GET', headers = {}, body: sent } = options;
  const request = { method, headers, body: sent == null ? null : String(sent), signal };
  const { status, body } = await fetch(url, { ...request, redirect: 'manual' });
  if (status >= 500 || status === 429 || (status >= 300 && status < 400)) {
    await body?.cancel();
    throw new Error(`status ${status}`);
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.length;
    if (size > maxSize) throw new Error(`more than ${maxSize} bytes`);
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString();
  const answer = parseAnswer(text);
  const isFailure = status === 200 && Value.Check(Failure, answer);
  return new Response(JSON.stringify(answer), {
    status: isFailure ? 400 : status,
    headers: { 'content-type': 'application/json' },
  });
}

/** Parses JSON. A member that is null is as if it were not there. @returns undefined for an empty text */
export function parseAnswer(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text, (_key, value: unknown) => value ?? undefined);
  } catch {
    // The message of the parser has a part of the text.
    throw new Error('not JSON');
  }
}

/** What went wrong, without what `openid-client` adds as cause: tokens and claims. */
export function describe(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error';
  const { message, cause } = error;
  const code =
    'error' in error ? error.error : cause instanceof Error && 'code' in cause ? cause.code : undefined;
  return [message, code, cause instanceof Error ? cause.message : undefined].filter(Boolean).join(': ');
}
