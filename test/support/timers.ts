import type { Test } from 'tap';

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

/** Replaces properties of an object until the test ends. `t.intercept` does more: to keep a stack of each access costs much CPU. */
export function replace(t: Test, object: object, values: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(values)) {
    const original = Object.getOwnPropertyDescriptor(object, name);
    Object.defineProperty(object, name, { value, configurable: true, writable: true });
    t.teardown(() => {
      if (original) Object.defineProperty(object, name, original);
      else Reflect.deleteProperty(object, name);
    });
  }
}
