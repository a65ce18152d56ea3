import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import type { FastifyBaseLogger } from 'fastify';
import pLimit from 'p-limit';
import type { Listener } from '../../database/listener.ts';
import { serviceUnavailable } from '../../http/errors.ts';
import type { Language } from '../../http/language.ts';
import { type NotificationEvent, type Notifications, notificationChannel } from '../repository.ts';
import { type EventStreamTimes, openEventStream } from './event-stream.ts';
import { createReader } from './reader.ts';
import { watchSessions } from './session-watch.ts';

/** Per user and instance. One more ends the oldest, which limits clients that never close theirs. */
const streamsPerUser = 10;

/** Milliseconds after which a client should reconnect: another time for each, so that those of a lost instance spread out. */
const retry = { min: 2_000, max: 6_000 };

/** Streams that wait to be opened, per instance. More are refused, with a time after which to try again, in seconds. */
const maxWaiting = 300;
const refusedFor = { min: 3, max: 15 };

const defaultTimes: EventStreamTimes = { heartbeat: 25_000, stall: 30_000, end: 1_000 };

export interface HubOptions {
  notifications: Pick<Notifications, 'find' | 'listAfter' | 'countUnread'>;
  listener: Listener;
  /** Which of some sessions are live. */
  findLiveSessions(sessionIds: string[]): Promise<Set<string>>;
  /** Of all streams of this instance, those that are opened included. */
  maxConcurrentReads: number;
  streamTimes?: Partial<EventStreamTimes> | undefined;
  logger: FastifyBaseLogger;
}

/** A request for a stream. */
interface StreamRequest {
  userId: number;
  sessionId: string;
  language: Language;
  /** The notification after which to start; without it only new ones are sent. */
  lastEventId: number | undefined;
  response: ServerResponse;
  logger: FastifyBaseLogger;
}

interface OpenStream {
  userId: number;
  sessionId: string;
  wake(): void;
  end(reason: string): void;
  closed: Promise<void>;
}

/** The streams of one instance. */
export function createStreamHub(options: HubOptions) {
  const { notifications, listener, findLiveSessions, maxConcurrentReads, logger } = options;
  const times = { ...defaultTimes, ...options.streamTimes };
  const limit = pLimit(maxConcurrentReads);
  const streams = new Map<number, Set<OpenStream>>();
  const stopWatching = watchSessions({ findLiveSessions, openStreams: all, logger });
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

  /**
   * Opens a stream. It is registered for wake-ups before the newest notification is read, so that none is missed in between.
   *
   * @returns the body of the answer; it ends by itself
   * @throws {ApiError} `service_unavailable` while the instance shuts down, and when too many streams wait to be opened
   */
  async function open(request: StreamRequest): Promise<Readable> {
    if (isClosing) throw serviceUnavailable(new Error('shutting down'), 1);
    // After a restart all clients come back at once. They would fill the queue of the pool, where every other request waits, too.
    if (limit.pendingCount >= maxWaiting)
      throw serviceUnavailable(new Error('too many streams wait to be opened'), between(refusedFor));
    const { userId, sessionId, lastEventId, response } = request;
    const events = openEventStream(response, times);
    let wokenEarly = false;
    let wake = () => {
      wokenEarly = true;
    };
    const stream: OpenStream = {
      userId,
      sessionId,
      wake: () => wake(),
      end(reason) {
        remove(stream);
        request.logger.info({ reason }, 'notification stream ended');
        events.end();
      },
      closed: events.closed,
    };
    void events.closed.then(() => remove(stream));
    add(stream);

    // Nothing is read for a client that has disconnected by then, or that has opened too many others.
    const found = await limit(async () =>
      events.isOpen() ? notifications.find({ userId, limit: 1 }) : undefined,
    );
    if (found === undefined) return events.body;
    const { rows, unreadCount } = found;
    const newest = Number(rows[0]?.id ?? 0);
    const lastId = Math.min(lastEventId ?? newest, newest);
    // The id lets a client resume that loses the connection before its first notification.
    events.send({
      event: 'unread_count',
      id: lastId,
      retry: between(retry),
      data: { unread_count: unreadCount },
    });
    wake = createReader({ ...request, events, lastId, notifications, limit });
    if (wokenEarly || lastId < newest) wake();
    return events.body;
  }

  /** Ends all streams and refuses new ones. */
  async function close(): Promise<void> {
    isClosing = true;
    stopWatching();
    const open = all();
    for (const { end } of open) end('shutting down');
    await Promise.all(open.map(({ closed }) => closed));
  }

  return { open, close, count: () => all().length };
}

/** A whole number by chance. */
function between({ min, max }: { min: number; max: number }): number {
  return min + Math.floor(Math.random() * (max - min + 1));
}
