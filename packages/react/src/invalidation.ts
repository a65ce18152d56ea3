import type { Client, Notification, OperationId } from '@dure/client';
import type { QueryClient } from '@tanstack/react-query';

/** Whether what an operation has read may have changed. */
export type Touches = (operation: string) => boolean;

const matching =
  (names: RegExp): Touches =>
  (operation) =>
    names.test(operation);

/** What no user changes. */
const fixed = matching(/Categories$|^listConsents$|Providers$|Key|Issuer$|ness$/);
const notifications = matching(/Notifications$/);
/** Posts say whether they were answered. */
const partnerships = matching(/Notifications$|Partner|Post|MyPage$/);
const matches = matching(/Notifications$|SavedSearches$|^listPosts$/);

/** Everything but what no user changes. */
export const touchesAll: Touches = (operation) => !fixed(operation);

/** What a notification touches; without one, their number has changed. */
export function touchedByNotification(notification?: Notification): Touches {
  if (notification === undefined) return notifications;
  return 'partner_request' in notification ? partnerships : matches;
}

/** What a change touches. */
export function touchedBy(operation: OperationId): Touches {
  if (operation === 'markNotificationsRead') return notifications;
  if (/PartnerRequest$/.test(operation)) return partnerships;
  return touchesAll;
}

/**
 * Reads again what is shown to the account that is signed in now: right after a login, the hooks still show what is about to be removed.
 *
 * @param touches all other queries stay as they are
 */
export function invalidate(queries: QueryClient, client: Client, touches: Touches): void {
  const shown = {
    queryKey: ['dure', client.userId()],
    predicate: ({ queryKey }: { queryKey: readonly unknown[] }) => touches(String(queryKey[2])),
  };
  // TanStack Query would keep the answer to a first read that began before the change.
  void queries.cancelQueries(shown).then(() => queries.invalidateQueries(shown));
}
