import type { Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import jwt from '@fastify/jwt';
import { type FastifyHttpOptions, type FastifyInstance, fastify, LogController } from 'fastify';
import { expiredAuditEntries } from './domains/admin/index.ts';
import { expiredAuthRows, jwtOptions, securityEvents } from './domains/auth/index.ts';
import { erasedImages, type ImageStorage } from './domains/images/index.ts';
import { type EventStreamTimes, expiredNotifications, sendPushTask } from './domains/notifications/index.ts';
import { expiredDataDownloads } from './domains/own-data/index.ts';
import { erasedMessages } from './domains/partner-requests/index.ts';
import { duePosts } from './domains/posts/index.ts';
import { expiredReports } from './domains/reports/index.ts';
import { expiredPostAlerts } from './domains/saved-searches/index.ts';
import { storeEdits } from './domains/stores/index.ts';
import { createDomains } from './domains.ts';
import { credentialsPlugin } from './http/authentication.ts';
import { rootRoutes } from './http/pages.ts';
import { bodyLimit, bodyReaderPlugin } from './http/plugins/body-reader.ts';
import {
  createClientErrorHandler,
  envelopePlugin,
  errorHandlerPlugin,
  sendError,
} from './http/plugins/envelope.ts';
import { healthRoutes, shutdownPlugin } from './http/plugins/health.ts';
import { loggerOptions, logStream, requestId, requestLogPlugin } from './http/plugins/logging.ts';
import { deadlinePlugin, overloadPlugin, userTurnsPlugin } from './http/plugins/overload.ts';
import { ownWritesPlugin } from './http/plugins/own-writes.ts';
import { rateLimitPlugin } from './http/plugins/rate-limits.ts';
import { rewriteUrl, routerOptions, routingPlugin } from './http/plugins/routing.ts';
import { securityHeadersPlugin } from './http/plugins/security-headers.ts';
import { metricsPlugin, metricsRoutes, serveMetrics, tracingPlugin } from './http/plugins/telemetry.ts';
import { unreadResponsesPlugin } from './http/plugins/unread-responses.ts';
import { validationPlugin } from './http/plugins/validation.ts';
import { requestContextPlugin, trustedProxies } from './http/request-context.ts';
import type { AppConfig, Config } from './infrastructure/config/config.ts';
import { cleanUp } from './infrastructure/database/clean-up.ts';
import type { Database } from './infrastructure/database/client.ts';
import { expiredIdempotencyKeys } from './infrastructure/database/idempotency.ts';
import { pendingMigrations } from './infrastructure/database/migrations.ts';
import { onceASecond } from './infrastructure/database/once-a-second.ts';
import { endIfReadOnly } from './infrastructure/database/pool.ts';
import { expiredMailSends } from './infrastructure/mail/mail-sends.ts';
import { expiredFailedMails, sendMailTask } from './infrastructure/mail/queue.ts';
import { createMailLane } from './infrastructure/mail/sending.ts';
import type { MailTransport } from './infrastructure/mail/transport.ts';
import { addDatabaseMetrics } from './infrastructure/telemetry/database-metrics.ts';
import { addPoolMetrics, addProcessMetrics, createMetrics } from './infrastructure/telemetry/metrics.ts';
import type { Tracing } from './infrastructure/telemetry/tracing.ts';
import { openApiPlugin, openApiRoutes } from './openapi/plugin.ts';
import {
  createTransport,
  listenWithApp,
  openAppDatabase,
  openAppReplica,
  openRedis,
  openTracing,
  registerDevelopmentLogin,
  startWorkerWithApp,
} from './resources.ts';

/** Milliseconds; load balancers often wait two seconds. */
const readyTimeout = 1_800;

/** What the clean-up deletes. */
export const expiredRows = [
  ...expiredAuthRows,
  expiredIdempotencyKeys,
  expiredMailSends,
  expiredFailedMails,
  erasedImages,
  expiredAuditEntries,
  expiredReports,
  expiredDataDownloads,
  storeEdits.expired,
  expiredPostAlerts,
];

/** What tests replace. */
export interface AppOverrides {
  /** Gets each line of the log. */
  logStream?: { write(line: string): void };
  transport?: MailTransport;
  storage?: ImageStorage;
  /** Milliseconds for a request; see {@link deadlinePlugin}. */
  timeLimit?: number;
  /** Milliseconds; 0 never rejects requests. See {@link overloadPlugin}. */
  maxEventLoopDelay?: number;
  /** Times of notification streams, in milliseconds. */
  streamTimes?: Partial<EventStreamTimes>;
}

/**
 * Builds the whole service: every plugin and domain, in the order in which a request meets them. The caller lets it listen.
 *
 * @param config from `loadConfig`, with the URL of the database
 */
export async function buildApp(config: AppConfig, overrides: AppOverrides = {}): Promise<FastifyInstance> {
  const tracing = await openTracing(config);
  const metrics = createMetrics();
  const logTo = overrides.logStream ?? logStream(metrics);
  const app = fastify(serverOptions(config, logTo, tracing));
  for (const warning of config.warnings) app.log.warn(warning);
  if (tracing) {
    await app.register(tracingPlugin, { tracing });
    app.addHook('onClose', () => tracing.close());
  }
  const database = openAppDatabase(app, config);
  const redis = await openRedis(app, config, metrics);
  const replica = openAppReplica(app, config, { primary: database, redis, metrics });
  for (const { pool } of [database, ...(replica ? [replica] : [])]) tracing?.tracePool(pool);
  addProcessMetrics(metrics, config.commit);
  addPoolMetrics(metrics, database.pool);
  addDatabaseMetrics(metrics, database, [sendMailTask, sendPushTask]);

  await app.register(jwt, jwtOptions(config));
  const domains = await createDomains({
    config,
    database,
    read: replica?.read,
    jwt: app.jwt,
    logger: app.log,
    metrics,
    tracing,
    storage: overrides.storage,
  });
  const { auth, stores, posts, images, partnerRequests, notifications, myPage } = domains;
  const { admin, reports, savedSearches } = domains;

  // Every request.
  await app.register(requestContextPlugin);
  await app.register(requestLogPlugin);
  await app.register(metricsPlugin, { metrics, preregistered: securityEvents });
  await app.register(errorHandlerPlugin);
  await app.register(shutdownPlugin);
  await app.register(deadlinePlugin, { timeLimit: overrides.timeLimit });
  await app.register(securityHeadersPlugin, { config });
  await app.register(overloadPlugin, { maxEventLoopDelay: overrides.maxEventLoopDelay });
  await app.register(credentialsPlugin, { authenticator: auth.authenticator });
  await app.register(rateLimitPlugin, { config, metrics, redis });
  await app.register(userTurnsPlugin, { config });
  if (replica) await app.register(ownWritesPlugin, replica);
  await app.register(unreadResponsesPlugin);
  await app.register(bodyReaderPlugin);
  await app.register(validationPlugin);
  await app.register(envelopePlugin);
  await app.register(routingPlugin, { config });
  await app.register(openApiPlugin);

  // Operations.
  await app.register(auth.routes, { prefix: '/auth/' });
  await app.register(domains.ownData.routes, { prefix: '/auth/' });
  await app.register(auth.publicKeys, { prefix: '/.well-known/' });
  await app.register(stores.routes, { prefix: '/api/v1/stores/' });
  await app.register(myPage.routes, { prefix: '/api/v1/stores/' });
  await app.register(partnerRequests.partnerRoutes, { prefix: '/api/v1/stores/' });
  await app.register(stores.directory, { prefix: '/api/v1/stores/' });
  await app.register(posts.routes, { prefix: '/api/v1/posts/' });
  await app.register(savedSearches.routes, { prefix: '/api/v1/saved-searches/' });
  await app.register(images.routes, { prefix: '/api/v1/images/' });
  await app.register(images.media, { prefix: '/media/' });
  await app.register(partnerRequests.routes, { prefix: '/api/v1/notifications/' });
  await app.register(notifications.routes, {
    prefix: '/api/v1/notifications/',
    listen: (subscription) => listenWithApp(app, config, subscription),
    findLiveSessions: auth.findLiveSessions,
    streamTimes: overrides.streamTimes,
  });
  await app.register(reports.routes, { prefix: '/api/v1/' });
  await app.register(admin.routes, { prefix: '/api/v1/admin/' });
  if (config.metricsPort === undefined) await app.register(metricsRoutes, { metrics });
  else serveMetrics(app, { metrics, host: config.host, port: config.metricsPort });
  await app.register(healthRoutes, { checkReady: onceASecond(() => checkReady(database)) });
  await app.register(rootRoutes, { docsEnabled: config.docsEnabled });
  if (auth.developmentLogin) await registerDevelopmentLogin(app, auth.developmentLogin);
  await app.register(openApiRoutes, config);

  // Mails, streams and clean-up.
  app.addHook('onReady', async () => domains.outbox.start());
  app.addHook('onClose', () => domains.outbox.stop());
  const transport = overrides.transport ?? (await createTransport(app, config));
  if (config.workerEnabled) {
    const read = expiredNotifications(config.notificationTtl);
    const expired = [...expiredRows, ...read, erasedMessages, duePosts];
    const mailLane = createMailLane({
      transport,
      composers: { ...auth.mails, ...partnerRequests.mails, ...savedSearches.mails },
      checkMail: notifications.mailPreferences.checkMail,
      database,
      metrics,
      tracing,
      logger: app.log,
    });
    startWorkerWithApp(app, config, {
      tasks: { ...auth.tasks, ...savedSearches.tasks },
      crontab: savedSearches.crontab,
      lanes: [mailLane, notifications.pushLane],
      database,
      metrics,
      cleanUp: () =>
        cleanUp(database, expired, {
          users: auth.deleteAbandonedAccounts(),
          consents: auth.askAboutMarketing(),
          second_factors: auth.sealSecondFactorsAgain(),
          images: images.cleanUpImages(),
          old_matches: notifications.deleteOldMatches(config.matchTtl),
        }),
    });
  }
  return app;
}

function serverOptions(
  config: Config,
  stream: NonNullable<AppOverrides['logStream']>,
  tracing: Tracing | undefined,
): FastifyHttpOptions<Server> {
  return {
    logger: { ...loggerOptions(config.logLevel, tracing), stream },
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: requestId,
    trustProxy: config.trustProxy === false ? false : trustedProxies(config.trustProxy),
    routerOptions,
    rewriteUrl,
    bodyLimit,
    // Of a connection on which nothing moves while a request is served. Longer than a body may take, which gets 408, and than the
    // time between two heartbeats of an event stream. Node's `requestTimeout` would end uploads: see `body-reader.ts`.
    connectionTimeout: 33_000,
    http: { headersTimeout: 10_000, connectionsCheckingInterval: 2_000 },
    keepAliveTimeout: 72_000,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    frameworkErrors: sendError,
    clientErrorHandler: createClientErrorHandler(config),
  };
}

/** @throws when the database takes no writes, lacks migrations, or does not respond within {@link readyTimeout} */
async function checkReady({ pool }: Database): Promise<void> {
  const checks = Promise.all([pendingMigrations(pool), pool.query(endIfReadOnly)]);
  const results = await Promise.race([checks, sleep(readyTimeout, undefined, { ref: false })]);
  if (!results) throw new Error(`the database did not respond within ${readyTimeout} ms`);
  const [pending] = results;
  if (pending.length > 0) throw new Error(`pending migrations: ${pending.join(', ')}`);
}
