import type { Caller } from '../caller.ts';
import { countUnreadNotifications, listNotifications } from '../generated/operations.ts';
import { items } from '../pages.ts';
import { resultOf } from '../responses.ts';
import { pause } from '../retries.ts';
import type { Notification, SourceOptions } from './types.ts';

/**
 * Asks for the count of unread notifications repeatedly, and for notifications when it has changed.
 *
 * @param options with the milliseconds after which it ends; 0: after one poll
 * @returns whether all polls worked; the first that does not ends it
 */
export async function pollNotifications(options: SourceOptions & { pollFor: number }): Promise<boolean> {
  const { caller, times, signal, emit } = options;
  let { lastId } = options;
  let entityTag: string | undefined;
  for (const end = Date.now() + options.pollFor; !signal.aborted; ) {
    try {
      const headers = entityTag === undefined ? {} : { 'If-None-Match': entityTag };
      const response = await caller.exchange(countUnreadNotifications, {}, { headers, signal });
      if (response.status !== 304) {
        const { data, headers: received } = resultOf(countUnreadNotifications, response);
        lastId = await emitNew(options, lastId);
        emit({ type: 'unread_count', unread_count: data.unread_count });
        // Only now: what failed in between is read again.
        entityTag = received.get('etag') ?? undefined;
      }
      if (options.pollFor > 0) emit({ type: 'status', status: 'polling' });
    } catch {
      emit({ type: 'status', status: 'connecting' });
      return false;
    }
    if (Date.now() >= end) break;
    await pause(times.poll, signal);
  }
  return true;
}

/** @returns the id of the newest notification */
async function emitNew({ caller, signal, emit }: SourceOptions, lastId: number | undefined): Promise<number> {
  if (lastId === undefined) {
    const { data } = await caller.request(listNotifications, { limit: 1 }, { signal });
    const id = data.items[0]?.id ?? 0;
    emit({ type: 'position', id });
    return id;
  }
  let after = lastId;
  for (const notification of await notificationsAfter(caller, lastId, signal)) {
    emit({ type: 'notification', notification, after });
    after = notification.id;
  }
  return after;
}

/** Notifications that are newer than one, oldest first. */
export async function notificationsAfter(
  caller: Caller,
  id: number,
  signal: AbortSignal,
): Promise<Notification[]> {
  const list = (input: { cursor?: string | undefined; limit?: number } = {}) =>
    caller.request(listNotifications, input, { signal }).then(({ data }) => data);
  const found: Notification[] = [];
  for await (const notification of items(list, { limit: 50 })) {
    if (notification.id <= id) break;
    found.unshift(notification);
  }
  return found;
}
