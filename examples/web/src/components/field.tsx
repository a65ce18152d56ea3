import type { ComponentChildren, InputHTMLAttributes, TextareaHTMLAttributes } from 'preact';
import { useId, useState } from 'preact/hooks';
import { useLanguage } from '../texts/language.tsx';
import { useFieldErrors } from './form.tsx';

interface FieldTexts {
  name: string;
  label: string;
  hint?: string | undefined;
  optional?: boolean;
}

type InputProps = FieldTexts & Omit<InputHTMLAttributes<HTMLInputElement>, 'name' | 'label' | 'id'>;
type TextAreaProps = FieldTexts & Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, 'name' | 'label' | 'id'>;

/** One line of text. */
export function TextField({ name, label, hint, optional, class: className = 'input', ...input }: InputProps) {
  const field = useField(name, hint);
  return (
    <Frame {...field} label={label} hint={hint} optional={optional}>
      <input class={className} name={name} {...field.input} required={!optional} {...input} />
    </Frame>
  );
}

/** Several lines of text. */
export function TextArea({ name, label, hint, optional, ...input }: TextAreaProps) {
  const field = useField(name, hint);
  return (
    <Frame {...field} label={label} hint={hint} optional={optional}>
      <textarea class="input" name={name} {...field.input} required={!optional} {...input} />
    </Frame>
  );
}

/** A password with a button that shows it: on phones, hidden typing is the most frequent reason for a failed login. */
export function PasswordField({ name, label, hint, ...input }: InputProps) {
  const { t } = useLanguage();
  const field = useField(name, hint);
  const [isShown, setShown] = useState(false);
  return (
    <Frame {...field} label={label} hint={hint}>
      <div class="input-row">
        <input
          class="input"
          type={isShown ? 'text' : 'password'}
          name={name}
          {...field.input}
          required
          autocapitalize="none"
          spellcheck={false}
          {...input}
        />
        <button type="button" class="button" aria-pressed={isShown} onClick={() => setShown(!isShown)}>
          {t.common.show}
          <span class="visually-hidden"> {label}</span>
        </button>
      </div>
    </Frame>
  );
}

function useField(name: string, hint: string | undefined) {
  const id = useId();
  const errors = useFieldErrors(name);
  const describedBy = [hint && `${id}-hint`, errors.length > 0 && `${id}-error`].filter(Boolean).join(' ');
  return {
    id,
    errors,
    input: {
      id,
      'aria-invalid': errors.length > 0,
      'aria-describedby': describedBy || undefined,
    },
  };
}

interface FrameProps {
  id: string;
  errors: string[];
  label: string;
  hint?: string | undefined;
  optional?: boolean | undefined;
  children: ComponentChildren;
}

function Frame({ id, errors, label, hint, optional, children }: FrameProps) {
  return (
    <div class="field">
      <Label id={id} label={label} optional={optional} />
      {children}
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      <ErrorTexts id={`${id}-error`} errors={errors} />
    </div>
  );
}

function Label({ id, label, optional }: { id: string; label: string; optional?: boolean | undefined }) {
  const { t } = useLanguage();
  return (
    <label for={id}>
      {label} {optional && <span class="optional">{t.common.optional}</span>}
    </label>
  );
}

/** What is wrong with a field; its input refers to it by `aria-describedby`. */
export function ErrorTexts({ id, errors }: { id: string; errors: string[] }) {
  if (errors.length === 0) return null;
  return (
    <p class="field-error" id={id}>
      {errors.join(' ')}
    </p>
  );
}
