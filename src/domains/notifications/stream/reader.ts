import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import type { LimitFunction } from 'p-limit';
import type { Language } from '../../../http/language.ts';
import { toNotification } from '../presenters.ts';
import type { NotificationRow, Notifications } from '../repository.ts';
import type { EventStream } from './event-stream.ts';

/** Notifications per query. With the sizes of texts, this bounds the memory of a client that does not read. */
const pageSize = 50;

/** Backoff after a failed query, in milliseconds. */
const retryDelay = { min: 500, max: 5_000 };

/** A request for a stream. */
export interface StreamRequest {
  userId: number;
  sessionId: string;
  language: Language;
  /** The notification after which to start; without it only new ones are sent. */
  lastEventId: number | undefined;
  response: ServerResponse;
  logger: FastifyBaseLogger;
}

interface ReaderOptions extends Pick<StreamRequest, 'userId' | 'language' | 'logger'> {
  events: EventStream;
  notifications: Pick<Notifications, 'listAfter' | 'countUnread'>;
  /** Limits concurrent queries, so that streams do not use up the pool. */
  limit: LimitFunction;
}

/**
 * Sends the notifications after the last one sent. NOTIFY is only a wake-up; rows are the source of truth, and the ids of one
 * user grow in commit order, so there are no gaps or duplicates.
 */
export function createReader(options: ReaderOptions) {
  const { userId, language, events, notifications, limit, logger } = options;
  let lastId: number | undefined;
  let isDue = false;
  let isReading = false;

  async function readWhileDue(): Promise<void> {
    isReading = true;
    let delay = retryDelay.min;
    while (isDue && events.isOpen()) {
      isDue = false;
      try {
        await sendNew();
        delay = retryDelay.min;
      } catch (error) {
        logger.warn({ err: error }, 'notifications could not be read for a stream');
        isDue = true;
        // With jitter, so that the streams of an instance do not retry at once.
        await sleep(delay * (0.5 + Math.random() / 2), undefined, { ref: false });
        delay = Math.min(delay * 2, retryDelay.max);
      }
    }
    isReading = false;
  }

  async function sendNew(): Promise<void> {
    let rows: NotificationRow[];
    do {
      rows = await queryWhileOpen(() => notifications.listAfter(userId, lastId ?? 0, pageSize), []);
      for (const row of rows) {
        const notification = toNotification(row, language);
        lastId = notification.id;
        events.send({ id: lastId, event: 'notification', data: notification });
      }
      await events.drained();
    } while (rows.length === pageSize);
    const unreadCount = await queryWhileOpen(() => notifications.countUnread(userId), 0);
    events.send({ event: 'unread_count', data: { unread_count: unreadCount } });
    await events.drained();
  }

  /** Queries when the limit allows, unless the client has already disconnected. */
  function queryWhileOpen<Result>(query: () => Promise<Result>, otherwise: Result): Promise<Result> {
    return limit(async () => (events.isOpen() ? query() : otherwise));
  }

  /** Reads when there may be new rows. Any number of calls during a read, or before the start, cause one more read. */
  function wake(): void {
    isDue = true;
    if (lastId !== undefined && !isReading) void readWhileDue();
  }

  /** Starts after a notification. @param isBehind whether there are newer ones already */
  function start(afterId: number, isBehind: boolean): void {
    lastId = afterId;
    if (isDue || isBehind) wake();
  }

  return { wake, start };
}
