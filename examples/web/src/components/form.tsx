import { isApiError } from '@dure/client';
import { type ComponentChildren, createContext } from 'preact';
import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import { useLanguage } from '../texts/language.tsx';
import { describeError, isCancelled } from './states.tsx';

/** What the service found wrong: texts by field name, or by JSON pointer for a value inside a field. */
type FieldErrors = Readonly<Record<string, readonly string[]>>;

const Context = createContext<FieldErrors>({});

interface FormProps {
  /** Sends what was entered. What it throws is shown: at the fields that the service names, and above the button. */
  onSubmit: (read: (name: string) => string, data: FormData) => Promise<void>;
  submitLabel: string;
  danger?: boolean;
  children?: ComponentChildren;
  /** Further buttons in the row of the submit button. */
  actions?: ComponentChildren;
}

/** A form that leaves checking to the service, so that its rules and texts exist once. */
export function Form({ onSubmit, submitLabel, danger, children, actions }: FormProps) {
  const { t } = useLanguage();
  const [failure, setFailure] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const fields = isApiError(failure) ? failure.fields : {};

  useEffect(() => {
    if (failure !== undefined) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [failure]);

  async function submit(event: SubmitEvent) {
    event.preventDefault();
    if (isBusy || form.current === null) return;
    const data = new FormData(form.current);
    setBusy(true);
    setFailure(undefined);
    try {
      await onSubmit((name) => String(data.get(name) ?? ''), data);
    } catch (error) {
      if (!isCancelled(error)) setFailure(error);
    } finally {
      setBusy(false);
    }
  }

  return (
    <form ref={form} class="stack" noValidate onSubmit={submit}>
      <Context.Provider value={fields}>{children}</Context.Provider>
      <div class="form-alert" role="alert">
        {failure !== undefined && <p class="note error">{describeError(failure, t)}</p>}
      </div>
      <div class="row">
        <button type="submit" class={`button ${danger ? 'danger' : 'primary'}`} aria-disabled={isBusy}>
          {isBusy ? t.common.sending : submitLabel}
        </button>
        {actions}
      </div>
    </form>
  );
}

/** The texts for a field of the form around, with those of the values inside it. */
export function useFieldErrors(name: string): string[] {
  const errors = useContext(Context);
  return Object.entries(errors).flatMap(([field, texts]) =>
    field === name || field.startsWith(`/${name}/`) ? texts : [],
  );
}

/** The texts for one value inside a field. */
export function useItemErrors(name: string, key: number | string): readonly string[] {
  return useContext(Context)[`/${name}/${key}`] ?? [];
}
