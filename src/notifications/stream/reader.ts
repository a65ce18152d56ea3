import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import type { LimitFunction } from 'p-limit';
import type { Language } from '../../http/language.ts';
import { type Notifications, toNotification } from '../repository/notifications.ts';
import type { EventStream } from './event-stream.ts';

/** Notifications read at once. With the sizes that texts may have, this bounds what a client that does not read can hold. */
const pageSize = 50;

/** Before a failed reading is tried again, in milliseconds. */
const retryDelay = { shortest: 500, longest: 5_000 };

interface ReaderOptions {
  userId: number;
  language: Language;
  events: EventStream;
  /** The notification after which to send. */
  lastId: number;
  notifications: Pick<Notifications, 'listAfter' | 'countUnread'>;
  /** Keeps the streams of an instance from taking all connections of the pool. */
  limit: LimitFunction;
  logger: FastifyBaseLogger;
}

/**
 * Sends what the database has after the last notification sent. Whatever was told only says that it is time to look, so nothing
 * is sent twice, and nothing is left out: ids of one user grow in the order of the commits.
 *
 * @returns to be called when there may be something new; calls during a reading make one more reading, however many they are
 */
export function createReader(options: ReaderOptions): () => void {
  const { userId, language, events, notifications, limit, logger } = options;
  let { lastId } = options;
  let isDue = false;
  let isReading = false;

  async function read(): Promise<void> {
    isReading = true;
    let delay = retryDelay.shortest;
    while (isDue && events.isOpen()) {
      isDue = false;
      try {
        await sendNew();
        delay = retryDelay.shortest;
      } catch (error) {
        logger.warn({ err: error }, 'notifications could not be read for a stream');
        isDue = true;
        await sleep(delay * (0.5 + Math.random() / 2), undefined, { ref: false });
        delay = Math.min(delay * 2, retryDelay.longest);
      }
    }
    isReading = false;
  }

  async function sendNew(): Promise<void> {
    for (let isLastPage = false; !isLastPage; ) {
      const rows = await whileOpen(() => notifications.listAfter(userId, lastId, pageSize), []);
      for (const row of rows) {
        const notification = toNotification(row, language);
        lastId = notification.id;
        events.send({ event: 'notification', id: lastId, data: notification });
      }
      await events.drained();
      isLastPage = rows.length < pageSize;
    }
    const unreadCount = await whileOpen(() => notifications.countUnread(userId), 0);
    events.send({ event: 'unread_count', data: { unread_count: unreadCount } });
    await events.drained();
  }

  /** Asks the database when it is this stream's turn, unless its client is gone by then. */
  function whileOpen<Result>(query: () => Promise<Result>, otherwise: Result): Promise<Result> {
    return limit(async () => (events.isOpen() ? query() : otherwise));
  }

  return () => {
    isDue = true;
    if (!isReading) void read();
  };
}
