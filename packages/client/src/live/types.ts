import type { Caller } from '../caller.ts';
import type { Item } from '../types.ts';

/** One entry of `listNotifications`. */
export type Notification = Item<'listNotifications'>;

/**
 * How notifications arrive:
 *
 * - `connecting`: they do not, the client tries to connect; what comes meanwhile is delivered afterwards
 * - `open`: at once, over the stream
 * - `polling`: every 15 seconds, because streams do not work here
 * - `closed`: they do not, because the user is not signed in or the page is in the back/forward cache; the next sign-in or the
 *   return of the page resumes. A subscription that the app has ended reports no status.
 */
export type StreamStatus = 'connecting' | 'open' | 'polling' | 'closed';

/** What a source learns from the service, for all tabs. */
export type SourceEvent =
  /** `after`: the id of the notification before it. */
  | { type: 'notification'; notification: Notification; after: number | undefined }
  | { type: 'unread_count'; unread_count: number }
  /** The id of the newest notification that was sent or need not be sent. */
  | { type: 'position'; id: number }
  | { type: 'status'; status: StreamStatus };

/** In milliseconds, but for `errors`. */
export interface StreamTimes {
  /** How long a stream may take to send its first event. A proxy that buffers never passes it on. */
  firstEvent: number;
  /** How long a stream may be silent; the service sends a comment every 25 seconds. */
  silence: number;
  /** The first wait before reconnecting; it doubles until `longestDelay`. */
  firstDelay: number;
  longestDelay: number;
  /** So many errors in a row, and the client polls. */
  errors: number;
  /** Between two polls. */
  poll: number;
  /** How long to poll before trying a stream again. */
  pollFor: number;
  /** How long to wait for the tab that has the stream, which the system may have suspended, before taking it over. */
  response: number;
}

export const defaultTimes: StreamTimes = {
  firstEvent: 10_000,
  silence: 60_000,
  firstDelay: 1_000,
  longestDelay: 30_000,
  errors: 3,
  poll: 15_000,
  pollFor: 120_000,
  response: 3_000,
};

/** What a source needs. */
export interface SourceOptions {
  caller: Caller;
  userId: number;
  /** The id of the last notification that the app has; without it, notifications from now on. */
  lastId: number | undefined;
  times: StreamTimes;
  transport: 'stream' | 'poll';
  signal: AbortSignal;
  emit: (event: SourceEvent) => void;
}
