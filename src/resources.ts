import type { FastifyInstance } from 'fastify';
import type { Redis } from 'ioredis';
import type { DevelopmentLogin } from './domains/auth/index.ts';
import type { AppConfig, Config } from './infrastructure/config/config.ts';
import { type Database, openDatabase } from './infrastructure/database/client.ts';
import { type Listener, type Subscription, startListener } from './infrastructure/database/listener.ts';
import { rememberHere, rememberInRedis } from './infrastructure/database/own-writes.ts';
import { openReplica } from './infrastructure/database/replica.ts';
import { startWorker, type Worker } from './infrastructure/jobs/worker.ts';
import { createResendTransport, type MailTransport } from './infrastructure/mail/transport.ts';
import type { Metrics } from './infrastructure/telemetry/metrics.ts';
import type { Tracing } from './infrastructure/telemetry/tracing.ts';

/* What an app opens, and closes with itself: connections, the email transport and the worker. */

/** Opens tracing where a collector is configured. The libraries are large and loaded only then. */
export async function openTracing({ otlpEndpoint }: Config): Promise<Tracing | undefined> {
  if (otlpEndpoint === undefined) return undefined;
  const { connectCollector } = await import('./infrastructure/telemetry/collector.ts');
  return connectCollector(otlpEndpoint);
}

/** Opens the pool, which closes with the app. */
export function openAppDatabase(app: FastifyInstance, config: AppConfig): Database {
  let closing = false;
  const database = openDatabase({ ...config.database, limitFactor: config.limitFactor });
  database.pool.on('error', (err) => {
    if (!closing) app.log.warn({ err }, 'idle database connection lost');
  });
  app.addHook('onClose', () => {
    closing = true;
    return database.close();
  });
  return database;
}

/** Connects to Redis where limits or the replica need it. The client is loaded only then. */
export async function openRedis(
  app: FastifyInstance,
  { redisUrl, rateLimitEnabled, database }: Config,
  metrics: Metrics,
): Promise<Redis | undefined> {
  if (redisUrl === undefined || !(rateLimitEnabled || database.replica !== undefined)) return undefined;
  const { connectRedis } = await import('./http/plugins/redis.ts');
  const redis = connectRedis(app, redisUrl);
  metrics.addGauge('redis_connected', 'Whether Redis answers, so that limits are shared: 1 or 0', () =>
    Number(redis.status === 'ready'),
  );
  return redis;
}

/** Opens the replica where one is configured; it is checked while the app runs. */
export function openAppReplica(
  app: FastifyInstance,
  { database: { replica: location, poolSize }, limitFactor }: AppConfig,
  { primary, redis, metrics }: { primary: Database; redis: Redis | undefined; metrics: Metrics },
) {
  if (location === undefined) return undefined;
  const ownWrites = redis ? rememberInRedis(redis) : rememberHere();
  const replica = openReplica({
    ...location,
    poolSize,
    limitFactor,
    primary,
    ownWrites,
    metrics,
    logger: app.log,
  });
  app.addHook('onReady', async () => void replica.watch());
  app.addHook('onClose', () => replica.close());
  return { ...replica, ownWrites };
}

/** Listens to the database while the app listens to clients. */
export function listenWithApp(app: FastifyInstance, config: AppConfig, subscription: Subscription): void {
  let listener: Listener | undefined;
  app.addHook('onListen', async () => {
    const connectionString = config.database.directUrl;
    listener = startListener({ ...subscription, connectionString, logger: app.log });
  });
  app.addHook('onClose', async () => listener?.close());
}

/** Resend with an API key; without one, outside production, the dev mailbox. */
export async function createTransport(
  app: FastifyInstance,
  { mail, production }: Config,
): Promise<MailTransport> {
  if (mail.resend) return createResendTransport({ ...mail.resend, from: mail.from });
  if (production) throw new Error('RESEND_API_KEY is missing');
  const { createDevMailbox, devMailboxRoutes } = await import('./development/mailbox.ts');
  const mailbox = createDevMailbox();
  await app.register(devMailboxRoutes, { mailbox });
  return mailbox;
}

/** Registers the page of the provider for development, which only a configuration outside production has. */
export async function registerDevelopmentLogin(app: FastifyInstance, page: DevelopmentLogin): Promise<void> {
  const { developmentLoginRoutes } = await import('./development/login.ts');
  await app.register(developmentLoginRoutes, page);
}

/** Starts the worker of emails and clean-up when the app is ready; it stops with the app. */
export function startWorkerWithApp(
  app: FastifyInstance,
  config: AppConfig,
  options: Omit<Parameters<typeof startWorker>[0], 'connectionString' | 'limitFactor' | 'logger'>,
): void {
  let worker: Worker | undefined;
  app.addHook('onReady', async () => {
    const { database, limitFactor } = config;
    worker = startWorker({ ...options, connectionString: database.directUrl, limitFactor, logger: app.log });
  });
  app.addHook('onClose', async () => worker?.stop());
}
