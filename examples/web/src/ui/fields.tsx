import { type InputHTMLAttributes, type ReactNode, useId, useState } from 'react';
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
  rules?: RegisterOptions;
}

type InputProps = FieldProps & Omit<InputHTMLAttributes<HTMLInputElement>, 'name'>;

export function TextField({ className = 'input', ...props }: InputProps) {
  const { attributes, frame } = useField(props);
  return frame(<input className={className} {...attributes} />);
}

export function TextArea(props: FieldProps & { maxLength: number }) {
  const { attributes, frame } = useField(props);
  return frame(<textarea className="input" {...attributes} />);
}

export function Select(props: FieldProps & { children: ReactNode }) {
  const { attributes, frame } = useField(props);
  return frame(<select className="input" {...attributes} />);
}

/** A name that is typed exactly: no capitals, no corrections. */
export function UsernameField(props: Partial<InputProps>) {
  const texts = { name: 'username', label: m.username(), autoComplete: 'username' };
  return <TextField {...texts} autoCapitalize="none" spellCheck={false} {...props} />;
}

export function EmailField(props: Partial<InputProps>) {
  return <TextField name="email" type="email" label={m.email()} autoComplete="email" {...props} />;
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
export function Checkbox({ label, name, ...input }: Omit<InputProps, 'optional' | 'hint' | 'rules'>) {
  const hasErrors = useFieldError(name, { label }) !== undefined;
  return (
    <label className="choice">
      <input type="checkbox" aria-invalid={hasErrors} {...input} {...useFormContext().register(name)} />
      {label}
    </label>
  );
}

interface FieldsetProps extends Omit<FieldProps, 'rules'> {
  show?: FieldInfo['show'];
  children: ReactNode;
}

/** Several inputs for one field of the API, whose errors are shown. */
export function Fieldset({ children, ...props }: FieldsetProps) {
  const { error, describedBy, label, hint, errorText } = useTexts(props);
  const { clearErrors } = useFormContext();
  const onInput = () => error && clearErrors(props.name);
  return (
    <fieldset className="field" aria-describedby={describedBy} onInput={onInput}>
      <legend>{label}</legend>
      {hint}
      {children}
      {errorText}
    </fieldset>
  );
}

/** The texts of a field, and the ids of its hint and its error for its `aria-describedby`. */
function useTexts({ name, label, hint, optional, show }: Omit<FieldsetProps, 'children'>) {
  const id = useId();
  const error = useFieldError(name, { label, show });
  const [hintId, errorId] = [`${id}-hint`, `${id}-error`];
  return {
    id,
    error,
    describedBy: [hint && hintId, error && errorId].filter(Boolean).join(' ') || undefined,
    label: (
      <>
        {label} {optional && <span className="optional">{m.optional()}</span>}
      </>
    ),
    hint: hint && (
      <p className="hint" id={hintId}>
        {hint}
      </p>
    ),
    errorText: <ErrorText id={errorId} error={error} />,
  };
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
function useField<Props extends FieldProps>(props: Props) {
  const { label: _, hint: __, optional, rules, name, ...attributes } = props;
  const { id, error, describedBy, label, hint, errorText } = useTexts(props);
  const { register } = useFormContext();
  const described = { 'aria-invalid': error !== undefined, 'aria-describedby': describedBy };
  return {
    attributes: { required: !optional, ...attributes, ...register(name, rules), id, ...described },
    frame: (input: ReactNode) => (
      <div className="field">
        <label htmlFor={id}>{label}</label>
        {input}
        {hint}
        {errorText}
      </div>
    ),
  };
}
