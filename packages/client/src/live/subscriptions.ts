import type { Caller } from '../caller.ts';
import { pause } from '../retries.ts';
import { notificationsAfter } from './polling.ts';
import type { Notification, StreamStatus, StreamTimes } from './types.ts';

/**
 * What a subscription takes. A listener may be async; nothing waits for it. Its error stops neither the subscription nor other
 * listeners: it is an uncaught error, which a browser reports by `error` or `unhandledrejection`, and which ends Node.js unless
 * the app handles it.
 */
export interface NotificationListeners {
  /** Called for each new notification, once and in order. */
  onNotification?(notification: Notification): unknown;
  /** Called with the number of unread notifications at the start and whenever it changes. */
  onUnreadCount?(count: { unread_count: number }): unknown;
  /** Called at the start and whenever the status changes; not after the subscription was ended. */
  onStatus?(status: StreamStatus): unknown;
  /**
   * `id` of the newest notification that the app has already, 0 for all there are: this subscription reads what came after it.
   * Without it, the subscription reports what comes from the status `open` or `polling` on.
   */
  after?: number | undefined;
}

/** One call of `subscribe`. */
export interface Subscription {
  listeners: NotificationListeners;
  /** Whose notifications `position` is about; null until the first sign-in. */
  userId: number | null;
  /** The id of the newest notification that it has, as far as known. */
  position: number | undefined;
  /** It has to read what came after `position` before it takes what comes. */
  isBehind: boolean;
  /** The run in which it reads. */
  reading: AbortSignal | undefined;
}

/** The subscriptions of a client, each with a position of its own. */
interface Subscriptions {
  size(): number;
  add(listeners: NotificationListeners, userId: number | null): Subscription;
  remove(subscription: Subscription): void;
  /** Calls a listener apart from the client's own work. */
  call(subscription: Subscription, run: (listeners: NotificationListeners) => unknown): void;
  /** The same for all. */
  callAll(run: (listeners: NotificationListeners) => unknown): void;
  /** Forgets positions in the notifications of other accounts. */
  beginAccount(userId: number): void;
  /** Passes a new notification on. */
  deliver(notification: Notification): void;
  /** Lets those that are behind read, until they have what was delivered to the others. */
  catchUp(signal: AbortSignal): void;
}

/** @param newest id of the newest notification that was delivered or need not be delivered */
export function createSubscriptions(
  caller: Caller,
  times: StreamTimes,
  newest: () => number | undefined,
): Subscriptions {
  const all = new Set<Subscription>();

  function call(one: Subscription, run: (listeners: NotificationListeners) => unknown): void {
    queueMicrotask(() => (all.has(one) ? run(one.listeners) : undefined));
  }

  function pass(one: Subscription, notification: Notification): void {
    if (one.position !== undefined && notification.id <= one.position) return;
    one.position = notification.id;
    call(one, (listeners) => listeners.onNotification?.(notification));
  }

  async function read(one: Subscription, signal: AbortSignal): Promise<void> {
    one.reading = signal;
    while (one.isBehind && all.has(one) && !signal.aborted) {
      const until = newest() ?? 0;
      const { position = until } = one;
      try {
        const missed = position < until ? await notificationsAfter(caller, position, signal) : [];
        if (signal.aborted) return;
        for (const notification of missed) pass(one, notification);
        // Deleted notifications may have been the newest.
        one.position = Math.max(one.position ?? 0, until);
        one.isBehind = one.position < (newest() ?? 0);
      } catch {
        await pause(times.firstDelay, signal);
      }
    }
  }

  return {
    size: () => all.size,
    add(listeners, userId) {
      const { after } = listeners;
      const one = { listeners, userId, position: after, isBehind: after !== undefined, reading: undefined };
      all.add(one);
      return one;
    },
    remove: (one) => void all.delete(one),
    call,
    callAll(run) {
      for (const one of all) call(one, run);
    },
    beginAccount(userId) {
      for (const one of all) {
        if (one.userId !== null && one.userId !== userId) {
          one.position = undefined;
          one.isBehind = false;
        }
        one.userId = userId;
      }
    },
    deliver(notification) {
      for (const one of all) if (!one.isBehind) pass(one, notification);
    },
    catchUp(signal) {
      if (newest() === undefined) return;
      for (const one of all) if (one.isBehind && one.reading !== signal) void read(one, signal);
    },
  };
}
