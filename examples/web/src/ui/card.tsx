import { type ReactNode, useState } from 'react';
import { Button } from './button.tsx';
import { CancelButton, Dialog } from './dialog.tsx';
import { Form, type FormProps } from './form.tsx';

interface CardProps {
  id?: string;
  title: string;
  text?: string;
  /** A state beside the title. */
  chip?: string | false | undefined;
  children?: ReactNode;
}

/** A part of a page, with a heading of its own. */
export function Card({ id, title, text, chip, children }: CardProps) {
  return (
    <section className="card stack" id={id}>
      <h2>
        {title} {chip && <span className="chip">{chip}</span>}
      </h2>
      {text && <p className="soft">{text}</p>}
      {children}
    </section>
  );
}

interface AskButtonProps extends Pick<FormProps, 'danger' | 'children'> {
  label: string;
  /** What it is about, for screen readers, where several buttons have the same label. */
  about?: string;
  title?: string;
  text?: string;
  confirmLabel?: string;
  onConfirm: FormProps['onSubmit'];
}

/** A button that opens a dialog, which asks before something happens. */
export function AskButton({ label, about, title, text, confirmLabel, onConfirm, ...form }: AskButtonProps) {
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  return (
    <div>
      <Button label={label} about={about} look={form.danger ? 'danger' : ''} onClick={() => setOpen(true)} />
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
