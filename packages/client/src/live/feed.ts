import { followPage } from '../between-tabs.ts';
import type { Caller } from '../caller.ts';
import { pause } from '../retries.ts';
import { notificationsAfter } from './polling.ts';
import { runSource } from './source.ts';
import { createSubscriptions, type NotificationListeners } from './subscriptions.ts';
import { joinTabs } from './tabs.ts';
import type { Notification, SourceEvent, StreamStatus, StreamTimes } from './types.ts';

/** Live notifications of a client. */
export interface NotificationFeed {
  /**
   * Begins when the user is signed in and pauses while they are not, until the returned function is called. An open subscription
   * keeps a process of Node.js running.
   *
   * @returns ends the subscription, which reports nothing any more
   */
  subscribe(listeners: NotificationListeners): () => void;
}

/** A feed, and how the client influences it. */
interface ControlledFeed extends NotificationFeed {
  /** Begins again, in another language. */
  restart(): void;
}

interface FeedOptions {
  caller: Caller;
  /** What tabs share: none, and each has a stream of its own. */
  storageName: string | undefined;
  /** Of the service and the language, so that tabs with another one do not mix. */
  scope: () => string;
  times: StreamTimes;
  transport: 'stream' | 'poll';
}

/** One source of events for all subscriptions of this tab, and for all tabs with the same account. */
export function createNotificationFeed(options: FeedOptions): ControlledFeed {
  const { caller, storageName, scope, times, transport } = options;
  const { session } = caller;
  let running: AbortController | undefined;
  let leavePage = () => {};
  let userId: number | null = null;
  /** Of the newest notification that was delivered or need not be delivered. */
  let lastId: number | undefined;
  let unreadCount: number | undefined;
  let status: StreamStatus = 'closed';
  const subscriptions = createSubscriptions(caller, times, () => lastId);

  function start(): void {
    const id = session.current()?.user_id ?? null;
    if (running || subscriptions.size() === 0 || id === null) return;
    if (id !== userId) {
      // What was known is about another account.
      lastId = undefined;
      unreadCount = undefined;
      userId = id;
    }
    subscriptions.beginAccount(id);
    running = new AbortController();
    run(id, running.signal);
  }

  function stop(): void {
    running?.abort();
    running = undefined;
    reportStatus('closed');
  }

  function reportStatus(next: StreamStatus): void {
    if (next === status) return;
    status = next;
    subscriptions.callAll(({ onStatus }) => onStatus?.(next));
  }

  function reportUnreadCount(unread_count: number): void {
    if (unread_count === unreadCount) return;
    unreadCount = unread_count;
    subscriptions.callAll(({ onUnreadCount }) => onUnreadCount?.({ unread_count }));
  }

  function run(id: number, signal: AbortSignal): void {
    let queue: Promise<void> = Promise.resolve();
    const take = (event: SourceEvent) => {
      // One after the other, because one of them may have to read what was missed.
      queue = queue.then(() => handle(event, signal));
    };
    joinTabs<SourceEvent>({
      name: storageName && `dure:${storageName}:${id}:${scope()}`,
      responseTime: times.response,
      signal,
      take,
      known,
      async lead(term, emit) {
        // What another leader has sent comes first.
        await queue;
        await runSource({ caller, userId: id, lastId, times, transport, signal: term, emit });
      },
    });
  }

  /** What a tab that comes later needs. */
  function known(): SourceEvent[] {
    return [
      ...(lastId === undefined ? [] : [{ type: 'position' as const, id: lastId }]),
      ...(unreadCount === undefined ? [] : [{ type: 'unread_count' as const, unread_count: unreadCount }]),
      { type: 'status', status },
    ];
  }

  async function handle(event: SourceEvent, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    if (event.type === 'position') {
      lastId ??= event.id;
      await catchUp(event.id, signal);
    } else if (event.type === 'notification') {
      if (event.after !== undefined) await catchUp(event.after, signal);
      deliver(event.notification, signal);
    } else if (event.type === 'unread_count') reportUnreadCount(event.unread_count);
    else reportStatus(event.status);
    subscriptions.catchUp(signal);
  }

  function deliver(notification: Notification, signal: AbortSignal): void {
    if (signal.aborted || (lastId !== undefined && notification.id <= lastId)) return;
    lastId = notification.id;
    subscriptions.deliver(notification);
  }

  /** Reads what this tab has missed, such as while it was frozen. */
  async function catchUp(until: number, signal: AbortSignal): Promise<void> {
    while (lastId !== undefined && lastId < until && !signal.aborted) {
      try {
        for (const one of await notificationsAfter(caller, lastId, signal)) deliver(one, signal);
        // Deleted notifications may have been the newest.
        if (!signal.aborted) lastId = Math.max(lastId, until);
      } catch {
        await pause(times.firstDelay, signal);
      }
    }
  }

  function restart(): void {
    if (!running) return;
    stop();
    start();
  }

  session.onChange(({ event, signedIn }) => {
    if (event !== 'signed_in' && event !== 'signed_out') return;
    stop();
    if (signedIn) start();
  });

  function subscribe(listeners: NotificationListeners): () => void {
    const own = subscriptions.add(listeners, session.current()?.user_id ?? null);
    if (subscriptions.size() === 1) leavePage = followPage(start, stop);
    if (running) {
      subscriptions.call(own, ({ onStatus }) => onStatus?.(status));
      subscriptions.call(
        own,
        ({ onUnreadCount }) => unreadCount !== undefined && onUnreadCount?.({ unread_count: unreadCount }),
      );
      subscriptions.catchUp(running.signal);
    } else start();
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      subscriptions.remove(own);
      if (subscriptions.size() > 0) return;
      leavePage();
      stop();
      // What happens without a subscription is not reported later.
      lastId = undefined;
      unreadCount = undefined;
    };
  }

  return { subscribe, restart };
}
