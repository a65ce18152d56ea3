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
/** Before there is an account: the form of the sign-up. */
const nobody = 'nobody';

/** Where a form of an account is kept, so that no other account of this tab sees it. */
export function draftKey(userId: number | null, form: string): string {
  return `${prefix}${userId ?? nobody}.${form}`;
}

export function readDraft(key: string): Draft | undefined {
  return ifAllowed(() => JSON.parse(sessionStorage.getItem(key) ?? 'null')) ?? undefined;
}

/** @param draft undefined: there is nothing to keep */
export function keepDraft(key: string, draft: Draft | undefined): void {
  ifAllowed(() =>
    draft ? sessionStorage.setItem(key, JSON.stringify(draft)) : sessionStorage.removeItem(key),
  );
}

/** Removes all drafts but those of an account; all, where nobody is left to go on. */
export function forgetDraftsOfOthers(userId: number | null): void {
  const own = draftKey(userId, '');
  for (const key of ifAllowed(() => Object.keys(sessionStorage)) ?? []) {
    if (key.startsWith(prefix) && (userId === null || !key.startsWith(own))) sessionStorage.removeItem(key);
  }
}
