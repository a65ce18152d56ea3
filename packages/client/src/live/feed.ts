import type { Caller } from '../caller.ts';
import { createListeners } from '../listeners.ts';
import { pause } from './pause.ts';
import { notificationsAfter } from './polling.ts';
import { runSource } from './source.ts';
import { joinTabs } from './tabs.ts';
import type { Notification, SourceEvent, StreamStatus, StreamTimes } from './types.ts';

/** What a subscription takes. */
export interface NotificationListeners {
  /** Called for each new notification, once and in order. */
  onNotification?(notification: Notification): void;
  /** Called with the number of unread notifications at the start and whenever it changes. */
  onUnreadCount?(count: { unread_count: number }): void;
  onStatus?(status: StreamStatus): void;
  /**
   * `id` of the newest notification that the app has already; without it, notifications from now on are reported. Counts for
   * the first subscription of a client.
   */
  after?: number | undefined;
}

/** Live notifications of a client. */
export interface NotificationFeed {
  /** Begins when the user is signed in, pauses while they are not. @returns ends it */
  subscribe(listeners: NotificationListeners): () => void;
}

/** A feed, and how the client influences it. */
export interface ControlledFeed extends NotificationFeed {
  /** Begins anew, in another language. */
  restart(): void;
}

interface FeedOptions {
  caller: Caller;
  /** What tabs share: none, and each has a stream of its own. */
  storageName: string | undefined;
  /** Of the service and the language, so that tabs with another one do not mix. */
  scope: () => string;
  times: StreamTimes;
}

/** One source of events for all subscriptions of this tab, and for all tabs with the same account. */
export function createNotificationFeed({ caller, storageName, scope, times }: FeedOptions): ControlledFeed {
  const { session } = caller;
  const listeners = createListeners<SourceEvent>();
  let subscriptions = 0;
  let running: AbortController | undefined;
  let userId: number | null = null;
  let lastId: number | undefined;
  let unreadCount: number | undefined;
  let status: StreamStatus = 'closed';

  function start(): void {
    const id = session.current()?.user_id ?? null;
    if (running || subscriptions === 0 || id === null) return;
    if (id !== userId) {
      // What was known is about another account.
      lastId = userId === null ? lastId : undefined;
      unreadCount = undefined;
      userId = id;
    }
    running = new AbortController();
    run(id, running.signal);
  }

  function stop(): void {
    running?.abort();
    running = undefined;
    report({ type: 'status', status: 'closed' });
  }

  function report(event: SourceEvent): void {
    if (event.type === 'status') {
      if (event.status === status) return;
      status = event.status;
    }
    if (event.type === 'unread_count') {
      if (event.unread_count === unreadCount) return;
      unreadCount = event.unread_count;
    }
    listeners.emit(event);
  }

  function run(id: number, signal: AbortSignal): void {
    let queue: Promise<void> = Promise.resolve();
    const take = (event: SourceEvent) => {
      // One after the other, because one of them may have to read what was missed.
      queue = queue.then(() => handle(event, signal));
    };
    joinTabs<SourceEvent>({
      name: storageName && `dure:${storageName}:${id}:${scope()}`,
      answerTime: times.answer,
      signal,
      take,
      known,
      async lead(term, emit) {
        // What another leader has sent comes first.
        await queue;
        await runSource({ caller, userId: id, lastId, times, signal: term, emit });
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
    } else report(event);
  }

  function deliver(notification: Notification, signal: AbortSignal): void {
    if (signal.aborted || (lastId !== undefined && notification.id <= lastId)) return;
    report({ type: 'notification', notification, after: lastId });
    lastId = notification.id;
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

  session.onChange(({ signedIn }) => {
    stop();
    if (signedIn) start();
  });

  // A page in the back/forward cache must hold neither a lock nor a connection.
  const onHide = () => stop();
  const onShow = () => start();

  function subscribe({ onNotification, onUnreadCount, onStatus, after }: NotificationListeners): () => void {
    const remove = listeners.add((event) => {
      if (event.type === 'notification') onNotification?.(event.notification);
      else if (event.type === 'unread_count') onUnreadCount?.({ unread_count: event.unread_count });
      else if (event.type === 'status') onStatus?.(event.status);
    });
    subscriptions += 1;
    lastId ??= after;
    if (subscriptions === 1) {
      globalThis.addEventListener?.('pagehide', onHide);
      globalThis.addEventListener?.('pageshow', onShow);
    }
    if (running) {
      queueMicrotask(() => {
        onStatus?.(status);
        if (unreadCount !== undefined) onUnreadCount?.({ unread_count: unreadCount });
      });
    } else start();
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      remove();
      subscriptions -= 1;
      if (subscriptions > 0) return;
      globalThis.removeEventListener?.('pagehide', onHide);
      globalThis.removeEventListener?.('pageshow', onShow);
      stop();
      // What happens without a subscription is not reported later.
      lastId = undefined;
      unreadCount = undefined;
    };
  }

  return { subscribe, restart };
}
