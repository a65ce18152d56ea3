import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import type { FastifyBaseLogger } from 'fastify';
import pLimit from 'p-limit';
import type { Listener } from '../../database/listener.ts';
import { ApiError, httpErrors } from '../../http/errors.ts';
import type { Language } from '../../http/language.ts';
import { type NotificationEvent, notificationChannel } from '../events.ts';
import type { Notifications } from '../repository/notifications.ts';
import { type EventStreamTimes, openEventStream } from './event-stream.ts';
import { createReader } from './reader.ts';
import { watchSessions } from './session-watch.ts';

/** Of one user on one instance. One more ends the oldest, so that a client that forgets to close costs no more than this. */
const streamsPerUser = 10;

/** Milliseconds after which a client shall come back. */
const retry = 3_000;

const defaultTimes: EventStreamTimes = { heartbeat: 25_000, stall: 30_000, end: 1_000 };

interface HubOptions {
  notifications: Pick<Notifications, 'find' | 'listAfter' | 'countUnread'>;
  listener: Listener;
  findLiveSessions(sessionIds: string[]): Promise<Set<string>>;
  /** How many streams may ask the database at once. */
  readsAtOnce: number;
  times?: Partial<EventStreamTimes> | undefined;
  logger: FastifyBaseLogger;
}

/** Whose stream to open, where it begins and how it leaves. */
interface StreamRequest {
  userId: number;
  sessionId: string;
  language: Language;
  /** The notification after which to begin; without it only what comes from now on is sent. */
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
  const { notifications, listener, findLiveSessions, readsAtOnce, logger } = options;
  const times = { ...defaultTimes, ...options.times };
  const limit = pLimit(readsAtOnce);
  const streams = new Map<number, Set<OpenStream>>();
  const stopWatching = watchSessions({ findLiveSessions, openStreams: all, logger });
  let isClosing = false;

  listener.subscribe(notificationChannel, (payload) => {
    for (const { wake } of streams.get(userOf(payload)) ?? []) wake();
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
    if (ofUser.size > streamsPerUser) oldest?.end('the user opened too many');
  }

  function remove(stream: OpenStream): void {
    const ofUser = streams.get(stream.userId);
    ofUser?.delete(stream);
    if (ofUser?.size === 0) streams.delete(stream.userId);
  }

  /**
   * Opens a stream. It hears of new notifications before it looks where it stands, so that none comes in between.
   *
   * @returns what to send; it ends by itself
   * @throws {ApiError} `service_unavailable` while the instance shuts down
   */
  async function open(request: StreamRequest): Promise<Readable> {
    if (isClosing) throw new ApiError(httpErrors.serviceUnavailable, { headers: { 'retry-after': '1' } });
    const { userId, sessionId, lastEventId, response } = request;
    const events = openEventStream(response, times);
    let isTold = false;
    let wake = () => {
      isTold = true;
    };
    const stream: OpenStream = {
      userId,
      sessionId,
      wake: () => wake(),
      end(reason) {
        remove(stream);
        request.logger.info({ reason }, 'a notification stream is ended');
        events.end();
      },
      closed: events.closed,
    };
    void events.closed.then(() => remove(stream));
    add(stream);

    const { rows, unreadCount } = await notifications.find({
      userId,
      isRead: undefined,
      beforeId: undefined,
      limit: 1,
    });
    const newest = Number(rows[0]?.id ?? 0);
    const lastId = Math.min(lastEventId ?? newest, newest);
    // With the id a client that loses the connection before its first notification comes can resume, too.
    events.send({ event: 'unread_count', id: lastId, retry, data: { unread_count: unreadCount } });
    wake = createReader({ ...request, events, lastId, notifications, limit });
    if (isTold || lastId < newest) wake();
    return events.body;
  }

  /** Ends all streams and opens none any more. */
  async function close(): Promise<void> {
    isClosing = true;
    stopWatching();
    const open = all();
    for (const { end } of open) end('the instance shuts down');
    await Promise.all(open.map(({ closed }) => closed));
  }

  return { open, close, count: () => all().length };
}

/** Whom a payload tells about; it is not trusted with more. */
function userOf(payload: string): NotificationEvent['user_id'] {
  const event: unknown = JSON.parse(payload);
  return typeof event === 'object' && event !== null && 'user_id' in event
    ? Number(event.user_id)
    : Number.NaN;
}
