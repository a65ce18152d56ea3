import { setTimeout as sleep } from 'node:timers/promises';
import jwt from '@fastify/jwt';
import { type FastifyInstance, fastify, LogController } from 'fastify';
import { jwtOptions, securityEvents } from './domains/auth/index.ts';
import type { ImageStorage } from './domains/images/index.ts';
import { createDomains } from './domains/index.ts';
import { type EventStreamTimes, sendPushTask } from './domains/notifications/index.ts';
import { claimedUserId, credentialsPlugin } from './http/authentication.ts';
import { rootRoutes } from './http/pages.ts';
import { bodyLimit, bodyReaderPlugin } from './http/plugins/body-reader.ts';
import { createClientErrorHandler, envelopePlugin, sendError } from './http/plugins/envelope.ts';
import { healthRoutes, shutdownPlugin } from './http/plugins/health.ts';
import { loggerOptions, logStream, requestId, requestLogPlugin } from './http/plugins/logging.ts';
import { deadlinePlugin, overloadPlugin, userTurnsPlugin } from './http/plugins/overload.ts';
import { connectRedis, rateLimitPlugin } from './http/plugins/rate-limits.ts';
import { rewriteUrl, routerOptions, routingPlugin } from './http/plugins/routing.ts';
import { securityHeadersPlugin } from './http/plugins/security-headers.ts';
import { metricsPlugin, metricsRoutes, serveMetrics, tracingPlugin } from './http/plugins/telemetry.ts';
import { unreadResponsesPlugin } from './http/plugins/unread-responses.ts';
import { validationPlugin } from './http/plugins/validation.ts';
import { requestContextPlugin, trustedProxies } from './http/request-context.ts';
import type { AppConfig, Config } from './infrastructure/config/config.ts';
import { type Database, openDatabase } from './infrastructure/database/client.ts';
import { endIfReadOnly } from './infrastructure/database/connection.ts';
import { listenWithApp } from './infrastructure/database/listener.ts';
import { pendingMigrations } from './infrastructure/database/migrations.ts';
import { rememberHere, rememberInRedis } from './infrastructure/database/own-writes.ts';
import { openReplica } from './infrastructure/database/replica.ts';
import { onceASecond } from './infrastructure/database/shared-reads.ts';
import { startWorker, type Worker } from './infrastructure/jobs/worker.ts';
import { sendMailTask } from './infrastructure/mail/queue.ts';
import { createMailLane } from './infrastructure/mail/sending.ts';
import { createResendTransport, type MailTransport } from './infrastructure/mail/transport.ts';
import { addDatabaseMetrics } from './infrastructure/telemetry/database-metrics.ts';
import { addPoolMetrics, addProcessMetrics, createMetrics } from './infrastructure/telemetry/metrics.ts';
import { openApiPlugin, openApiRoutes } from './openapi/plugin.ts';

/** Milliseconds; load balancers often wait two seconds. */
const readyTimeout = 1_800;

/** What tests replace. */
export interface AppOverrides {
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

/** Builds the whole service: every plugin and domain, in the order in which a request meets them. The caller lets it listen. */
export async function buildApp(config: AppConfig, overrides: AppOverrides = {}): Promise<FastifyInstance> {
  const { limitFactor, redisUrl } = config;
  const { poolSize, directUrl, replica: replicaLocation } = config.database;
  // The libraries are large.
  const tracing =
    config.otlpEndpoint === undefined
      ? undefined
      : (await import('./infrastructure/telemetry/tracing.ts')).openTracing(config.otlpEndpoint);
  const metrics = createMetrics();
  const app = fastify({
    logger: { ...loggerOptions(config.logLevel, tracing), stream: overrides.logStream ?? logStream(metrics) },
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: requestId,
    trustProxy: config.trustProxy === false ? false : trustedProxies(config.trustProxy),
    routerOptions,
    rewriteUrl,
    bodyLimit,
    // Of a connection on which nothing moves while a request is served, or whose client does not read the response: up to twice as
    // long then. Longer than a body may take, which gets 408, and than the time between two heartbeats of an event stream. Node's
    // `requestTimeout` would end uploads: see `body-reader.ts`.
    connectionTimeout: 33_000,
    http: { headersTimeout: 10_000, connectionsCheckingInterval: 2_000 },
    return503OnClosing: false,
    clientErrorHandler: createClientErrorHandler(config),
  });
  const logger = app.log;
  for (const warning of config.warnings) logger.warn(warning);
  if (tracing) {
    await app.register(tracingPlugin, { tracing });
    app.addHook('onClose', () => tracing.close());
  }
  await app.register(shutdownPlugin);
  const common = { limitFactor, traceStatement: tracing?.traceStatement };
  const database = openDatabase({ ...config.database, ...common });
  database.pool.on('error', (err) => {
    if (!app.shutdown.announced) logger.warn({ err }, 'idle database connection lost');
  });
  app.addHook('onClose', () => database.close());
  const needsRedis = config.rateLimitEnabled || replicaLocation;
  const redis = needsRedis && redisUrl ? await connectRedis(app, redisUrl, metrics) : undefined;
  const ownWrites = redis ? rememberInRedis(redis) : rememberHere();
  const replica =
    replicaLocation &&
    openReplica({ ...replicaLocation, poolSize, ...common, primary: database, ownWrites, metrics, logger });
  if (replica) {
    app.addHook('onReady', async () => void replica.watch());
    app.addHook('onClose', () => replica.close());
  }
  addProcessMetrics(metrics, config.commit);
  addPoolMetrics(metrics, database.pool);
  addDatabaseMetrics(metrics, database, { tasks: [sendMailTask, sendPushTask], limitFactor });

  await app.register(jwt, jwtOptions(config));
  const shared = { config, database, metrics, tracing, logger };
  const { storage } = overrides;
  const domains = await createDomains({ ...shared, read: replica?.read, jwt: app.jwt, storage });
  const { auth, stores, posts, images, partnerRequests, notifications, myPage } = domains;
  const { admin, reports, savedSearches } = domains;

  // Every request.
  await app.register(requestContextPlugin);
  await app.register(requestLogPlugin);
  await app.register(metricsPlugin, { metrics, preregistered: securityEvents });
  app.setErrorHandler(sendError);
  await app.register(deadlinePlugin, { timeLimit: overrides.timeLimit });
  await app.register(securityHeadersPlugin, { config });
  await app.register(overloadPlugin, { maxEventLoopDelay: overrides.maxEventLoopDelay });
  await app.register(credentialsPlugin, { authenticator: auth.authenticator });
  await app.register(rateLimitPlugin, { config, metrics, redis });
  await app.register(userTurnsPlugin, { config });
  if (replica)
    // Before the handler, because the process may end.
    app.addHook('preHandler', async (request) => {
      const userId = ['GET', 'HEAD'].includes(request.method) ? undefined : claimedUserId(request);
      if (userId !== undefined) await ownWrites.remember(userId);
    });
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
  await app.register(posts.routes, { prefix: '/api/v1/posts/' });
  await app.register(savedSearches.routes, { prefix: '/api/v1/saved-searches/' });
  await app.register(images.routes, { prefix: '/api/v1/images/' });
  await app.register(images.media, { prefix: '/media/' });
  await app.register(partnerRequests.routes, { prefix: '/api/v1/notifications/' });
  await app.register(notifications.routes, {
    prefix: '/api/v1/notifications/',
    listen: (subscription) => listenWithApp(app, directUrl, subscription),
    findLiveSessions: auth.findLiveSessions,
    streamTimes: overrides.streamTimes,
  });
  await app.register(reports.routes, { prefix: '/api/v1/' });
  await app.register(admin.routes, { prefix: '/api/v1/admin/' });
  if (config.metricsPort === undefined) await app.register(metricsRoutes, { metrics });
  else serveMetrics(app, { metrics, host: config.host, port: config.metricsPort });
  await app.register(healthRoutes, {
    checkReady: onceASecond(() => checkReady(database, readyTimeout * (limitFactor ?? 1))),
  });
  await app.register(rootRoutes, { docsEnabled: config.docsEnabled });
  if (auth.developmentLogin) {
    const { developmentLoginRoutes } = await import('./development/login.ts');
    await app.register(developmentLoginRoutes, auth.developmentLogin);
  }
  await app.register(openApiRoutes, config);

  // Mails, streams and clean-up.
  app.addHook('onReady', async () => domains.outbox.start());
  app.addHook('onClose', () => domains.outbox.stop());
  const transport = overrides.transport ?? (await openTransport(app, config));
  if (config.workerEnabled) {
    const { checkMail } = notifications;
    const mailLane = createMailLane({ ...shared, transport, composers: domains.mails, checkMail });
    const { tasks, cleanUp } = domains;
    const { crontab } = savedSearches;
    const jobs = { tasks, crontab, cleanUp, lanes: [mailLane, notifications.pushLane] };
    let worker: Worker | undefined;
    app.addHook('onReady', async () => {
      worker = startWorker({ ...jobs, connectionString: directUrl, database, metrics, logger, limitFactor });
    });
    // While the last requests end, which may take as long.
    let stopped: Promise<void> | undefined;
    app.addHook('preClose', async () => {
      stopped = worker?.stop();
    });
    app.addHook('onClose', () => stopped);
  }
  return app;
}

/** Resend with an API key; without one, outside production, the dev mailbox. */
async function openTransport(app: FastifyInstance, { mail, production }: Config): Promise<MailTransport> {
  if (mail.resend) return createResendTransport({ ...mail.resend, from: mail.from });
  if (production) throw new Error('RESEND_API_KEY is missing');
  const { createDevMailbox, devMailboxRoutes } = await import('./development/mailbox.ts');
  const mailbox = createDevMailbox();
  await app.register(devMailboxRoutes, { mailbox, from: mail.from });
  return mailbox;
}

/** @throws when the database takes no writes, lacks migrations, or does not respond within some milliseconds */
async function checkReady({ pool }: Database, timeout: number): Promise<void> {
  const checks = Promise.all([pendingMigrations(pool), pool.query(endIfReadOnly)]);
  const results = await Promise.race([checks, sleep(timeout, undefined, { ref: false })]);
  if (!results) throw new Error(`the database did not respond within ${timeout} ms`);
  const [pending] = results;
  if (pending.length > 0) throw new Error(`pending migrations: ${pending.join(', ')}`);
}
