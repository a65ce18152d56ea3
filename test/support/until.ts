import { setTimeout as sleep } from 'node:timers/promises';

/** Waits for what comes by itself. @throws when it has not come after some seconds */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  seconds = 30,
): Promise<void> {
  for (const end = Date.now() + seconds * 1_000; !(await condition()); await sleep(20)) {
    if (Date.now() > end) throw new Error(`not within ${seconds} s: ${what}`);
  }
}
