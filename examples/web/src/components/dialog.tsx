import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { useLanguage } from '../texts/language.tsx';
import { Form } from './form.tsx';

interface DialogProps {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
}

/** A dialog that is open while it is rendered. */
export function Dialog({ title, onClose, children }: DialogProps) {
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
        {children}
      </div>
    </dialog>
  );
}

interface ConfirmDialogProps extends Omit<DialogProps, 'children'> {
  text: string;
  confirmLabel: string;
  onConfirm: () => Promise<void>;
}

/** Asks before something that cannot be undone. */
export function ConfirmDialog({ title, text, confirmLabel, onConfirm, onClose }: ConfirmDialogProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <p class="pre-line">{text}</p>
      <Form
        danger
        submitLabel={confirmLabel}
        onSubmit={async () => {
          await onConfirm();
          onClose();
        }}
        actions={<CancelButton onClick={onClose} />}
      />
    </Dialog>
  );
}

/** Beside the submit button of a dialog. */
export function CancelButton({ onClick }: { onClick: () => void }) {
  const { t } = useLanguage();
  return (
    <button type="button" class="button" onClick={onClick}>
      {t.common.cancel}
    </button>
  );
}
