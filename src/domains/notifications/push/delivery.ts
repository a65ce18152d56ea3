import { type Static, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import type { FastifyBaseLogger } from 'fastify';
import type { Task } from 'graphile-worker';
import type { Config } from '../../../infrastructure/config/config.ts';
import type { Database } from '../../../infrastructure/database/client.ts';
import { topicOf } from '../../../infrastructure/mail/unsubscribe-links.ts';
import type { Lane } from '../../../infrastructure/mail/worker.ts';
import type { Metrics } from '../../../infrastructure/metrics/metrics.ts';
import { sendPushTask, trialFlag } from '../../../infrastructure/outbox/outbox.ts';
import { decideDelivery } from '../../../infrastructure/quiet-hours.ts';
import { toPushMessage } from '../presenters.ts';
import type { Notifications } from '../repository.ts';
import type { NotificationRow } from '../rows.ts';
import { attemptTime, type PushResult, sendToPushService } from './push-service.ts';
import type { PushSubscriptions, SubscriptionToSend } from './repository.ts';

const Job = Type.Object({
  user_id: Type.Integer(),
  notification_id: Type.Integer(),
  subscription_id: Type.Integer(),
});

/**
 * Attempts at once. A part of them is for trials: of subscriptions whose push service has taken no message yet, or not the last one.
 * Endpoints are any servers that users name, so those that do not respond delay only each other.
 */
const concurrency = { all: 16, trials: 10 };

/** Attempts in a row that fail before a subscription is removed, in four days: the delays are those of emails. */
const maxFailures = 25;

/** Milliseconds: the age at which a message is of no use, the time in which a failing subscription has one trial, between looks for retries. */
const times = { useful: 4 * 86_400_000, trial: 3 * attemptTime, poll: 10_000 };

const outcomes = ['sent', 'failed', 'rejected', 'gone', 'obsolete'] as const;

export interface PushDeliveryOptions {
  config: Pick<Config, 'vapid' | 'production' | 'frontendUrl'>;
  database: Database;
  subscriptions: PushSubscriptions;
  notifications: Pick<Notifications, 'findOne'>;
  metrics: Metrics;
  logger: FastifyBaseLogger;
}

/**
 * Jobs that send notifications to subscriptions, at least once: a message is sent again when its worker died before the job was
 * completed. While a push service fails, the jobs of its subscription are added again for the time of the next attempt, which uses
 * no attempt of the jobs.
 */
export function createPushDelivery(options: PushDeliveryOptions): Lane {
  const { config, database, subscriptions, notifications } = options;
  const { vapid, production, frontendUrl } = config;
  const logger = options.logger.child({ part: 'push' });
  const pushes = options.metrics.addCounter('pushes_total', 'Push messages, by the outcome of an attempt', [
    'outcome',
  ]);
  for (const outcome of outcomes) pushes.inc({ outcome }, 0);
  let trials = 0;

  const send: Task = async (input, { job, addJob }) => {
    if (!Value.Check(Job, input)) throw new Error('the job is not a push message');
    const retryAt = await deliver(input, job.id);
    if (retryAt === undefined) return;
    // If the worker dies now, the job that runs again replaces the one that it added.
    const jobKey = `push:${input.subscription_id}:${input.notification_id}`;
    const { max_attempts: maxAttempts } = job;
    await addJob(sendPushTask, input, { jobKey, runAt: retryAt, maxAttempts, flags: [trialFlag] });
  };

  /** @returns when to try again; undefined when there is nothing more to do */
  async function deliver(job: Static<typeof Job>, jobId: string): Promise<Date | undefined> {
    const { user_id: userId } = job;
    const [subscription, notification] = await Promise.all([
      subscriptions.find(userId, job.subscription_id),
      notifications.findOne(userId, job.notification_id),
    ]);
    if (subscription?.retryAt && subscription.retryAt > new Date()) return subscription.retryAt;
    const topic = notification && isUseful(notification) ? topicOf(notification.kind) : undefined;
    const delivery = topic && (await decideDelivery(database, jobId, { channel: 'push', userId, topic }));
    if (!subscription || !notification || !delivery || !vapid) {
      pushes.inc({ outcome: 'obsolete' });
      return undefined;
    }
    if ('until' in delivery) return undefined;
    const message = toPushMessage(notification, delivery.language, frontendUrl);
    const attempt = () => sendToPushService(subscription, message, { vapid, allowsLoopback: !production });
    const result = subscription.deliveredAt ? await attempt() : await onTrial(subscription, attempt);
    return result instanceof Date ? result : save(subscription, message.id, result);
  }

  /** @returns when to try again, in place of a result, where there are enough trials, or another one of a failing subscription */
  async function onTrial({ id, failures }: SubscriptionToSend, attempt: () => Promise<PushResult>) {
    // The runner takes no more of them then, but it may have taken several at the same moment.
    if (trials >= concurrency.trials) return new Date();
    trials += 1;
    try {
      const end = new Date(Date.now() + times.trial);
      return failures === 0 || (await subscriptions.startTrial(id, end)) ? await attempt() : end;
    } finally {
      trials -= 1;
    }
  }

  /** Saves what became of an attempt. @returns when to make the next one */
  async function save(subscription: SubscriptionToSend, notification: number, result: PushResult) {
    const { id, userId, endpoint, deliveredAt, failures } = subscription;
    const { outcome, reason, pause } = result;
    const line = { user: userId, subscription: id, notification, host: new URL(endpoint).host, reason };
    pushes.inc({ outcome });
    if (outcome === 'sent') {
      logger.info(line, 'push message sent');
      if (deliveredAt === null) await subscriptions.markDelivered(id, failures);
      return undefined;
    }
    if (outcome === 'rejected') {
      logger.error(line, 'push message rejected, not retried');
      return undefined;
    }
    if (outcome === 'gone' || failures + 1 >= maxFailures) {
      logger.info(line, 'push subscription removed: it has ended, or its push service failed for four days');
      await subscriptions.remove(userId, id);
      return undefined;
    }
    const delay = Math.max(pause, Math.exp(Math.min(failures + 1, 10)));
    const retryAt = new Date(Date.now() + delay * 1_000);
    logger.warn({ ...line, failures: failures + 1, retryAt }, 'push message not sent, will retry');
    await subscriptions.markFailed(id, failures, retryAt);
    return retryAt;
  }

  return {
    tasks: { [sendPushTask]: send },
    concurrency: concurrency.all,
    pollInterval: times.poll,
    forbiddenFlags: () => (trials >= concurrency.trials ? [trialFlag] : null),
  };
}

function isUseful({ isRead, createdAt }: NotificationRow): boolean {
  return !isRead && Date.now() - createdAt.getTime() < times.useful;
}
