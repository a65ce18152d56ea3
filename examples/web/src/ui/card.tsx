import { type ReactNode, useState } from 'react';
import { ConfirmDialog } from './dialog.tsx';

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

interface AskButtonProps {
  label: string;
  /** What it is about, for screen readers, where several buttons have the same label. */
  about?: string;
  danger?: boolean;
  title: string;
  text: string;
  confirmLabel?: string;
  onConfirm: () => Promise<unknown>;
}

/** A button for what cannot be undone: it asks first. */
export function AskButton({ label, about, danger, text, confirmLabel = label, ...dialog }: AskButtonProps) {
  const [isAsking, setAsking] = useState(false);
  return (
    <div>
      <button type="button" className={`button ${danger ? 'danger' : ''}`} onClick={() => setAsking(true)}>
        {label}
        {about && <span className="visually-hidden"> {about}</span>}
      </button>
      {isAsking && (
        <ConfirmDialog {...dialog} confirmLabel={confirmLabel} onClose={() => setAsking(false)}>
          <p>{text}</p>
        </ConfirmDialog>
      )}
    </div>
  );
}
