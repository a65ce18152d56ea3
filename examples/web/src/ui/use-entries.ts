import { newIdempotencyKey } from '@dure/client';
import { useLayoutEffect, useRef, useState } from 'react';
import { type FieldValues, useForm } from 'react-hook-form';
import { dure } from '../api.ts';
import { draftKey, keepDraft, readDraft, textOf } from './draft.ts';
import type { FormProps } from './form.tsx';

const same = (one: unknown, other: unknown) => textOf(one) === textOf(other);

/**
 * Keeps what is typed as a draft, and merges it with what was saved elsewhere in the meantime: entries that were not touched follow
 * it, and those that were changed in both places become conflicts, for the user to choose.
 */
export function useEntries({ values: now = {}, version, draft }: Omit<FormProps, 'onSubmit'>) {
  const user = useRef(dure.userId()).current;
  const key = draft && draftKey(user, draft);
  const revision = version ?? textOf(now);
  const [kept] = useState(() => (key ? readDraft(key) : undefined));
  const form = useForm<FieldValues>({ defaultValues: { ...now, ...kept?.values } });
  const attempt = useRef(kept?.attempt ?? newIdempotencyKey());
  /** What the entries began from. */
  const base = useRef({ revision: kept?.revision ?? revision, values: { ...now, ...kept?.was } });
  /** What was changed here and elsewhere. */
  const [conflicts, setConflicts] = useState<{ name: string; own: unknown; now: unknown }[]>([]);

  function keep() {
    // After a sign-out, nothing is kept for an account that has left.
    if (!key || dure.userId() !== user) return;
    const { revision, values: was } = base.current;
    const draft = { revision, attempt: attempt.current, values: form.getValues(), was };
    keepDraft(key, same(draft.values, was) ? undefined : draft);
  }

  function accept() {
    base.current = { revision, values: { ...now } };
    setConflicts([]);
    keep();
  }

  // Before it is shown, so that nothing is typed in between.
  useLayoutEffect(() => {
    if (revision === base.current.revision) return;
    const found: typeof conflicts = [];
    for (const [name, value] of Object.entries(form.getValues())) {
      const [before, current] = [base.current.values[name], now[name]];
      const isOwn = !same(before, value);
      if (isOwn && !same(before, current) && !same(value, current)) {
        found.push({ name, own: value, now: current });
      } else {
        base.current.values[name] = current;
        if (!isOwn) form.setValue(name, current);
      }
    }
    if (found.length > 0) setConflicts(found);
    else accept();
  }, [revision]);
  useLayoutEffect(() => form.subscribe({ formState: { values: true }, callback: keep }));

  return {
    form,
    conflicts,
    keepOwn: accept,
    takeCurrent() {
      for (const { name, now } of conflicts) form.setValue(name, now);
      accept();
    },
    /** `If-Match` is for what has an `ETag`. */
    callOptions: () => ({ idempotencyKey: attempt.current, ifMatch: version && base.current.revision }),
    beginAttempt() {
      attempt.current = newIdempotencyKey();
      keep();
    },
    forget() {
      attempt.current = newIdempotencyKey();
      base.current = { ...base.current, values: { ...form.getValues() } };
      keep();
    },
  };
}
