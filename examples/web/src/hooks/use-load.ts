import { type Inputs, useCallback, useEffect, useRef, useState } from 'preact/hooks';

/** A value with its states: without `value` and `error`, it is being loaded. */
export interface Loaded<Value> {
  value: Value | undefined;
  error: unknown;
  reload(): void;
}

/**
 * Loads a value when the view appears and again when `inputs` change. Only the newest load counts.
 *
 * @param load gets a signal that is aborted when its response is no longer wanted
 */
export function useLoad<Value>(load: (signal: AbortSignal) => Promise<Value>, inputs: Inputs): Loaded<Value> {
  const [state, setState] = useState<{ value?: Value; error?: unknown }>({});
  const running = useRef<AbortController>(undefined);

  const reload = useCallback(() => {
    running.current?.abort();
    const controller = new AbortController();
    running.current = controller;
    setState({});
    load(controller.signal).then(
      (value) => controller.signal.aborted || setState({ value }),
      (error: unknown) => controller.signal.aborted || setState({ error }),
    );
  }, inputs);

  useEffect(() => {
    reload();
    return () => running.current?.abort();
  }, [reload]);
  return { value: state.value, error: state.error, reload };
}
