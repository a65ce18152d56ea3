import type { AuthChange } from '@dure/client';
import { dure } from '../api.ts';
import { ifAllowed } from '../storage.ts';

/** In `localStorage`: the account that has switched push messages on in this browser. */
const wantedKey = 'dure.push-for';

/** What the button of the alerts does. */
export async function switchPush(isOn: boolean): Promise<void> {
  if (isOn) {
    ifAllowed(() => localStorage.removeItem(wantedKey));
    return dure.push.unsubscribe();
  }
  await dure.push.subscribe('/push-worker.js');
  ifAllowed(() => localStorage.setItem(wantedKey, String(dure.userId())));
}

/**
 * Ends push messages of an account that is no longer signed in here, and begins them again when the account that had them is signed
 * in again. Every tab learns of a login: one after the other, so that the second one finds what the first one has done.
 */
export function followPush({ event, userId }: AuthChange): void {
  if (event === 'token_refreshed' || event === 'user_updated') return;
  void navigator.locks?.request(wantedKey, () => adjust(event, userId)).catch(() => undefined);
}

async function adjust(event: AuthChange['event'], userId: number | null): Promise<void> {
  // Browsers pass a change of `localStorage` on to other tabs later than a lock.
  await new Promise((resolve) => setTimeout(resolve, 200));
  // Another account may be signed in by now, which has an event of its own.
  if (userId !== dure.userId() || (await dure.push.status()) === 'on') return;
  await dure.push.unsubscribe().catch(() => undefined);
  const isBack = ifAllowed(() => localStorage.getItem(wantedKey)) === String(userId);
  if (event !== 'signed_in' || !isBack || Notification.permission !== 'granted') return;
  await dure.push.subscribe('/push-worker.js');
}
