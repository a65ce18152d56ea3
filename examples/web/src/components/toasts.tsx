import { type ComponentChildren, createContext } from 'preact';
import { useCallback, useContext, useMemo, useRef, useState } from 'preact/hooks';
import { useLanguage } from '../texts/language.tsx';
import { CloseIcon } from './icons.tsx';

/** Long enough to read two sentences. */
const shownFor = 6_000;

interface Toast {
  id: number;
  text: string;
}

const Context = createContext<{ show(text: string): void } | null>(null);

/** Short messages at the edge of the screen, which screen readers announce. */
export function ToastProvider({ children }: { children: ComponentChildren }) {
  const [toasts, setToasts] = useState<Toast[]>([]);
  const { t } = useLanguage();
  const counter = useRef(0);
  const dismiss = useCallback(
    (id: number) => setToasts((shown) => shown.filter((toast) => toast.id !== id)),
    [],
  );
  const show = useCallback(
    (text: string) => {
      counter.current += 1;
      const id = counter.current;
      setToasts((shown) => [...shown.slice(-2), { id, text }]);
      setTimeout(() => dismiss(id), shownFor);
    },
    [dismiss],
  );
  const value = useMemo(() => ({ show }), [show]);
  return (
    <Context.Provider value={value}>
      {children}
      <div class="toasts" role="status">
        {toasts.map(({ id, text }) => (
          <div class="toast" key={id}>
            <span>{text}</span>
            <button type="button" aria-label={t.common.dismiss} onClick={() => dismiss(id)}>
              <CloseIcon />
            </button>
          </div>
        ))}
      </div>
    </Context.Provider>
  );
}

/** Shows a short message. */
export function useToasts(): { show(text: string): void } {
  const value = useContext(Context);
  if (value === null) throw new Error('useToasts needs a ToastProvider');
  return value;
}
