import { newIdempotencyKey } from '@dure/client';
import { useLayoutEffect, useRef, useState } from 'react';
import { type DefaultValues, type FieldValues, type Path, type PathValue, useForm } from 'react-hook-form';
import { dure } from '../api.ts';
import { draftKey, keepDraft, readDraft } from './draft.ts';
import type { FormProps } from './form.tsx';

type Named = Record<string, unknown>;

const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/**
 * Keeps what is typed as a draft, and merges it with what was saved elsewhere in the meantime: entries that were not touched follow
 * it, and those that were changed in both places become conflicts, for the user to choose.
 */
export function useEntries<Values extends FieldValues>({ values: saved, version, draft }: FormProps<Values>) {
  const user = useRef(dure.userId()).current;
  const key = draft && draftKey(user, draft);
  const now: Named = saved ?? {};
  const revision =
    version ?? JSON.stringify(now, (name, value) => (name.includes('password') ? undefined : value));
  const [kept] = useState(() => (key ? readDraft(key) : undefined));
  const form = useForm<Values>({ defaultValues: { ...now, ...kept?.values } as DefaultValues<Values> });
  const attempt = useRef(kept?.attempt ?? newIdempotencyKey());
  /** What the entries began from. */
  const base = useRef({ revision: kept?.revision ?? revision, values: { ...now, ...kept?.was } });
  /** What was changed here and elsewhere. */
  const [conflicts, setConflicts] = useState<{ name: string; own: unknown; now: unknown }[]>([]);

  const set = (name: string, value: unknown) =>
    form.setValue(name as Path<Values>, value as PathValue<Values, Path<Values>>);
  const own = (): Named => form.getValues();

  function keep() {
    // After a sign-out, nothing is kept for an account that has left.
    if (!key || dure.userId() !== user) return;
    const entries = own();
    const { revision, values } = base.current;
    const isChanged = (name: string) => !name.includes('password') && !same(entries[name], values[name]);
    const changed = Object.keys(now).filter(isChanged);
    const pick = (from: Named) => Object.fromEntries(changed.map((name) => [name, from[name]]));
    const draft = { revision, attempt: attempt.current, values: pick(entries), was: pick(values) };
    keepDraft(key, changed.length > 0 ? draft : undefined);
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
    for (const [name, value] of Object.entries(own())) {
      const [before, current] = [base.current.values[name], now[name]];
      const isOwn = !same(before, value);
      if (isOwn && !same(before, current) && !same(value, current)) {
        found.push({ name, own: value, now: current });
      } else {
        base.current.values[name] = current;
        if (!isOwn) set(name, current);
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
      for (const { name, now } of conflicts) set(name, now);
      accept();
    },
    /** For `If-Match`, where what is saved has an `ETag`. */
    version: () => version && base.current.revision,
    attempt: () => attempt.current,
    beginAttempt() {
      attempt.current = newIdempotencyKey();
      keep();
    },
    forget() {
      attempt.current = newIdempotencyKey();
      for (const name of Object.keys(own())) if (name.includes('password')) set(name, '');
      base.current = { ...base.current, values: { ...own() } };
      if (key) keepDraft(key, undefined);
    },
  };
}
