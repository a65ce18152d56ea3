import { randomInt } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import PQueue from 'p-queue';
import { serviceUnavailable } from '../../../http/errors.ts';
import type { Language } from '../../../http/language.ts';
import type { Subscription } from '../../../infrastructure/database/listener.ts';
import { wakeUpChannel } from '../../../infrastructure/jobs/outbox.ts';
import type { ImageUrls } from '../../images/index.ts';
import type { NotificationRow, Notifications } from '../inbox/repository.ts';
import { toNotification } from '../inbox/schemas.ts';
import { type EventStream, type EventStreamTimes, openEventStream } from './event-stream.ts';

/** Per user and instance. One more ends the oldest, which limits clients that never close theirs. */
const streamsPerUser = 10;
/** Milliseconds after which a client should reconnect: random, so that those of a lost instance spread out. */
const reconnectAfter = { min: 2_000, max: 6_000 };
/** Streams that are being opened, per instance. More are rejected. Those that are open do not count, however many read. */
const maxOpening = 300;
/** Milliseconds between two checks of the sessions of all streams, and without a successful one until the streams end. */
const checkInterval = 3_000;
const maxUnchecked = 60_000;
/** Notifications per query. With the sizes of texts, this bounds the memory of a client that does not read, however many it missed. */
const pageSize = 50;
/** Milliseconds after a failed query: random, so that the streams of an instance do not retry at once. */
const retryAfter = { min: 500, max: 3_000 };

export interface HubOptions {
  notifications: Pick<Notifications, 'find' | 'listAfter' | 'countUnread'>;
  imageUrls: ImageUrls;
  listen(subscription: Subscription): void;
  findLiveSessions(sessionIds: string[]): Promise<Set<string>>;
  maxConcurrentReads: number;
  streamTimes?: Partial<EventStreamTimes> | undefined;
  logger: FastifyBaseLogger;
}

interface StreamRequest {
  userId: number;
  sessionId: string;
  language: Language;
  /** The notification after which to start; without it only new ones are sent. */
  lastEventId: number | undefined;
  response: ServerResponse;
  logger: FastifyBaseLogger;
}

/** Queries when the limit allows it; undefined where the client is gone by then. */
type StreamQuery = <Result>(read: () => Promise<Result>) => Promise<Result | undefined>;

interface OpenStream extends Pick<StreamRequest, 'userId' | 'sessionId'> {
  wake(): void;
  end(reason: string): void;
  closed: Promise<void>;
}

export type StreamHub = ReturnType<typeof createStreamHub>;
/** The streams of one instance. */
export function createStreamHub(options: HubOptions) {
  const { notifications, listen, findLiveSessions, maxConcurrentReads, logger } = options;
  const reads = new PQueue({ concurrency: maxConcurrentReads });
  const streams = new Map<number, Set<OpenStream>>();
  const checks = setInterval(() => void checkSessions(), checkInterval).unref();
  let checkedAt = Date.now();
  let opening = 0;
  let isClosing = false;

  listen({
    channel: wakeUpChannel,
    onNotification(payload) {
      const userIds: number[] = JSON.parse(payload);
      for (const userId of userIds) for (const { wake } of streams.get(userId) ?? []) wake();
    },
    onConnect() {
      for (const { wake } of all()) wake();
    },
  });

  const all = () => [...streams.values()].flatMap((ofUser) => [...ofUser]);

  function add(stream: OpenStream): void {
    const ofUser = streams.get(stream.userId) ?? new Set();
    streams.set(stream.userId, ofUser.add(stream));
    const [oldest] = ofUser;
    if (ofUser.size > streamsPerUser) oldest?.end('too many streams of one user');
  }

  function remove(stream: OpenStream): void {
    const ofUser = streams.get(stream.userId);
    ofUser?.delete(stream);
    if (ofUser?.size === 0) streams.delete(stream.userId);
  }

  /** Ends the streams of sessions that have ended on any instance. One query checks all of them. */
  async function checkSessions(): Promise<void> {
    const open = all();
    try {
      const sessionIds = [...new Set(open.map(({ sessionId }) => sessionId))];
      const live = sessionIds.length > 0 ? await findLiveSessions(sessionIds) : new Set();
      checkedAt = Date.now();
      for (const { sessionId, end } of open) if (!live.has(sessionId)) end('session ended');
    } catch (error) {
      logger.warn({ err: error }, 'sessions of open streams could not be checked');
      if (Date.now() - checkedAt > maxUnchecked)
        for (const { end } of open) end('session could not be checked');
    }
  }

  /** Opens a stream. It is registered for wake-ups before the newest notification is read, so that none is missed in between. */
  async function open(request: StreamRequest): Promise<Readable> {
    if (isClosing) throw serviceUnavailable(new Error('shutting down'), 1);
    // After a restart all clients come back at once. They would fill the queue of the pool, where every other request waits, too.
    if (opening >= maxOpening)
      throw serviceUnavailable(new Error('too many streams wait to be opened'), randomInt(3, 16));
    const { userId, sessionId, response } = request;
    const events = openEventStream(response, options.streamTimes);
    // Unless the client has already disconnected, or has opened too many other streams.
    const query: StreamQuery = (read) => reads.add(async () => (events.isOpen() ? read() : undefined));
    const reader = createReader({ ...options, ...request, events, query });
    const stream: OpenStream = {
      userId,
      sessionId,
      wake: reader.wake,
      end(reason) {
        remove(stream);
        request.logger.info({ reason }, 'notification stream ended');
        events.end();
      },
      closed: events.closed,
    };
    void events.closed.then(() => remove(stream));
    add(stream);
    opening++;
    const found = await query(() => notifications.find({ userId, limit: 1 })).finally(() => opening--);
    if (found) reader.start(Number(found.rows[0]?.id ?? 0), found.unreadCount);
    return events.body;
  }

  async function close(): Promise<void> {
    isClosing = true;
    clearInterval(checks);
    const open = all();
    for (const { end } of open) end('shutting down');
    await Promise.all(open.map(({ closed }) => closed));
  }

  return { open, close, count: () => all().length };
}

type ReaderOptions = HubOptions & StreamRequest & { events: EventStream; query: StreamQuery };

/** Sends the notifications after the last one sent at each wake-up. The ids of a user grow in commit order, so none is left out. */
function createReader(options: ReaderOptions) {
  const { userId, language, lastEventId, notifications, imageUrls, events, query, logger } = options;
  /** Reads one after the other. Paused until the start. */
  const reads = new PQueue({ concurrency: 1, autoStart: false });
  let sent = { lastId: 0, unreadCount: 0 };

  /** Begins after the newest notification, or after the last one that the client received. */
  function start(newest: number, unreadCount: number): void {
    sent = { lastId: Math.min(lastEventId ?? newest, newest), unreadCount };
    // The id lets a client resume that loses the connection before its first notification.
    const retry = randomInt(reconnectAfter.min, reconnectAfter.max);
    events.send({ retry, id: sent.lastId, event: 'unread_count', data: { unread_count: unreadCount } });
    if (sent.lastId < newest) wake();
    reads.start();
  }

  /** Reads when there may be new rows. Any number of calls during a read cause one more read. */
  function wake(): void {
    if (reads.size === 0) void reads.add(readNew);
  }

  async function readNew(): Promise<void> {
    try {
      if (events.isOpen()) await sendNew();
    } catch (error) {
      logger.warn({ err: error }, 'notifications could not be read for a stream');
      wake();
      await sleep(randomInt(retryAfter.min, retryAfter.max), undefined, { ref: false });
    }
  }

  async function sendNew(): Promise<void> {
    const before = { ...sent };
    let rows: NotificationRow[];
    do {
      rows = (await query(() => notifications.listAfter(userId, sent.lastId, pageSize))) ?? [];
      for (const row of rows) {
        const notification = toNotification(row, language, imageUrls);
        sent.lastId = notification.id;
        events.send({ id: sent.lastId, event: 'notification', data: notification });
      }
      await events.drained();
    } while (rows.length === pageSize);
    sent.unreadCount = (await query(() => notifications.countUnread(userId))) ?? sent.unreadCount;
    // A wake-up may be of what the stream has sent already.
    if (sent.lastId === before.lastId && sent.unreadCount === before.unreadCount) return;
    events.send({ event: 'unread_count', data: { unread_count: sent.unreadCount } });
    await events.drained();
  }

  return { start, wake };
}
