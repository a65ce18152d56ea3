import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Polls until a condition has a truthy value.
 *
 * @param what names the condition in the error
 * @returns that value
 * @throws when it has none within `seconds`
 */
export async function until<Value>(
  what: string,
  condition: () => Value | Promise<Value>,
  seconds = 30,
): Promise<NonNullable<Value>> {
  for (const end = Date.now() + seconds * 1_000; ; await sleep(20)) {
    const value = await condition();
    if (value) return value;
    if (Date.now() > end) throw new Error(`not within ${seconds} s: ${what}`);
  }
}
