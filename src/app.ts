import jwt from '@fastify/jwt';
import { type FastifyBaseLogger, type FastifyInstance, fastify, LogController } from 'fastify';
import { createAuth } from './auth/index.ts';
import { jwtOptions } from './auth/tokens.ts';
import type { AppConfig, Config } from './config/config.ts';
import { cleanUp } from './database/clean-up.ts';
import { type Database, openDatabase } from './database/client.ts';
import { createListener, type Listener } from './database/listener.ts';
import { pendingMigrations } from './database/migrations.ts';
import { claimedUserId, credentialsPlugin } from './http/authentication.ts';
import { createIdempotency } from './http/idempotency.ts';
import { languagePlugin } from './http/language.ts';
import { bodyLimit, bodyParserPlugin } from './http/plugins/body-parser.ts';
import { clientErrorHandler } from './http/plugins/client-errors.ts';
import { deadlinePlugin } from './http/plugins/deadline.ts';
import { envelopePlugin } from './http/plugins/envelope.ts';
import { errorHandlerPlugin, sendError } from './http/plugins/error-handler.ts';
import { healthRoutes } from './http/plugins/health.ts';
import { loggerOptions, requestLogPlugin } from './http/plugins/logging.ts';
import { messageFramingPlugin } from './http/plugins/message-framing.ts';
import { createMetrics } from './http/plugins/metrics.ts';
import { overloadPlugin } from './http/plugins/overload.ts';
import { rateLimitPlugin } from './http/plugins/rate-limits.ts';
import { requestId, requestIdPlugin } from './http/plugins/request-id.ts';
import { rewriteUrl, routerOptions, routingPlugin } from './http/plugins/routing.ts';
import { securityHeadersPlugin } from './http/plugins/security-headers.ts';
import { shutdownPlugin } from './http/plugins/shutdown.ts';
import { registerTracing } from './http/plugins/tracing.ts';
import { addTextRules } from './http/text.ts';
import { validationPlugin } from './http/validation.ts';
import { createDevMailbox, devMailboxRoutes } from './mail/dev-mailbox.ts';
import { createMailQueue } from './mail/queue.ts';
import { createResendTransport, type MailTransport } from './mail/transport.ts';
import { startWorker, type Worker } from './mail/worker.ts';
import { createNotifications } from './notifications/index.ts';
import type { EventStreamTimes } from './notifications/stream/event-stream.ts';
import { openApiPlugin, openApiRoutes } from './openapi/plugin.ts';
import { createPosts } from './posts/index.ts';
import { createStores } from './stores/index.ts';

/** What tests put in place of the real thing. */
export interface AppOverrides {
  logger?: FastifyBaseLogger;
  transport?: MailTransport;
  /** Milliseconds for a request; see {@link deadlinePlugin}. */
  timeLimit?: number;
  /** Milliseconds; 0 never turns requests away. See {@link overloadPlugin}. */
  maxEventLoopDelay?: number;
  /** Of streams of notifications, in milliseconds. */
  streamTimes?: Partial<EventStreamTimes>;
}

/**
 * Builds the whole service: every plugin and domain in the order in which a request meets them. It listens only when told to.
 *
 * @param config from `loadConfig`; its database URL must be set
 */
export async function buildApp(config: AppConfig, overrides: AppOverrides = {}): Promise<FastifyInstance> {
  const app = fastify({
    ...(overrides.logger ? { loggerInstance: overrides.logger } : { logger: loggerOptions(config.logLevel) }),
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: requestId,
    trustProxy: config.trustProxy === false ? false : [...config.trustProxy],
    routerOptions,
    rewriteUrl,
    bodyLimit,
    requestTimeout: 30_000,
    // Which Host headers are right is decided where the answer is in the envelope.
    http: { headersTimeout: 10_000, connectionsCheckingInterval: 2_000, requireHostHeader: false },
    keepAliveTimeout: 72_000,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    frameworkErrors: sendError,
    clientErrorHandler,
    ajv: {
      customOptions: {
        coerceTypes: false,
        removeAdditional: false,
        allErrors: true,
        useDefaults: true,
        validateFormats: false,
      },
      plugins: [addTextRules],
    },
  });
  if (config.otlpEndpoint !== undefined) await registerTracing(app, config.otlpEndpoint);
  const database = openAppDatabase(app, config);

  await app.register(requestIdPlugin);
  await app.register(languagePlugin);
  await app.register(requestLogPlugin);
  const metrics = createMetrics(database);
  await app.register(metrics.plugin);
  await app.register(errorHandlerPlugin);
  await app.register(shutdownPlugin);
  await app.register(deadlinePlugin, { timeLimit: overrides.timeLimit });
  await app.register(securityHeadersPlugin, { config });
  await app.register(messageFramingPlugin);
  await app.register(overloadPlugin, { maxEventLoopDelay: overrides.maxEventLoopDelay });
  await app.register(jwt, jwtOptions(config));

  const mailQueue = createMailQueue();
  const idempotency = createIdempotency(database, config.secrets);
  const notifications = createNotifications({ config, database, mailQueue });
  const { closeAccount, withdrawRequestsOfPost } = notifications;
  const auth = await createAuth(app, { config, database, mailQueue, closeAccount });
  const stores = createStores({ database });
  const { checkCategoryFilter } = stores;
  const posts = createPosts({ config, database, withdrawRequestsOfPost, checkCategoryFilter });

  await app.register(credentialsPlugin, { authenticator: auth.authenticator });
  await app.register(rateLimitPlugin, { config, userOf: claimedUserId });
  await app.register(bodyParserPlugin);
  await app.register(validationPlugin);
  await app.register(envelopePlugin);
  await app.register(routingPlugin);
  await app.register(openApiPlugin);

  await app.register(auth.routes, { prefix: '/auth', idempotency });
  await app.register(stores.routes, { prefix: '/api/v1/stores', idempotency });
  await app.register(posts.routes, { prefix: '/api/v1/posts', idempotency });
  await app.register(notifications.routes, {
    prefix: '/api/v1/notifications',
    idempotency,
    listener: createAppListener(app, config),
    findLiveSessions: auth.findLiveSessions,
    addGauge: metrics.addGauge,
    streamTimes: overrides.streamTimes,
  });
  await app.register(metrics.routes);
  await app.register(healthRoutes, { checkReady: () => checkReady(database) });
  await app.register(openApiRoutes, { docsEnabled: config.docsEnabled });

  const transport = overrides.transport ?? (await createTransport(app, config));
  if (config.workerEnabled)
    startWorkerWithApp(app, config, {
      transport,
      composers: { ...auth.mails, ...notifications.mails },
      database,
      cleanUp: () => cleanUp(database),
    });
  return app;
}

function openAppDatabase(app: FastifyInstance, config: AppConfig): Database {
  let closing = false;
  const database = openDatabase({
    ...config.database,
    onError: (error) => {
      if (!closing) app.log.warn({ err: error }, 'an idle database connection was lost');
    },
  });
  app.addHook('onClose', () => {
    closing = true;
    return database.close();
  });
  return database;
}

/** Listens while the app does: before, nobody waits for what it hears. */
function createAppListener(app: FastifyInstance, config: AppConfig): Listener {
  const listener = createListener({ connectionString: config.database.directUrl, logger: app.log });
  app.addHook('onListen', async () => listener.start());
  app.addHook('onClose', () => listener.close());
  return listener;
}

async function checkReady(database: Database): Promise<void> {
  const pending = await pendingMigrations(database.pool);
  if (pending.length > 0) throw new Error(`migrations are missing: ${pending.join(', ')}`);
}

/** Resend where there is a key; else, outside production, a mailbox to look at. */
async function createTransport(app: FastifyInstance, { mail, production }: Config): Promise<MailTransport> {
  if (mail.resend) {
    const { apiKey, baseUrl } = mail.resend;
    return createResendTransport({ apiKey, from: mail.from, ...(baseUrl ? { baseUrl } : {}) });
  }
  if (production) throw new Error('there is no RESEND_API_KEY');
  const mailbox = createDevMailbox();
  await app.register(devMailboxRoutes, { mailbox });
  return mailbox;
}

function startWorkerWithApp(
  app: FastifyInstance,
  config: AppConfig,
  options: Omit<Parameters<typeof startWorker>[0], 'connectionString' | 'logger'>,
): void {
  let worker: Worker | undefined;
  app.addHook('onReady', async () => {
    worker = startWorker({
      ...options,
      connectionString: config.database.directUrl,
      logger: app.log,
    });
  });
  app.addHook('onClose', async () => worker?.stop());
}
