import {
  type InputHTMLAttributes,
  type ReactNode,
  type TextareaHTMLAttributes,
  useId,
  useState,
} from 'react';
import { type RegisterOptions, useFormContext } from 'react-hook-form';
import { m } from '../paraglide/messages.js';
import { Button } from './button.tsx';
import { type FieldInfo, useFieldError } from './form.tsx';
import './fields.css';

interface FieldProps {
  name: string;
  label: string;
  hint?: string | undefined;
  optional?: boolean;
}

type InputProps = FieldProps & Omit<InputHTMLAttributes<HTMLInputElement>, 'name'>;

export function TextField({ className = 'input', ...props }: InputProps & { rules?: RegisterOptions }) {
  const { attributes, frame } = useField(props);
  return frame(<input className={className} {...attributes} />);
}

export function TextArea(props: FieldProps & Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, 'name'>) {
  const { attributes, frame } = useField(props);
  return frame(<textarea className="input" {...attributes} />);
}

export function Select({ children, ...props }: FieldProps & { children: ReactNode }) {
  const { attributes, frame } = useField(props);
  return frame(
    <select className="input" {...attributes}>
      {children}
    </select>,
  );
}

/** A name that is typed exactly: no capitals, no corrections. */
export function UsernameField(props: Partial<InputProps>) {
  return (
    <TextField
      name="username"
      label={m.username()}
      autoComplete="username"
      autoCapitalize="none"
      spellCheck={false}
      {...props}
    />
  );
}

/** Six digits, of an email or of an authenticator app. What is pasted may have spaces. */
export function CodeField({ hint }: { hint?: string }) {
  const { setValue } = useFormContext();
  return (
    <TextField
      name="code"
      className="input code"
      label={m.code()}
      hint={hint}
      inputMode="numeric"
      autoComplete="one-time-code"
      rules={{
        onChange: ({ target }) => setValue('code', String(target.value).replace(/\D/g, '').slice(0, 6)),
      }}
    />
  );
}

/** A password with a button that shows it: on phones, hidden typing is the most frequent reason for a failed login. */
export function PasswordField(props: Partial<InputProps> & { autoComplete: string }) {
  const label = props.label ?? m.password_2();
  const { attributes, frame } = useField({ name: 'password', ...props, label });
  const [isShown, setShown] = useState(false);
  return frame(
    <div className="input-row">
      <input
        className="input"
        {...attributes}
        type={isShown ? 'text' : 'password'}
        autoCapitalize="none"
        spellCheck={false}
      />
      <Button label={m.show()} about={label} isPressed={isShown} onClick={() => setShown(!isShown)} />
    </div>,
  );
}

/** A choice of its own, one of several with the same name, or with the type `radio` one of which only one counts. */
export function Checkbox({ label, lang, name, ...input }: Omit<InputProps, 'optional' | 'hint'>) {
  const hasErrors = useFieldError(name, { label }) !== undefined;
  const { register } = useFormContext();
  return (
    <label className="choice" lang={lang}>
      <input type="checkbox" aria-invalid={hasErrors} {...input} {...register(name)} />
      {label}
    </label>
  );
}

interface FieldsetProps {
  /** Of the field of the API, whose errors are shown. */
  name: string;
  legend: string;
  hint?: string;
  optional?: boolean;
  /** How a conflict shows its value. */
  show?: FieldInfo['show'];
  children: ReactNode;
}

/** Several inputs for one field. */
export function Fieldset({ name, legend, hint, optional, show, children }: FieldsetProps) {
  const { error, describedBy, texts } = useTexts(name, { label: legend, show }, hint);
  const { clearErrors } = useFormContext();
  return (
    <fieldset className="field" aria-describedby={describedBy} onInput={() => error && clearErrors(name)}>
      <legend>
        {legend} {optional && <span className="optional">{m.optional()}</span>}
      </legend>
      {texts.hint}
      {children}
      {texts.error}
    </fieldset>
  );
}

/** Hint and error of a field, and their ids for its `aria-describedby`. */
function useTexts(name: string, info: FieldInfo, hint: string | undefined) {
  const id = useId();
  const error = useFieldError(name, info);
  const texts = {
    hint: hint && (
      <p className="hint" id={`${id}-hint`}>
        {hint}
      </p>
    ),
    error: <ErrorText id={`${id}-error`} error={error} />,
  };
  const ids = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean);
  return { id, error, texts, describedBy: ids.join(' ') || undefined };
}

/** What is wrong with a field; its input refers to it by `aria-describedby`. */
export function ErrorText({ id, error }: { id: string; error: string | undefined }) {
  if (error === undefined) return null;
  return (
    <p className="field-error" id={id}>
      {error}
    </p>
  );
}

/** Connects an input with its value, label, hint and error. */
function useField<Props extends FieldProps & { rules?: RegisterOptions }>({
  label,
  hint,
  optional,
  rules,
  name,
  ...attributes
}: Props) {
  const { id, error, describedBy, texts } = useTexts(name, { label }, hint);
  const { register } = useFormContext();
  const frame = (input: ReactNode) => (
    <div className="field">
      <label htmlFor={id}>
        {label} {optional && <span className="optional">{m.optional()}</span>}
      </label>
      {input}
      {texts.hint}
      {texts.error}
    </div>
  );
  const described = { 'aria-invalid': error !== undefined, 'aria-describedby': describedBy };
  return {
    attributes: { required: !optional, ...attributes, ...register(name, rules), id, ...described },
    frame,
  };
}
