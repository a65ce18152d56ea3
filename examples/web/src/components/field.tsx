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

type CommonAttributes =
  | 'autocomplete'
  | 'autocapitalize'
  | 'spellcheck'
  | 'maxLength'
  | 'placeholder'
  | 'defaultValue';
type PasswordProps = FieldTexts & Pick<InputHTMLAttributes<HTMLInputElement>, CommonAttributes>;
type TextAreaProps = FieldTexts & Pick<TextareaHTMLAttributes<HTMLTextAreaElement>, CommonAttributes>;

/** Preact's types tell inputs apart by their `type`, which therefore comes as an object for each. */
const kinds = {
  text: { type: 'text' },
  email: { type: 'email' },
  tel: { type: 'tel' },
  date: { type: 'date' },
  time: { type: 'time' },
  password: { type: 'password' },
} as const;

interface InputProps extends PasswordProps {
  type?: Exclude<keyof typeof kinds, 'password'>;
  inputMode?: 'numeric';
  class?: string;
}

/** One line of text. */
export function TextField({
  name,
  label,
  hint,
  optional,
  type = 'text',
  class: className = 'input',
  ...input
}: InputProps) {
  const field = useField(name, hint);
  return (
    <Frame {...field} label={label} hint={hint} optional={optional}>
      <input
        class={className}
        {...kinds[type]}
        name={name}
        {...field.input}
        required={!optional}
        {...input}
      />
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

type CheckboxAttributes = 'value' | 'defaultChecked' | 'lang' | 'aria-invalid' | 'aria-describedby';
type CheckboxProps = Pick<FieldTexts, 'name' | 'label'> &
  Pick<InputHTMLAttributes<HTMLInputElement>, CheckboxAttributes>;

/** One choice of a form. */
export function Checkbox({ label, lang, ...input }: CheckboxProps) {
  return (
    <label class="choice" lang={lang}>
      <input type="checkbox" {...input} />
      {label}
    </label>
  );
}

/** Six digits, of an email or of an authenticator app. */
export function CodeField({ hint }: { hint?: string }) {
  const { t } = useLanguage();
  return (
    <TextField
      name="code"
      class="input code"
      label={t.code.label}
      hint={hint}
      inputMode="numeric"
      autocomplete="one-time-code"
      maxLength={6}
    />
  );
}

/** A password with a button that shows it: on phones, hidden typing is the most frequent reason for a failed login. */
export function PasswordField({ name, label, hint, ...input }: PasswordProps) {
  const { t } = useLanguage();
  const field = useField(name, hint);
  const [isShown, setShown] = useState(false);
  return (
    <Frame {...field} label={label} hint={hint}>
      <div class="input-row">
        <input
          class="input"
          {...kinds[isShown ? 'text' : 'password']}
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
    input: { id, 'aria-invalid': errors.length > 0, 'aria-describedby': describedBy || undefined },
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
export function ErrorTexts({ id, errors }: { id: string; errors: readonly string[] }) {
  if (errors.length === 0) return null;
  return (
    <p class="field-error" id={id}>
      {errors.join(' ')}
    </p>
  );
}
