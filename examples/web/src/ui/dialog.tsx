import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { t } from '../text.ts';
import { Button } from './button.tsx';
import { Form, type FormProps } from './form.tsx';

interface DialogProps {
  title: string;
  onClose: () => void;
  children: ReactNode;
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
      <div className="stack">
        <h2 id={id}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}

/** Beside the submit button of a dialog. */
export function CancelButton({ onClick }: { onClick: () => void }) {
  return <Button label={t('취소', 'Cancel')} onClick={onClick} />;
}

interface AskButtonProps extends Pick<FormProps, 'danger' | 'children'> {
  label: string;
  /** What it is about, for screen readers, where several buttons have the same label. */
  about?: string;
  look?: string;
  title?: string;
  text?: string;
  confirmLabel?: string;
  onConfirm: FormProps['onSubmit'];
}

/** A button that opens a dialog, which asks before something happens. */
export function AskButton({
  label,
  about,
  look,
  title,
  text,
  confirmLabel,
  onConfirm,
  ...form
}: AskButtonProps) {
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  return (
    <div>
      <Button
        label={label}
        about={about}
        look={look ?? (form.danger ? 'danger' : '')}
        onClick={() => setOpen(true)}
      />
      {isOpen && (
        <Dialog title={title ?? label} onClose={close}>
          {text && <p>{text}</p>}
          <Form
            {...form}
            submitLabel={confirmLabel ?? label}
            onSubmit={(...input) => onConfirm(...input).then(close)}
            actions={<CancelButton onClick={close} />}
          />
        </Dialog>
      )}
    </div>
  );
}
