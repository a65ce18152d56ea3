import { setTimeout as sleep } from 'node:timers/promises';

interface KeepRunningOptions {
  /** Milliseconds between two runs: the first pause, which doubles up to the longest. */
  delay: { min: number; max: number };
  signal: AbortSignal;
  /** Called when the work ended before the signal. @param error undefined when it did not throw */
  onEnd(error: unknown): void;
}

/** Runs work until the signal, again with exponential backoff whenever it ends. */
export async function keepRunning(
  work: () => Promise<void>,
  { delay: { min, max }, signal, onEnd }: KeepRunningOptions,
): Promise<void> {
  let delay = min;
  while (!signal.aborted) {
    const startedAt = Date.now();
    const error = await work().catch((thrown: unknown) => thrown);
    if (signal.aborted) return;
    onEnd(error);
    if (Date.now() - startedAt > max) delay = min;
    // With jitter, so that instances do not reconnect at once.
    const pause = delay * (0.5 + Math.random() / 2);
    await sleep(pause, undefined, { signal, ref: false }).catch(() => undefined);
    delay = Math.min(delay * 2, max);
  }
}
