import type { IncomingHttpHeaders } from 'node:http';
import { type Static, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import type { FastifyBaseLogger } from 'fastify';
import type { Task } from 'graphile-worker';
import type { Config } from '../../../infrastructure/config/config.ts';
import { reasonOf } from '../../../infrastructure/database/errors.ts';
import type { PushSubscription } from '../../../infrastructure/database/generated/client.ts';
import { sql } from '../../../infrastructure/database/sql.ts';
import { type CallableUrls, guardedFetch } from '../../../infrastructure/guarded-fetch.ts';
import { maxAttempts, retryAfterSeconds, retryDelay } from '../../../infrastructure/jobs/outbox.ts';
import type { Lane } from '../../../infrastructure/jobs/worker.ts';
import type { Metrics } from '../../../infrastructure/telemetry/metrics.ts';
import type { NotificationRow, Notifications } from '../inbox/repository.ts';
import { describe, type PushMessage, toPushMessage } from '../inbox/schemas.ts';
import type { Preferences } from '../preferences/repository.ts';
import type { PushSubscriptions } from './repository.ts';

/** graphile-worker's task identifier of all push messages. */
export const sendPushTask = 'send_push';

/** The jobs of push messages in the outbox, for `createOutbox`. Not `EXISTS`, for which the subscriptions of all may be read. */
export const pushJobs = sql`
  SELECT taken.id, json_build_object(
    'identifier', ${sendPushTask}::text, 'max_attempts', ${maxAttempts}::int,
    'payload', json_build_object('user_id', user_id, 'notification_id', notification_id),
    'flags', ARRAY['user:' || user_id])
  FROM taken
  WHERE notification_id IS NOT NULL AND (SELECT true FROM push_subscriptions s WHERE s.user_id = taken.user_id LIMIT 1)`;

/** All browsers of a user get a notification in one job; one whose push service failed has another job. */
const Job = Type.Object({
  user_id: Type.Integer(),
  notification_id: Type.Integer(),
  subscription_id: Type.Optional(Type.Integer()),
});
type Job = Static<typeof Job>;

/** Jobs at once; of one user there is one. */
const concurrency = 40;
/** Of jobs that are tried again: after all others, so that push services that do not respond keep no new message waiting. */
const retryPriority = 10;
/** Seconds for which a message is of use, also to a browser that is offline: as long as failed attempts are made. */
const ttl = 4 * 86_400;
const outcomes = ['sent', 'failed', 'rejected', 'gone', 'obsolete'] as const;

interface PushDeliveryOptions {
  config: Pick<Config, 'vapid' | 'production' | 'frontendUrl' | 'pushServices'>;
  subscriptions: PushSubscriptions;
  notifications: Pick<Notifications, 'findOne'>;
  preferences: Pick<Preferences, 'decideDelivery'>;
  metrics: Metrics;
  logger: FastifyBaseLogger;
}

/**
 * Jobs that push notifications, at least once: a message is sent again when its worker died before the job was completed. While a
 * push service fails, the messages for its subscription wait in jobs for the time of the next attempt, which uses none of theirs.
 */
export function createPushDelivery(options: PushDeliveryOptions): Lane {
  const { config, subscriptions, notifications, preferences } = options;
  const { vapid: vapidDetails } = config;
  // What was queued while there was a key is dropped without one.
  if (!vapidDetails) return { tasks: { [sendPushTask]: async () => undefined }, concurrency: 1 };
  const service = { vapidDetails, allowsLoopback: !config.production, hosts: config.pushServices };
  const logger = options.logger.child({ part: 'push' });
  const help = 'Push messages, by the outcome of an attempt';
  const pushes = options.metrics.addCounter('pushes_total', help, { outcome: outcomes });
  /** Flags of the users whose jobs run. Endpoints are any servers that users name: those that do not respond must delay no others. */
  const running = new Set<string>();

  const send: Task = async (input, { job, addJob }) => {
    if (!Value.Check(Job, input)) throw new Error('the job is not a push message');
    const { user_id, notification_id } = input;
    // As in the outbox: workers take one job of a user at a time.
    const flag = `user:${user_id}`;
    const addAgain = (runAt: Date, priority: number, subscription_id = input.subscription_id) =>
      addJob(
        sendPushTask,
        { user_id, notification_id, subscription_id },
        {
          runAt,
          priority,
          flags: [flag],
          // If the worker dies now, the job that runs again replaces the one that it added.
          jobKey: `push:${notification_id}:${subscription_id ?? 'all'}`,
          maxAttempts: job.max_attempts,
        },
      );
    // The runner takes no such job then, but it may have taken several at the same moment.
    if (running.has(flag)) return void (await addAgain(new Date(), job.priority));
    running.add(flag);
    try {
      const found = await find(input, job.id);
      if (found === undefined) return;
      await Promise.all(
        found.subscriptions.map(async (subscription) => {
          const retryAt = await deliver(subscription, found.message);
          if (retryAt) await addAgain(retryAt, retryPriority, subscription.id);
        }),
      );
    } finally {
      running.delete(flag);
    }
  };

  /** What a job is to send, and to where; undefined when there is nothing to send now. */
  async function find({ user_id: userId, notification_id, subscription_id }: Job, jobId: string) {
    const [found, notification] = await Promise.all([
      subscriptions.find(userId, subscription_id),
      notifications.findOne(userId, notification_id),
    ]);
    const isUseful = found.length > 0 && notification && !notification.isRead && isRecent(notification);
    const topic = isUseful && describe(notification).topic;
    const delivery = topic && (await preferences.decideDelivery({ channel: 'push', userId, topic, jobId }));
    if (!notification || !delivery) return void pushes.inc({ outcome: 'obsolete' });
    if ('until' in delivery) return undefined;
    const message = toPushMessage(notification, delivery.language, config.frontendUrl);
    return { subscriptions: found, message };
  }

  /** Makes an attempt, unless the next one is due later. @returns when to make the next one; undefined when none is needed */
  async function deliver(subscription: PushSubscription, message: PushMessage): Promise<Date | undefined> {
    const { id, userId, endpoint, failures, retryAt: due } = subscription;
    if (due !== null && due > new Date()) return due;
    const { outcome, reason, pause } = await sendToPushService(subscription, message, service);
    const host = new URL(endpoint).host;
    const line = { user: userId, subscription: id, notification: message.id, host, reason };
    pushes.inc({ outcome });
    if (outcome === 'sent') {
      logger.info(line, 'push message sent');
      if (failures > 0) await subscriptions.saveAttempt(id, failures, { failures: 0, retryAt: null });
      return undefined;
    }
    if (outcome === 'rejected') {
      logger.error(line, 'push message rejected, not retried');
      return undefined;
    }
    if (outcome === 'gone' || failures + 1 >= maxAttempts) {
      logger.info(line, 'push subscription removed: it has ended, or its push service failed for four days');
      await subscriptions.remove(userId, id);
      return undefined;
    }
    const delay = Math.max(pause, retryDelay(failures + 1));
    const retryAt = new Date(Date.now() + delay * 1_000);
    logger.warn({ ...line, failures: failures + 1, retryAt }, 'push message not sent, will retry');
    await subscriptions.saveAttempt(id, failures, { failures: failures + 1, retryAt });
    return retryAt;
  }

  return {
    tasks: { [sendPushTask]: send },
    concurrency,
    // Milliseconds between looks for retries.
    pollInterval: 20_000,
    forbiddenFlags: () => [...running],
  };
}

const isRecent = ({ createdAt }: NotificationRow) => Date.now() - createdAt.getTime() < ttl * 1_000;

/** Milliseconds of an attempt. */
const attemptTime = 5_000;

/** 32 characters of base64url, the most that there may be. Apple decodes it, so it refuses a length of 1 modulo 4. */
const topicOf = (id: number) => `notification-${String(id).padStart(19, '0')}`;

/** What became of a message: `rejected` is not tried again, `gone` means that the subscription has ended. */
interface PushResult {
  outcome: 'sent' | 'failed' | 'rejected' | 'gone';
  reason: string;
  /** Seconds for which the push service wants no other attempt. */
  pause: number;
}

/** Makes one attempt to send a message (RFC 8291, 8292). One that is sent twice replaces itself at the push service by its topic. */
async function sendToPushService(
  { endpoint, p256dh, auth }: PushSubscription,
  message: PushMessage,
  { vapidDetails, ...callable }: CallableUrls & { vapidDetails: NonNullable<Config['vapid']> },
): Promise<PushResult> {
  // Loaded for the first message, so that the start does not wait.
  const { default: webPush } = await import('web-push');
  const { headers, body } = webPush.generateRequestDetails(
    { endpoint, keys: { p256dh, auth } },
    JSON.stringify(message),
    { vapidDetails, TTL: ttl, topic: topicOf(message.id), contentEncoding: 'aes128gcm' },
  );
  try {
    const request = { headers, body, timeout: attemptTime, ...callable } as const;
    return resultOf(await guardedFetch(new URL(endpoint), request));
  } catch (error) {
    return { outcome: 'failed', reason: reasonOf(error), pause: 0 };
  }
}

function resultOf({ status, headers }: { status: number; headers: IncomingHttpHeaders }): PushResult {
  const result = { reason: `status ${status}`, pause: 0 };
  if (status >= 200 && status < 300) return { ...result, outcome: 'sent' };
  if (status === 404 || status === 410) return { ...result, outcome: 'gone' };
  if (status < 500 && status !== 408 && status !== 429) return { ...result, outcome: 'rejected' };
  return { ...result, outcome: 'failed', pause: retryAfterSeconds(headers['retry-after'], 86_400) };
}
