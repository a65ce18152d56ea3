import type { Test } from 'tap';

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
