import { randomInt } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { FastifyBaseLogger } from 'fastify';
import pLimit from 'p-limit';
import { serviceUnavailable } from '../../../http/errors.ts';
import type { Listener } from '../../../infrastructure/database/listener.ts';
import { type NotificationEvent, type Notifications, notificationChannel } from '../repository.ts';
import { type EventStreamTimes, openEventStream } from './event-stream.ts';
import { createReader, type StreamRequest } from './reader.ts';

/** Per user and instance. One more ends the oldest, which limits clients that never close theirs. */
const streamsPerUser = 10;

/** Milliseconds after which a client should reconnect: random, so that those of a lost instance spread out. */
const reconnectAfter = { min: 2_000, max: 6_000 };

/** Streams that wait to be opened, per instance. More are rejected. */
const maxWaiting = 300;

/** Milliseconds between two checks of the sessions of all streams, and without a successful one until the streams end. */
const checkInterval = 3_000;
const maxUnchecked = 60_000;

const defaultTimes: EventStreamTimes = { heartbeat: 25_000, stall: 30_000, end: 1_000 };

export interface HubOptions {
  notifications: Pick<Notifications, 'find' | 'listAfter' | 'countUnread'>;
  listener: Listener;
  /** Which of some sessions are live. */
  findLiveSessions(sessionIds: string[]): Promise<Set<string>>;
  maxConcurrentReads: number;
  streamTimes?: Partial<EventStreamTimes> | undefined;
  logger: FastifyBaseLogger;
}

interface OpenStream extends Pick<StreamRequest, 'userId' | 'sessionId'> {
  wake(): void;
  end(reason: string): void;
  closed: Promise<void>;
}

export type StreamHub = ReturnType<typeof createStreamHub>;

/** The streams of one instance. */
export function createStreamHub(options: HubOptions) {
  const { notifications, listener, findLiveSessions, maxConcurrentReads, logger } = options;
  const times = { ...defaultTimes, ...options.streamTimes };
  const limit = pLimit(maxConcurrentReads);
  const streams = new Map<number, Set<OpenStream>>();
  const sessionChecks = setInterval(() => void checkSessions(), checkInterval).unref();
  let checkedAt = Date.now();
  let isChecking = false;
  let isClosing = false;

  listener.subscribe(notificationChannel, (payload) => {
    const { user_id }: NotificationEvent = JSON.parse(payload);
    for (const { wake } of streams.get(user_id) ?? []) wake();
  });
  listener.onReconnect(() => {
    for (const { wake } of all()) wake();
  });

  function all(): OpenStream[] {
    return [...streams.values()].flatMap((ofUser) => [...ofUser]);
  }

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
    if (isChecking) return;
    isChecking = true;
    const open = all();
    try {
      const sessionIds = [...new Set(open.map(({ sessionId }) => sessionId))];
      const live = sessionIds.length > 0 ? await findLiveSessions(sessionIds) : new Set();
      checkedAt = Date.now();
      for (const { sessionId, end } of open) if (!live.has(sessionId)) end('session ended');
    } catch (error) {
      logger.warn({ err: error }, 'sessions of open streams could not be checked');
      if (Date.now() - checkedAt > maxUnchecked) {
        for (const { end } of open) end('session could not be checked');
      }
    } finally {
      isChecking = false;
    }
  }

  /**
   * Opens a stream, the body of a response. It is registered for wake-ups before the newest notification is read, so that none is
   * missed in between.
   *
   * @throws {ApiError} `service_unavailable` while the instance shuts down, and when too many streams wait to be opened
   */
  async function open(request: StreamRequest): Promise<Readable> {
    if (isClosing) throw serviceUnavailable(new Error('shutting down'), 1);
    // After a restart all clients come back at once. They would fill the queue of the pool, where every other request waits, too.
    if (limit.pendingCount >= maxWaiting)
      throw serviceUnavailable(new Error('too many streams wait to be opened'), randomInt(3, 16));
    const { userId, sessionId, lastEventId, response } = request;
    const events = openEventStream(response, times);
    const reader = createReader({ ...request, events, notifications, limit });
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

    // Nothing is read for a client that has already disconnected, or that has opened too many others.
    const found = await limit(async () =>
      events.isOpen() ? notifications.find({ userId, limit: 1 }) : undefined,
    );
    if (found === undefined) return events.body;
    const newest = Number(found.rows[0]?.id ?? 0);
    const lastId = Math.min(lastEventId ?? newest, newest);
    // The id lets a client resume that loses the connection before its first notification.
    events.send({
      retry: randomInt(reconnectAfter.min, reconnectAfter.max),
      id: lastId,
      event: 'unread_count',
      data: { unread_count: found.unreadCount },
    });
    reader.start(lastId, lastId < newest);
    return events.body;
  }

  /** Ends all streams and rejects new ones. */
  async function close(): Promise<void> {
    isClosing = true;
    clearInterval(sessionChecks);
    const open = all();
    for (const { end } of open) end('shutting down');
    await Promise.all(open.map(({ closed }) => closed));
  }

  return { open, close, count: () => all().length };
}
