import {
  type ClientOptions,
  memoryStorage,
  type Notification,
  type NotificationListeners,
} from '@dure/client';
import type { Test } from 'tap';
import { atMost } from '../../../../test/support/time.ts';
import { until } from '../../../../test/support/until.ts';
import { createClient, createPair, startService } from '../clients.ts';

/** Short waits, for `streamTimes`. */
export const quick = {
  firstDelay: 20,
  errors: 3,
  longestDelay: 100,
  poll: 50,
  pollFor: atMost(400),
  firstEvent: atMost(5_000),
};

type Receiver = Awaited<ReturnType<typeof createPair>>['receiver'];

interface Subscribable {
  notifications: { subscribe(listeners: NotificationListeners): () => void };
}

/** Everything that a subscription reports, until the test ends. */
export function record(t: Test, dure: Subscribable, options: Pick<NotificationListeners, 'after'> = {}) {
  const seen: Notification[] = [];
  const ids: number[] = [];
  const counts: number[] = [];
  const statuses: string[] = [];
  const stop = dure.notifications.subscribe({
    ...options,
    onNotification(one) {
      seen.push(one);
      ids.push(one.id);
    },
    onUnreadCount: ({ unread_count }) => counts.push(unread_count),
    onStatus: (status) => statuses.push(status),
  });
  t.teardown(stop);
  return { seen, ids, counts, statuses, stop };
}

/** Ids of all notifications, oldest first. */
export async function storedIds({ dure }: Receiver): Promise<number[]> {
  const { items } = await dure.notifications.list({ limit: 100 });
  return items.map(({ id }) => id).reverse();
}

/** A service, and what opens subscriptions to it. */
export async function startLive(t: Test) {
  const service = await startService(t, { QUOTA_REQUESTS_PER_DAY: '0' }, { streamTimes: { heartbeat: 100 } });

  /** A pair of shops, and what a subscription of the receiver reports, once its stream is open. */
  async function openPair(t: Test, options: Parameters<typeof createPair>[1] = {}) {
    const pair = await createPair(service, { streamTimes: quick, ...options });
    const live = record(t, pair.receiver.dure);
    await until('a stream', () => live.statuses.includes('open'));
    return { ...pair, live };
  }

  /** The receiver's subscription through another client, once its stream is open. */
  async function openOther(t: Test, { storage }: Receiver, options: Partial<ClientOptions>) {
    const dure = createClient({
      baseUrl: service.baseUrl,
      ...options,
      storage: memoryStorage(await storage.load()),
    });
    const live = record(t, dure);
    await until('a stream', () => live.statuses.includes('open'));
    return { dure, live };
  }

  return { service, openPair, openOther };
}
