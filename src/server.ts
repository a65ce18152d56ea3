import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { isatty } from 'node:tty';
import { format } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import closeWithGrace from 'close-with-grace';
import type { FastifyInstance } from 'fastify';
import { buildApp } from './app.ts';
import { flushLog } from './http/plugins/logging.ts';
import { type Config, loadConfig, locateDatabase, withDatabase } from './infrastructure/config/config.ts';
import { version } from './infrastructure/config/readers.ts';
import { checkServer } from './infrastructure/database/connection.ts';
import { migrate } from './infrastructure/database/migrations.ts';

/** Milliseconds after a signal: when open connections are closed, and when the process ends at the latest. */
const connectionTimeout = 10_000;
const shutdownTimeout = 14_500;

/** A terminal sends its signal to npm and to this process, and npm sends it once more: within this time, in milliseconds, it is the same. */
const sameSignal = 1_000;
const signals = ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM'] as const;
const hasTerminal = [0, 1, 2].some(isatty);

// The optimizing compiler takes 30 MiB for Prisma's query compiler, which is WebAssembly and seldom runs.
setFlagsFromString('--liftoff-only');

async function start(): Promise<void> {
  // `npm start` ends without a signal where it is killed.
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  process.channel?.unref();
  const { port, release } = await reservePort(loadConfig(process.env));
  const config = loadConfig({ ...process.env, PORT: String(port) });
  // There is no log yet. If PostgreSQL does not start, the error contains its output.
  let onLog: (line: string) => void = () => undefined;
  const { stop, ...location } = await locateDatabase(config, async (directory) => {
    const { startEmbeddedServer } = await import('./development/embedded-postgres/server.ts');
    return startEmbeddedServer({ directory, onLog: (line) => onLog(line), onExit: fail });
  });
  try {
    await checkServer(location.directUrl);
    if (config.database.migrateOnStart) await migrate(location.directUrl);
    const app = await buildApp(withDatabase(config, location));
    // Libraries write there, such as graphile-worker when it cannot store the outcome of a job.
    for (const method of ['error', 'trace', 'warn'] as const) {
      console[method] = (...values) => app.log.warn({ part: 'console' }, format(...values).split('\n', 1)[0]);
    }
    onLog = (line) => app.log.info({ part: 'postgres' }, line);
    await release();
    await serve(app, config, stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Takes a free port for `PORT=0` before the app is built, because `PUBLIC_URL` contains it, and keeps it until `release`. */
async function reservePort({ port, host }: Config): Promise<{ port: number; release(): Promise<unknown> }> {
  if (port !== 0) return { port, release: async () => undefined };
  const server = createServer().listen(0, host);
  await once(server, 'listening');
  const { port: free } = server.address() as AddressInfo;
  return { port: free, release: () => once(server.close(), 'close') };
}

async function serve(app: FastifyInstance, config: Config, stopDatabase: () => Promise<void>): Promise<void> {
  const options = { delay: shutdownTimeout, logger: app.log, skip: [...signals] };
  const { close } = closeWithGrace(options, async ({ err }) => {
    if (err) app.log.fatal({ err }, 'unhandled error, shutting down');
    setTimeout(() => app.server.closeAllConnections(), connectionTimeout).unref();
    // Load balancers notice that the instance is not ready while it still responds. A process in an unknown state does not wait.
    app.shutdown.announced = true;
    if (!err) await sleep(config.shutdownDelay * 1_000);
    await app.close();
    await stopDatabase();
    app.log.info('shut down');
    await flushLog(app.log);
  });
  // At its end Node.js resets the terminal. Of one that was closed it cannot, and dumps a trace again and again.
  if (hasTerminal)
    process.once('SIGHUP', () => process.once('exit', () => process.kill(process.pid, 'SIGKILL')));
  let signalledAt: number | undefined;
  for (const signal of signals) {
    process.on(signal, () => {
      if (signalledAt === undefined) {
        signalledAt = performance.now();
        app.log.info({ signal }, 'shutting down');
        close();
      } else if (performance.now() - signalledAt > sameSignal) {
        app.log.error({ signal }, 'second signal, ending at once');
        process.exit(1);
      }
    });
  }
  try {
    await app.listen({ host: config.host, port: config.port });
  } catch (error) {
    // The worker is running already and must not continue without the server.
    await app.close();
    throw error;
  }
  app.log.info({ version, origin: app.listeningOrigin, production: config.production }, 'started');
  // On stderr, so that stdout has JSON lines only.
  if (!config.production) process.stderr.write(describeService(config));
}

/** What a developer opens first. */
function describeService(config: Config): string {
  const origin = config.publicUrl;
  const lines = [`Dure is running at ${origin}`];
  if (config.docsEnabled) lines.push(`  API documentation  ${origin}/docs/`);
  if (!config.mail.resend) lines.push(`  Mailbox            ${origin}/dev/mailbox/ (mails are not sent)`);
  if (!config.database.url) lines.push(`  Data               ${config.dataDirectory} (embedded PostgreSQL)`);
  return `\n${lines.join('\n')}\n  Press Ctrl-C to stop.\n\n`;
}

function fail(error: unknown): never {
  process.stderr.write(`${describe(error)}\n`);
  process.exit(1);
}

/** Errors that an operator can act on are one line; others include the stack. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isOwn = /^(Config|DatabaseConnect|Migration|EmbeddedServer)Error$/.test(error.name);
  // Error codes of the operating system and of PostgreSQL, such as a port in use or a missing database.
  const code = 'code' in error ? String(error.code) : '';
  const isSystem = /^(E[A-Z]+|[0-9A-Z]{5})$/.test(code);
  if (code === 'EADDRINUSE')
    return `${error.message}. Stop what listens there, or choose another port: PORT=3001 npm start`;
  return isOwn || isSystem ? error.message || code : String(error.stack);
}

await start().catch(fail);
