import {
  type InputHTMLAttributes,
  type ReactNode,
  type TextareaHTMLAttributes,
  useId,
  useState,
} from 'react';
import { t } from '../text.ts';
import { Button } from './button.tsx';
import { useFieldErrors } from './form.tsx';

interface FieldProps {
  name: string;
  label: string;
  hint?: string | undefined;
  optional?: boolean;
}

type InputProps = FieldProps & Omit<InputHTMLAttributes<HTMLInputElement>, 'name'>;

export function TextField({ className = 'input', ...props }: InputProps) {
  const { attributes, frame } = useField(props);
  return frame(<input className={className} {...attributes} />);
}

export function TextArea(props: FieldProps & Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, 'name'>) {
  const { attributes, frame } = useField(props);
  return frame(<textarea className="input" {...attributes} />);
}

/** A name that is typed exactly: no capitals, no corrections. */
export function UsernameField(props: Partial<InputProps>) {
  return (
    <TextField
      name="username"
      label={t('아이디', 'Username')}
      autoComplete="username"
      autoCapitalize="none"
      spellCheck={false}
      {...props}
    />
  );
}

/** Six digits, of an email or of an authenticator app. What is pasted may have spaces. */
export function CodeField({ hint }: { hint?: string }) {
  return (
    <TextField
      name="code"
      className="input code"
      label={t('인증번호', 'Code')}
      hint={hint}
      inputMode="numeric"
      autoComplete="one-time-code"
      onInput={({ currentTarget }) => {
        currentTarget.value = currentTarget.value.replace(/\D/g, '').slice(0, 6);
      }}
    />
  );
}

/** A password with a button that shows it: on phones, hidden typing is the most frequent reason for a failed login. */
export function PasswordField(props: Partial<InputProps> & { autoComplete: string }) {
  const label = props.label ?? t('비밀번호', 'Password');
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
      <Button
        label={t('보기', 'Show')}
        about={label}
        isPressed={isShown}
        onClick={() => setShown(!isShown)}
      />
    </div>,
  );
}

export function Checkbox({ label, lang, ...input }: Omit<InputProps, 'optional' | 'hint'>) {
  const hasErrors = useFieldErrors(input.name).length > 0;
  return (
    <label className="choice" lang={lang}>
      <input type="checkbox" aria-invalid={hasErrors} {...input} />
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
  children: ReactNode;
}

/** Several inputs for one field. */
export function Fieldset({ name, legend, hint, optional, children }: FieldsetProps) {
  const id = useId();
  const errors = useFieldErrors(name);
  return (
    <fieldset className="field" aria-describedby={`${id}-hint ${id}-error`}>
      <legend>
        {legend} {optional && <span className="optional">{t('(선택)', '(optional)')}</span>}
      </legend>
      {hint && (
        <p className="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {children}
      <ErrorTexts id={`${id}-error`} errors={errors} />
    </fieldset>
  );
}

/** What is wrong with a field; its input refers to it by `aria-describedby`. */
export function ErrorTexts({ id, errors }: { id: string; errors: readonly string[] }) {
  if (errors.length === 0) return null;
  return (
    <p className="field-error" id={id}>
      {errors.join(' ')}
    </p>
  );
}

/** Connects an input with its label, hint and errors. */
function useField<Props extends FieldProps>({ label, hint, optional, ...attributes }: Props) {
  const id = useId();
  const errors = useFieldErrors(attributes.name);
  const describedBy = [hint && `${id}-hint`, errors.length > 0 && `${id}-error`].filter(Boolean).join(' ');
  const frame = (input: ReactNode) => (
    <div className="field">
      <label htmlFor={id}>
        {label} {optional && <span className="optional">{t('(선택)', '(optional)')}</span>}
      </label>
      {input}
      {hint && (
        <p className="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      <ErrorTexts id={`${id}-error`} errors={errors} />
    </div>
  );
  const described = { 'aria-invalid': errors.length > 0, 'aria-describedby': describedBy || undefined };
  return { attributes: { required: !optional, ...attributes, id, ...described }, frame };
}
