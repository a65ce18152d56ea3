import { setTimeout as sleep } from 'node:timers/promises';
import { atMost } from './time.ts';

/** Milliseconds; long, because only a test that fails waits for so long. */
const patience = atMost(30_000);
/** Milliseconds between two looks. What takes long is looked at less often, because each look costs CPU. */
const interval = { shortest: 10, longest: 100, shareOfWait: 0.1 };

/** Whether a promise is fulfilled. */
export const succeeds = (work: Promise<unknown>): Promise<boolean> =>
  work.then(
    () => true,
    () => false,
  );

/**
 * Polls until a condition has a truthy value.
 *
 * @param what names the condition in the error
 * @returns that value
 * @throws when it has none in time
 */
export async function until<Value>(
  what: string,
  condition: () => Value | Promise<Value>,
): Promise<NonNullable<Value>> {
  for (const start = Date.now(); ; ) {
    const value = await condition();
    if (value) return value;
    const waited = Date.now() - start;
    if (waited > patience) throw new Error(`not within ${patience} ms: ${what}`);
    await sleep(Math.min(interval.longest, Math.max(interval.shortest, waited * interval.shareOfWait)));
  }
}
