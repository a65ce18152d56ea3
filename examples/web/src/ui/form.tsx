import { type ApiError, isApiError } from '@dure/client';
import { useMutation } from '@tanstack/react-query';
import type { FormEvent, ReactNode } from 'react';
import { createContext, useContext, useEffect, useLayoutEffect, useRef } from 'react';
import { t } from '../text.ts';
import { describeError, isCancelled } from './errors.ts';

/** What the service found wrong: texts by field name, or by JSON pointer for a value inside a field. */
const FieldErrors = createContext<ApiError['fields']>({});

type Read = (name: string) => string;

export interface FormProps {
  /** Sends what was entered. What it throws is shown: at the fields that the service names, and above the button. */
  onSubmit: (read: Read, data: FormData) => Promise<unknown>;
  submitLabel: string;
  danger?: boolean;
  /** Names what is entered, which this tab keeps until it is sent: a reload or a wrong tap loses nothing. */
  draft?: string;
  children?: ReactNode;
  /** Further buttons in the row of the submit button. */
  actions?: ReactNode;
}

/** A form that leaves checking to the service, so that its rules and texts exist once. */
export function Form({ onSubmit, submitLabel, danger, draft, children, actions }: FormProps) {
  const form = useRef<HTMLFormElement>(null);
  const { mutate, isPending, isPaused, error } = useMutation({
    mutationFn: (data: FormData) => onSubmit((name) => String(data.get(name) ?? ''), data),
    onSuccess: () => draft && sessionStorage.removeItem(draftKey(draft)),
  });
  useEffect(() => {
    if (error) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [error]);
  // Before it is shown, so that nothing is typed in between.
  useLayoutEffect(() => {
    if (draft && form.current) restore(form.current, draft);
  }, [draft]);

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    if (!isPending) mutate(new FormData(event.currentTarget));
  }

  return (
    <form
      ref={form}
      className="stack"
      noValidate
      onSubmit={submit}
      onInput={(event) => draft && keep(event.currentTarget, draft)}
    >
      <FieldErrors.Provider value={isApiError(error) ? error.fields : {}}>{children}</FieldErrors.Provider>
      <div className="form-alert" role="alert">
        {error && !isCancelled(error) && <p className="note error">{describeError(error)}</p>}
        {isPaused && (
          <p className="note warn">
            {t('인터넷에 연결되면 바로 보냅니다.', 'Sent as soon as you are online again.')}
          </p>
        )}
      </div>
      <div className="row">
        <button type="submit" className={`button ${danger ? 'danger' : 'primary'}`} aria-disabled={isPending}>
          {isPending ? t('보내는 중…', 'Sending…') : submitLabel}
        </button>
        {actions}
      </div>
    </form>
  );
}

const draftKey = (draft: string) => `dure.draft.${draft}`;

/** Passwords are not kept. */
function keep(form: HTMLFormElement, draft: string): void {
  const entries = [...new FormData(form)].filter(
    ([name, value]) => !name.includes('password') && typeof value === 'string',
  );
  sessionStorage.setItem(draftKey(draft), JSON.stringify(entries));
}

function restore(form: HTMLFormElement, draft: string): void {
  const entries: [string, string][] = JSON.parse(sessionStorage.getItem(draftKey(draft)) ?? '[]');
  if (entries.length === 0) return;
  for (const field of form.elements) {
    if (!(field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement)) continue;
    const kept = entries.filter(([name]) => name === field.name).map(([, value]) => value);
    if ('checked' in field && field.type === 'checkbox') field.checked = kept.includes(field.value);
    else if (kept[0] !== undefined) field.value = kept[0];
  }
}

/** The texts for a field of the form around, with those of the values inside it. */
export function useFieldErrors(name: string): string[] {
  return Object.entries(useContext(FieldErrors)).flatMap(([field, texts]) =>
    field === name || field.startsWith(`/${name}/`) ? (texts ?? []) : [],
  );
}
