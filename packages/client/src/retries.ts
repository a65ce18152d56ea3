import { NetworkError } from './errors.ts';
import { isErrorEnvelope, retryAfterOf } from './responses.ts';
import type { RawResponse } from './transport.ts';

/** Milliseconds before the first repetition; each further one waits twice as long. */
const firstDelay = 300;
/** A longer `Retry-After` is left to the caller, in seconds. */
const longestWait = 10;

/**
 * Repeats an attempt that found no network, an overloaded server or a proxy without a server.
 *
 * @param retries 0 for what must not be sent twice
 */
export async function withRetries(
  attempt: () => Promise<RawResponse>,
  { retries, signal }: { retries: number; signal?: AbortSignal | undefined },
): Promise<RawResponse> {
  for (let left = retries, delay = firstDelay; ; left--, delay *= 2) {
    let wait: number | undefined;
    try {
      const response = await attempt();
      wait = waitAfter(response, delay);
      if (left <= 0 || wait === undefined) return response;
    } catch (error) {
      if (left <= 0 || !(error instanceof NetworkError)) throw error;
      wait = withJitter(delay);
    }
    await sleep(wait, signal);
  }
}

/** Milliseconds to wait after a response; undefined when a repetition would not help. */
function waitAfter({ status, headers, body }: RawResponse, delay: number): number | undefined {
  const isLimited = status === 429 && isErrorEnvelope(body) && body.data.code === 'rate_limited';
  if (!isLimited && status !== 502 && status !== 503 && status !== 504) return undefined;
  const seconds = retryAfterOf(headers);
  if (seconds === undefined) return withJitter(delay);
  return seconds > longestWait ? undefined : seconds * 1_000 + Math.random() * delay;
}

/** So that clients that failed together do not come back together. */
export function withJitter(delay: number): number {
  return delay * (0.5 + Math.random() / 2);
}

/** @throws the reason of the signal */
export function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(abortReason(signal));
    const onAbort = () => {
      clearTimeout(timer);
      reject(abortReason(signal));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, milliseconds);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/** React Native has neither `signal.reason` nor `signal.throwIfAborted`. */
export function abortReason(signal: AbortSignal | undefined): unknown {
  return signal?.reason ?? Object.assign(new Error('The call was aborted'), { name: 'AbortError' });
}

/** @throws the reason of the signal */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw abortReason(signal);
}

/** Waits, but not after the network has come back. */
export async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  const ending = new AbortController();
  const end = () => ending.abort();
  signal.addEventListener('abort', end);
  globalThis.addEventListener?.('online', end);
  if (!signal.aborted) await sleep(milliseconds, ending.signal).catch(() => undefined);
  signal.removeEventListener('abort', end);
  globalThis.removeEventListener?.('online', end);
}
