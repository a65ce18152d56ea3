import { setTimeout as sleep } from 'node:timers/promises';
import { atMost } from './time.ts';

/** Milliseconds; long, because only a test that fails waits for so long. */
const patience = atMost(30_000);

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
  for (const end = Date.now() + patience; ; await sleep(20)) {
    const value = await condition();
    if (value) return value;
    if (Date.now() > end) throw new Error(`not within ${patience} ms: ${what}`);
  }
}
