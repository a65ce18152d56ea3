/** Calls functions of the app apart from the client's own work, which their errors must not break. */
interface Listeners<Value> {
  /** @returns removes the listener */
  add(listener: (value: Value) => void): () => void;
  emit(value: Value): void;
}

export function createListeners<Value>(): Listeners<Value> {
  const all = new Set<(value: Value) => void>();
  return {
    add(listener) {
      // The same function may be added twice.
      const own = (value: Value) => listener(value);
      all.add(own);
      return () => {
        all.delete(own);
      };
    },
    emit(value) {
      for (const listener of all) {
        queueMicrotask(() => {
          if (all.has(listener)) listener(value);
        });
      }
    },
  };
}
