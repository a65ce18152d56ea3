import type { AuthChange } from '@dure/client';
import { ifAllowed } from '../storage.ts';

/** What was typed into a form and not sent yet, in this tab. */
export interface Draft {
  /** Which version of the saved object was edited: its `ETag`, or what it said. */
  revision: string;
  /** The idempotency key of the next attempt: after a lost answer and a reload, it is still the same attempt. */
  attempt: string;
  /** The entries that differ from what was saved, and what was saved there. */
  values: Record<string, unknown>;
  was: Record<string, unknown>;
}

const prefix = 'dure.draft.';

/** Where a form of an account is kept, so that no other account of this tab sees it. The sign-up has no account yet. */
export const draftKey = (userId: number | null, form: string) => `${prefix}${userId ?? 'guest'}.${form}`;

export function readDraft(key: string): Draft | undefined {
  return ifAllowed(() => JSON.parse(sessionStorage.getItem(key) ?? 'null')) ?? undefined;
}

/** @param draft undefined: there is nothing to keep */
export function keepDraft(key: string, draft: Draft | undefined): void {
  const text = JSON.stringify(draft);
  ifAllowed(() => (text ? sessionStorage.setItem(key, text) : sessionStorage.removeItem(key)));
}

/** What was typed stays for the account whose session has expired, and for no other one. */
export function forgetDrafts({ userId, reason = 'expired' }: AuthChange): void {
  const hasLeft = ['logged_out', 'account_deleted', 'elsewhere'].includes(reason);
  for (const key of ifAllowed(() => Object.keys(sessionStorage)) ?? []) {
    const isOwn = userId === null ? !hasLeft : key.startsWith(draftKey(userId, ''));
    if (key.startsWith(prefix) && !isOwn) sessionStorage.removeItem(key);
  }
}
