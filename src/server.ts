import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import closeWithGrace from 'close-with-grace';
import type { FastifyInstance } from 'fastify';
import { buildApp } from './app.ts';
import { type Config, ConfigError, loadConfig, withDatabase } from './config/config.ts';
import { readVersion } from './config/version.ts';
import { DatabaseConnectError } from './database/connect-error.ts';
import { MigrationError, migrate } from './database/migrations.ts';
import { type EmbeddedServer, EmbeddedServerError, startEmbeddedServer } from './embedded-postgres/server.ts';
import { PortError } from './http/plugins/metrics-server.ts';

/** Milliseconds after a signal: when open connections are closed, and when the process ends at the latest. */
const connectionTimeout = 10_000;
const shutdownTimeout = 14_500;

// The optimizing compiler takes 30 MiB for Prisma's query compiler, which is WebAssembly and seldom runs.
setFlagsFromString('--liftoff-only');

async function start(): Promise<void> {
  const config = loadConfig(process.env);
  // There is no log yet. If PostgreSQL does not start, the error contains its output.
  let onLog: (line: string) => void = () => undefined;
  const embedded = await startDatabase(config, (line) => onLog(line));
  try {
    const appConfig = withDatabase(config, embedded?.url ?? config.database.url ?? '');
    if (config.database.migrateOnStart) await migrate(appConfig.database.directUrl);
    const app = await buildApp(appConfig);
    onLog = (line) => app.log.info({ part: 'postgres' }, line);
    await serve(app, config, embedded);
  } catch (error) {
    await embedded?.stop();
    throw error;
  }
}

async function serve(
  app: FastifyInstance,
  config: Config,
  embedded: EmbeddedServer | undefined,
): Promise<void> {
  closeWithGrace({ delay: shutdownTimeout, logger: app.log }, async ({ err, signal }) => {
    if (err) app.log.fatal({ err }, 'unhandled error, shutting down');
    else app.log.info({ signal }, 'shutting down');
    setTimeout(() => app.server.closeAllConnections(), connectionTimeout).unref();
    // Load balancers notice that the instance is not ready while it still answers. A process in an unknown state does not wait.
    app.shutdown.announced = true;
    if (!err) await sleep(config.shutdownDelay * 1_000);
    await app.close();
    await embedded?.stop();
    app.log.info('shut down');
  });
  try {
    await app.listen({ host: config.host, port: config.port });
  } catch (error) {
    // The worker is running already and must not continue without the server.
    await app.close();
    throw error;
  }
  app.log.info(
    { version: readVersion(), origin: app.listeningOrigin, production: config.production },
    'started',
  );
  // On stderr, so that stdout has JSON lines only.
  if (!config.production) process.stderr.write(describeService(config, app.listeningOrigin));
}

/** What a developer opens first. */
function describeService(config: Config, origin: string): string {
  const lines = [`Dure is running at ${origin}`];
  if (config.docsEnabled) lines.push(`  API documentation  ${origin}/docs/`);
  if (!config.mail.resend) lines.push(`  Mailbox            ${origin}/dev/mailbox/ (mails are not sent)`);
  if (!config.database.url) lines.push(`  Data               ${config.dataDirectory} (embedded PostgreSQL)`);
  return `\n${lines.join('\n')}\n  Press Ctrl-C to stop.\n\n`;
}

async function startDatabase({ database, dataDirectory }: Config, onLog: (line: string) => void) {
  if (database.url !== undefined) return undefined;
  return startEmbeddedServer({ directory: join(dataDirectory, 'postgres'), onLog, onExit: fail });
}

function fail(error: unknown): never {
  process.stderr.write(`${describe(error)}\n`);
  process.exit(1);
}

/** Errors that an operator can act on are one line; others include the stack. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isOwn = [ConfigError, DatabaseConnectError, EmbeddedServerError, MigrationError, PortError].some(
    (type) => error instanceof type,
  );
  // Error codes of the operating system and of PostgreSQL, such as a port in use or a missing database.
  const code = 'code' in error ? String(error.code) : '';
  const isSystem = /^(E[A-Z]+|[0-9A-Z]{5})$/.test(code);
  return isOwn || isSystem ? error.message || code : String(error.stack);
}

try {
  await start();
} catch (error) {
  fail(error);
}
