import { useEffect, useId, useRef } from 'preact/hooks';
import { useLanguage } from '../texts/language.tsx';
import { Form } from './form.tsx';

interface ConfirmDialogProps {
  title: string;
  text: string;
  confirmLabel: string;
  onConfirm: () => Promise<void>;
  onClose: () => void;
}

/** Asks before something that cannot be undone. It is open while it is rendered. */
export function ConfirmDialog({ title, text, confirmLabel, onConfirm, onClose }: ConfirmDialogProps) {
  const { t } = useLanguage();
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const opener = document.activeElement;
    dialog.current?.showModal();
    return () => {
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
    };
  }, []);
  return (
    <dialog ref={dialog} aria-labelledby={id} onClose={onClose}>
      <div class="stack">
        <h2 id={id}>{title}</h2>
        <p class="pre-line">{text}</p>
        <Form
          danger
          submitLabel={confirmLabel}
          onSubmit={async () => {
            await onConfirm();
            onClose();
          }}
          actions={
            <button type="button" class="button" onClick={onClose}>
              {t.common.cancel}
            </button>
          }
        />
      </div>
    </dialog>
  );
}
