import type { FastifyInstance } from 'fastify';
import { requireUser, routesBehind } from '../../http/authentication.ts';
import type { Config } from '../../infrastructure/config/config.ts';
import type { Database } from '../../infrastructure/database/client.ts';
import type { Outbox } from '../../infrastructure/jobs/outbox.ts';
import type { Metrics } from '../../infrastructure/telemetry/metrics.ts';
import type { ImageUrls } from '../images/index.ts';
import { createNotificationRepository } from './inbox/repository.ts';
import { notificationRoutes } from './inbox/routes.ts';
import { createStreamHub, type HubOptions } from './stream/stream.ts';

export { expiredNotifications, type Recipient } from './inbox/repository.ts';
export { createPreferences } from './preferences/index.ts';
export { createPush } from './push/index.ts';
export type { EventStreamTimes } from './stream/event-stream.ts';

interface RoutesOptions extends Pick<HubOptions, 'listen' | 'findLiveSessions' | 'streamTimes'> {
  config: Config;
  metrics: Metrics;
}

/** Builds the notifications domain: its routes under `/api/v1/notifications`, and how other domains notify users. */
export function createNotifications(services: { database: Database; outbox: Outbox; imageUrls: ImageUrls }) {
  const { database, outbox, imageUrls } = services;
  const notifications = createNotificationRepository(database, outbox);

  async function routes(
    scope: FastifyInstance,
    { config, metrics, ...options }: RoutesOptions,
  ): Promise<void> {
    // Streams use a third of the pool at most; the rest is for requests.
    const maxConcurrentReads = Math.max(1, Math.floor(config.database.poolSize / 3));
    const streams = createStreamHub({
      ...options,
      notifications,
      imageUrls,
      maxConcurrentReads,
      logger: scope.log,
    });
    metrics.addGauge('notification_streams', 'Open streams of notifications', streams.count);
    await scope.register(
      routesBehind(requireUser, notificationRoutes, { notifications, streams, imageUrls }),
    );
  }

  return { routes, notify: notifications.notify, findOne: notifications.findOne };
}
