import { type CallOptions, isApiError } from '@dure/client';
import { useMutation } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext, useEffect, useRef } from 'react';
import { type FieldValues, FormProvider, get, type Path, useFormContext } from 'react-hook-form';
import { dure } from '../api.ts';
import { m } from '../paraglide/messages.js';
import { Button } from './button.tsx';
import { describeError, isCancelled, labelErrors, showError } from './errors.ts';
import { useEntries } from './use-entries.ts';
import './form.css';

/** What a conflict calls a field, and how it shows its value. */
export interface FieldInfo {
  label: string;
  show?: ((value: unknown) => ReactNode) | undefined;
}

/** The fields that a form shows, by name: only these can be marked. */
const Fields = createContext<Map<string, FieldInfo>>(new Map());

export interface FormProps<Values extends FieldValues = FieldValues> {
  /** What the fields have at first: what is saved, or nothing. */
  values?: Values;
  /** Of what is saved, where it has one. When it changes, what is saved and what was typed are merged. */
  version?: string | undefined;
  /** Names what is entered, which this tab keeps for the account until it is sent: a reload or a wrong tap loses nothing. */
  draft?: string | undefined;
  /** Sends what was entered. What it throws is shown: at the fields that the service names, and above the button. */
  onSubmit: (values: Values, call: CallOptions) => Promise<unknown>;
  /** Of an attempt before, whose fields are marked at once. */
  error?: unknown;
  submitLabel: string;
  danger?: boolean;
  children?: ReactNode;
  actions?: ReactNode;
}

/** A form that leaves checking to the service, so that its rules and texts exist once. */
export function Form<Values extends FieldValues>(props: FormProps<Values>) {
  const { onSubmit, submitLabel, danger, children, actions, error: before } = props;
  const element = useRef<HTMLFormElement>(null);
  const fields = useRef(new Map<string, FieldInfo>()).current;
  const { form, ...entries } = useEntries(props);
  const focused = useRef<Element | null>(null);
  const isClosed = () => element.current === null;

  const { mutate, isIdle, isPending, isPaused, error } = useMutation({
    mutationFn: ({ values, userId }: { values: Values; userId: number | null }) => {
      // What has waited for the network is not sent for another account, nor once its form was closed.
      if (dure.userId() !== userId || isClosed()) throw new DOMException('not any more', 'AbortError');
      return onSubmit(values, { idempotencyKey: entries.attempt(), ifMatch: entries.version() });
    },
    onSuccess: entries.forget,
    onError(error) {
      // The key stays: without an answer, it may have been done, and after another error the service has freed it.
      if (isApiError(error) && error.code === 'idempotency_conflict') entries.beginAttempt();
      if (isClosed() && !isCancelled(error)) showError(error);
    },
  });

  const shown = isIdle ? before : error;
  useEffect(() => {
    if (!shown) return;
    const { byField } = labelErrors(shown, [...fields.keys()]);
    for (const [name, message] of Object.entries(byField)) form.setError(name as Path<Values>, { message });
    // To the first field that is wrong, else back to where it was: what is disabled loses the focus.
    const wrong = Object.keys(byField).map((name) => `[name="${name}"]`);
    const first = wrong.length > 0 && element.current?.querySelector(wrong.join());
    const target = first || (document.activeElement === document.body && focused.current);
    if (target instanceof HTMLElement) target.focus();
  }, [shown]);

  function submit(values: Values) {
    if (isPending || entries.conflicts.length > 0) return;
    focused.current = document.activeElement;
    mutate({ values, userId: dure.userId() });
  }

  return (
    <FormProvider {...form}>
      <Fields.Provider value={fields}>
        <form
          ref={element}
          className="stack"
          noValidate
          onSubmit={(event) => {
            event.preventDefault();
            form.clearErrors();
            void form.handleSubmit(submit)();
          }}>
          <fieldset className="stack" disabled={isPending}>
            {children}
          </fieldset>
          <Conflict {...entries} fields={fields} />
          <div className="form-alert" role="alert">
            {shown != null && !isCancelled(shown) && <Alert error={shown} fields={fields} />}
            {isPaused && <p className="note warn">{m.sent_as_soon_as_you()}</p>}
          </div>
          <div className="row">
            <button
              type="submit"
              className={`button ${danger ? 'danger' : 'primary'}`}
              aria-busy={isPending}
              aria-disabled={isPending || entries.conflicts.length > 0}>
              {submitLabel}
              {isPending && <span className="visually-hidden"> {m.working()}</span>}
            </button>
            {actions}
          </div>
        </form>
      </Fields.Provider>
    </FormProvider>
  );
}

/** What went wrong, until the marked fields are corrected. */
function Alert({ error, fields }: { error: unknown; fields: Map<string, FieldInfo> }) {
  const { errors } = useFormContext().formState;
  const { byField, others } = labelErrors(error, [...fields.keys()]);
  const marked = Object.keys(byField);
  if (marked.length === 0) return <p className="note error">{describeError(error)}</p>;
  if (others.length === 0 && !marked.some((name) => get(errors, name))) return null;
  return <p className="note error">{[m.check_what_is_marked_in(), ...others].join(' ')}</p>;
}

/** Tells the form around that it shows a field. @returns what is wrong with it */
export function useFieldError(name: string, info: FieldInfo): string | undefined {
  const fields = useContext(Fields);
  fields.set(name, info);
  useEffect(() => () => void fields.delete(name), [fields, name]);
  const error: { message?: string } | undefined = get(useFormContext().formState.errors, name);
  return error?.message;
}

type ConflictProps = Pick<ReturnType<typeof useEntries>, 'conflicts' | 'keepOwn' | 'takeCurrent'> & {
  fields: Map<string, FieldInfo>;
};

/** What was typed beside what was saved elsewhere in the meantime, to choose from. */
function Conflict({ conflicts, fields, keepOwn, takeCurrent }: ConflictProps) {
  if (conflicts.length === 0) return null;
  return (
    <section className="note warn stack" role="alert">
      <p>{m.this_was_changed_elsewhere_in()}</p>
      {conflicts.map(({ name, own, now }) => {
        const { label, show = defaultShow } = fields.get(name) ?? { label: name };
        const versions: [string, unknown][] = [
          [m.what_you_wrote({ label }), own],
          [m.what_is_saved_now({ label }), now],
        ];
        return (
          <div className="versions" key={name}>
            {versions.map(([title, value]) => (
              <div key={title}>
                <p className="small">
                  <strong>{title}</strong>
                </p>
                <div className="pre-line">{show(value) || m.empty()}</div>
              </div>
            ))}
          </div>
        );
      })}
      <div className="row">
        <Button label={m.go_on_with_mine()} onClick={keepOwn} />
        <Button label={m.take_what_is_saved()} onClick={takeCurrent} />
      </div>
    </section>
  );
}

function defaultShow(value: unknown): ReactNode {
  if (typeof value === 'boolean') return value ? m.yes() : m.no();
  return typeof value === 'string' ? value : null;
}
