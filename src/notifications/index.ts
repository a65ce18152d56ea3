import type { FastifyInstance } from 'fastify';
import type { Listener } from '../database/listener.ts';
import { requireUser } from '../http/authentication.ts';
import type { Idempotency } from '../http/idempotency.ts';
import { storeSummarySchemas } from '../stores/schemas.ts';
import type { NotificationDependencies } from './dependencies.ts';
import { notificationMails } from './mails.ts';
import { createNotificationRepository } from './repository/notifications.ts';
import { createPartnerRequestRepository } from './repository/partner-requests.ts';
import { notificationRoutes } from './routes/notifications.ts';
import { partnerRequestRoutes } from './routes/partner-requests.ts';
import { notificationSchemas } from './schemas.ts';
import { createWithdrawals } from './service/withdrawals.ts';
import type { EventStreamTimes } from './stream/event-stream.ts';
import { createStreamHub } from './stream/hub.ts';
import { notificationStreamRoute } from './stream/route.ts';

interface RoutesOptions {
  idempotency: Idempotency;
  listener: Listener;
  /** Which of some sessions have not ended. */
  findLiveSessions(sessionIds: string[]): Promise<Set<string>>;
  /** Adds a metric. */
  addGauge(name: string, help: string, read: () => number): void;
  streamTimes?: Partial<EventStreamTimes> | undefined;
}

/**
 * Builds the notifications domain: its routes under `/api/v1/notifications`, the mails it sends, and what other domains call
 * when a post or an account goes away.
 */
export function createNotifications(
  options: Pick<NotificationDependencies, 'config' | 'database' | 'mailQueue'>,
) {
  const { database } = options;
  const dependencies: NotificationDependencies = {
    ...options,
    partnerRequests: createPartnerRequestRepository(database),
    notifications: createNotificationRepository(database),
  };

  async function routes(scope: FastifyInstance, options: RoutesOptions): Promise<void> {
    const { idempotency, listener, findLiveSessions, addGauge, streamTimes } = options;
    const streams = createStreamHub({
      notifications: dependencies.notifications,
      listener,
      findLiveSessions,
      // The rest of the pool is for requests.
      readsAtOnce: Math.max(1, Math.floor(dependencies.config.database.poolSize / 3)),
      times: streamTimes,
      logger: scope.log,
    });
    addGauge('notification_streams', 'Open streams of notifications', streams.count);
    for (const schema of [...storeSummarySchemas, ...notificationSchemas]) scope.addSchema(schema);
    await scope.register(requireUser);
    await scope.register(partnerRequestRoutes, { dependencies, idempotency });
    await scope.register(notificationRoutes, { dependencies });
    await scope.register(notificationStreamRoute, { streams });
  }

  return { routes, mails: notificationMails(dependencies), ...createWithdrawals(dependencies) };
}
