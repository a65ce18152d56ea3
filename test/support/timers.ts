import type { Test } from 'tap';
import { replace } from './replace.ts';

/** Milliseconds: the longest time of a timer, 24 days. */
const never = 2 ** 31 - 1;

/**
 * Keeps timers of so many milliseconds from coming due by themselves, of those that begin from now on until the test ends: so what
 * happens is not their work, however long the test takes.
 *
 * @returns lets all of them come due once. @throws when there is none
 */
export function holdTimers(t: Test, milliseconds: number): () => void {
  const held: (() => void)[] = [];
  for (const name of ['setTimeout', 'setInterval'] as const) {
    const start = globalThis[name];
    replace(t, globalThis, {
      [name](run: () => void, delay?: number, ...args: []) {
        if (delay !== milliseconds) return start(run, delay, ...args);
        held.push(run);
        return start(run, never);
      },
    });
  }
  return () => {
    if (held.length === 0) throw new Error(`no timer of ${milliseconds} ms`);
    for (const run of held) run();
  };
}
