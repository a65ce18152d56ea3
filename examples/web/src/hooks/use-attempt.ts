import { useCallback } from 'preact/hooks';
import { describeError, isCancelled } from '../components/states.tsx';
import { useToasts } from '../components/toasts.tsx';
import { useLanguage } from '../texts/language.tsx';

/** Runs what a button does; an error becomes a short message. */
export function useAttempt(): (action: () => Promise<unknown>) => Promise<void> {
  const { t } = useLanguage();
  const { show } = useToasts();
  return useCallback(
    (action) =>
      action().then(
        () => undefined,
        (error: unknown) => {
          if (!isCancelled(error)) show(describeError(error, t));
        },
      ),
    [show, t],
  );
}
