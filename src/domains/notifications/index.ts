import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import type { Config } from '../../infrastructure/config/config.ts';
import type { Database } from '../../infrastructure/database/client.ts';
import type { Outbox } from '../../infrastructure/jobs/outbox.ts';
import type { MailKinds } from '../../infrastructure/mail/content.ts';
import type { MailPermission, MailToCheck } from '../../infrastructure/mail/sending.ts';
import type { Metrics } from '../../infrastructure/telemetry/metrics.ts';
import type { ImageUrls } from '../images/index.ts';
import { countMatches, createNotificationRepository, takeWaitingMatches } from './inbox/repository.ts';
import { inboxRoutes } from './inbox/routes.ts';
import { createPreferencesRepository } from './preferences/repository.ts';
import { createUnsubscribeLinks, preferenceRoutes, unsubscribeRoutes } from './preferences/routes.ts';
import { createPushDelivery } from './push/delivery.ts';
import { createPushSubscriptions } from './push/repository.ts';
import { pushRoutes } from './push/routes.ts';
import { streamRoutes } from './stream/routes.ts';
import { createStreamHub, type HubOptions } from './stream/stream.ts';

export { pushJobs, sendPushTask } from './push/delivery.ts';
export type { EventStreamTimes } from './stream/event-stream.ts';

interface NotificationsOptions {
  config: Config;
  database: Database;
  outbox: Outbox;
  imageUrls: ImageUrls;
  /** The kinds of emails of all domains, of which some can be switched off. */
  mailKinds: MailKinds;
  metrics: Metrics;
  logger: FastifyBaseLogger;
}

/** Builds the notifications domain: its routes, how others notify users, jobs of push messages, and preferences of emails. */
export function createNotifications(options: NotificationsOptions) {
  const { config, database, outbox, imageUrls, mailKinds, metrics } = options;
  const notifications = createNotificationRepository(database, outbox);
  const preferences = createPreferencesRepository(database);
  const unsubscribeLinks = createUnsubscribeLinks(config);
  const subscriptions = createPushSubscriptions(database);

  async function routes(
    scope: FastifyInstance,
    streamOptions: Pick<HubOptions, 'listen' | 'findLiveSessions' | 'streamTimes'>,
  ): Promise<void> {
    await scope.register(preferenceRoutes, { preferences });
    const { frontendUrl } = config;
    await scope.register(unsubscribeRoutes, { preferences, unsubscribeLinks, frontendUrl });
    await scope.register(pushRoutes, { prefix: '/push/', subscriptions, config });
    await scope.register(inboxRoutes, { notifications, imageUrls });
    // Streams use a third of the pool at most; the rest is for requests.
    const maxConcurrentReads = Math.max(1, Math.floor(config.database.poolSize / 3));
    const reading = { notifications, imageUrls, maxConcurrentReads, logger: scope.log };
    const streams = createStreamHub({ ...streamOptions, ...reading });
    metrics.addGauge('notification_streams', 'Open streams of notifications', streams.count);
    await scope.register(streamRoutes, { streams });
  }

  /** What the recipient's preferences say about an email; a deferred one is not sent once its notification is read. */
  async function checkMail({ kind, payload, jobId }: MailToCheck): Promise<MailPermission | undefined> {
    const topic = mailKinds[kind]?.topic;
    if (topic === undefined || !('user_id' in payload)) return {};
    const subscription = { userId: Number(payload['user_id']), topic };
    if ('is_deferred' in payload && !(await preferences.isUnread(subscription.userId, kind, payload)))
      return undefined;
    const delivery = await preferences.decideDelivery({ channel: 'email', ...subscription, jobId });
    if (delivery === undefined || 'until' in delivery) return delivery;
    return { unsubscribeUrl: unsubscribeLinks.url(subscription) };
  }

  return {
    routes,
    notify: notifications.notify,
    lockCounts: notifications.lockCounts,
    deleteOld: notifications.deleteOld,
    countMatches,
    takeWaitingMatches,
    checkMail,
    pushLane: createPushDelivery({ ...options, notifications, preferences, subscriptions }),
  };
}
