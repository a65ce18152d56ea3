import { type ReactNode, useState } from 'react';
import { Link, type LinkProps } from 'react-router';
import { attempt } from './errors.ts';
import './button.css';

export interface ButtonProps {
  label: ReactNode;
  /** What it is about, for screen readers, where several buttons have the same label. */
  about?: string | undefined;
  /** Class names of styles/controls.css: `primary`, `plain`, `danger`, `small`, `large`, `wide`. */
  look?: string | undefined;
  icon?: ReactNode;
  onClick: () => unknown;
  disabled?: boolean;
  /** Of a button that switches something on and off. */
  isPressed?: boolean;
  isExpanded?: boolean;
  lang?: string;
}

/** A button. What goes wrong becomes a short message, and a second click waits for the end of the first. */
export function Button({ icon, label, about, look = '', lang, onClick, ...is }: ButtonProps) {
  const [isBusy, setBusy] = useState(false);
  const isDisabled = is.disabled || isBusy;
  async function run() {
    setBusy(true);
    await attempt(onClick);
    setBusy(false);
  }
  return (
    // It keeps the focus, which `disabled` would take away.
    <button
      type="button"
      className={`button ${look}`}
      lang={lang}
      aria-disabled={isDisabled}
      aria-pressed={is.isPressed}
      aria-expanded={is.isExpanded}
      onClick={() => isDisabled || run()}>
      {icon}
      {label}
      {about && <span className="visually-hidden"> {about}</span>}
    </button>
  );
}

export function ButtonLink({ label, look = '', ...link }: Pick<ButtonProps, 'label' | 'look'> & LinkProps) {
  return (
    <Link className={`button ${look}`} {...link}>
      {label}
    </Link>
  );
}
