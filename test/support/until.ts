import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Polls until a condition is true.
 *
 * @param what the condition, for the message of the error
 * @throws when it is not true within `seconds`
 */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  seconds = 30,
): Promise<void> {
  for (const end = Date.now() + seconds * 1_000; !(await condition()); await sleep(20)) {
    if (Date.now() > end) throw new Error(`not within ${seconds} s: ${what}`);
  }
}
