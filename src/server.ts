import { join } from 'node:path';
import closeWithGrace from 'close-with-grace';
import type { FastifyInstance } from 'fastify';
import { buildApp } from './app.ts';
import { type Config, ConfigError, loadConfig, withDatabase } from './config/config.ts';
import { MigrationError, migrate } from './database/migrations.ts';
import { type EmbeddedServer, EmbeddedServerError, startEmbeddedServer } from './embedded-postgres/server.ts';

/** Milliseconds from the signal to the end, at most, and to the moment when whoever still sends a request is cut off. */
const shutdownTime = 14_500;
const patience = 10_000;

async function start(): Promise<void> {
  const config = loadConfig(process.env);
  // Until there is a log: why PostgreSQL does not start is part of the error.
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
  closeWithGrace({ delay: shutdownTime, logger: app.log }, async ({ err }) => {
    if (err) app.log.fatal({ err }, 'the process ends because of an error nobody handled');
    setTimeout(() => app.server.closeAllConnections(), patience).unref();
    await app.close();
    await embedded?.stop();
  });
  try {
    await app.listen({ host: config.host, port: config.port });
  } catch (error) {
    // What already works behind the port, such as the worker, must not go on without it.
    await app.close();
    throw error;
  }
  // On stderr, so that stdout has JSON lines only.
  if (!config.production) process.stderr.write(describeService(config, app.listeningOrigin));
}

/** What a developer opens first, for a terminal. */
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

/** What an operator can act on is one line; everything else shows where it came from. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const ours = [ConfigError, EmbeddedServerError, MigrationError].some((type) => error instanceof type);
  // The operating system's and PostgreSQL's own errors: a taken port, a database that is not there.
  const code = 'code' in error ? String(error.code) : '';
  const theirs = /^(E[A-Z]+|[0-9A-Z]{5})$/.test(code);
  return ours || theirs ? error.message || code : String(error.stack);
}

try {
  await start();
} catch (error) {
  fail(error);
}
