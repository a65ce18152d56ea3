import { sleep } from '../retries.ts';

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
