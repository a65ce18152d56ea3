import { type ChildProcess, execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, realpath } from 'node:fs/promises';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { EmbeddedServerError } from './binaries.ts';
import { type Claim, claimFolder, clusterOwner, clusterPath, NAME, prepareCluster } from './cluster.ts';
import { findPrograms, type Programs, startServer } from './programs.ts';

export { EmbeddedServerError } from './binaries.ts';

/** A PostgreSQL server that this process started and keeps running. */
export interface EmbeddedServer {
  /** Connection string of the `dure` database. */
  url: string;
  /** Shuts the server down fast (open transactions are rolled back) and waits until every process of it is gone. */
  stop(): Promise<void>;
}

type Log = (line: string) => void;

const SETTINGS = [
  ...['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'max_connections=200'],
  ...['timezone=UTC', 'log_timezone=UTC', 'lc_messages=C'],
  // Failed statements are the service's to report, and their messages quote personal data.
  ...['log_min_messages=log', 'log_checkpoints=off', 'log_line_prefix='],
];
const PORT_ATTEMPTS = 5;
/** Milliseconds between the end of a server and its next start. */
const RESTART_DELAY = 1_000;

/**
 * Starts the PostgreSQL server under `directory`, after creating it on the first run. The server ends with this
 * process, in whatever way that ends; on Windows only through `stop`. When it ends before, as it does when it cannot
 * write because the disk is full, it is started again, every second until it works.
 *
 * @param options.directory - created when missing; holds the cluster, its password and the locks
 * @param options.onLog - receives each line that the server logs
 * @throws EmbeddedServerError when another process uses the directory, when no binaries are installed for this
 *   platform (the optional dependency is left out), or when PostgreSQL does not start
 */
export async function startEmbeddedServer(options: {
  directory: string;
  onLog?: (line: string) => void;
}): Promise<EmbeddedServer> {
  const { directory, onLog = () => undefined } = options;
  let claim: Claim | undefined;
  try {
    // Passable for the account that PostgreSQL may have to run as; everything inside is closed by itself.
    await mkdir(directory, { recursive: true, mode: 0o711 });
    const folder = await realpath(directory);
    claim = await claimFolder(folder);
    return await serve(folder, claim, onLog);
  } catch (error) {
    claim?.release();
    if (error instanceof EmbeddedServerError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new EmbeddedServerError(`The embedded database in ${directory} cannot be used: ${reason}`, {
      cause: error,
    });
  }
}

async function serve(folder: string, claim: Claim, onLog: Log): Promise<EmbeddedServer> {
  const programs = await findPrograms(folder, clusterOwner(folder));
  const password = await prepareCluster(folder, programs, claim);
  const { port, shutDown } = await startOnFreePort(folder, programs, claim, onLog);
  const urlOf = (database: string) =>
    `postgresql://${NAME}:${password}@127.0.0.1:${port}/${database}?sslmode=disable`;
  try {
    await createDatabase(urlOf('postgres'));
  } catch (error) {
    await shutDown();
    throw error;
  }
  let stopped: Promise<void> | undefined;
  return {
    url: urlOf(NAME),
    stop() {
      stopped ??= shutDown().finally(claim.release);
      return stopped;
    },
  };
}

interface Running {
  port: number;
  shutDown(): Promise<void>;
}

/** The port may be taken by someone else between its choice and its use. */
async function startOnFreePort(
  folder: string,
  programs: Programs,
  claim: Claim,
  onLog: Log,
): Promise<Running> {
  const settings = SETTINGS.flatMap((setting) => ['-c', setting]);
  for (let attempt = 1; ; attempt++) {
    const port = await findFreePort();
    const commandLine = ['-D', clusterPath(folder), '-p', String(port), ...settings];
    const start = () => launch(programs, commandLine, claim, onLog);
    const server = start();
    const failure = await server.failure;
    if (failure === undefined) {
      const shutDown = keepServing(server, start, ({ child }) => interrupt(child, programs, folder));
      return { port, shutDown };
    }
    if (attempt === PORT_ATTEMPTS || !failure.includes('could not create any TCP/IP sockets')) {
      throw new EmbeddedServerError(`PostgreSQL in ${folder} did not start: ${failure}`);
    }
  }
}

interface Launched {
  child: ChildProcess;
  ended: Promise<void>;
  /** Undefined as soon as it serves, or what it said when it ended instead. */
  failure: Promise<string | undefined>;
}

function launch(programs: Programs, commandLine: string[], claim: Claim, onLog: Log): Launched {
  const child = startServer(programs, commandLine, claim.serverLock.descriptor);
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  return { child, ended, failure: waitUntilReady(child, ended, onLog) };
}

/**
 * Starts the next server when one has ended. What may still be left of the last one is PostgreSQL's own to find out: such
 * a start fails, and is tried again.
 *
 * @returns ends the server that runs then, and waits until it is gone
 */
function keepServing(
  first: Launched,
  start: () => Launched,
  end: (server: Launched) => Promise<void>,
): () => Promise<void> {
  const shutdown = new AbortController();
  let server = first;
  const finished = (async () => {
    for (;;) {
      await server.ended;
      await delay(RESTART_DELAY, undefined, { signal: shutdown.signal }).catch(() => undefined);
      if (shutdown.signal.aborted) return;
      server = start();
    }
  })();
  return async () => {
    shutdown.abort();
    await end(server);
    await finished;
  };
}

async function findFreePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  return typeof address === 'object' && address ? address.port : 0;
}

/**
 * No time limit: recovery after a crash may take long, and a server that cannot start ends.
 *
 * @returns what the server said when it ended instead
 */
function waitUntilReady(child: ChildProcess, ended: Promise<void>, onLog: Log): Promise<string | undefined> {
  return new Promise((resolve) => {
    let said: string[] = [];
    let ready = false;
    const onLine = (line: string) => {
      onLog(line);
      if (ready) return;
      said.push(line);
      if (!line.includes('database system is ready to accept connections')) return;
      ready = true;
      said = [];
      resolve(undefined);
    };
    child.once('error', (error) => onLine(error.message));
    child.once('exit', (code, signal) => onLine(`PostgreSQL has ended (${signal ?? `exit code ${code}`})`));
    if (child.stderr) createInterface(child.stderr).on('line', onLine);
    ended.then(() => resolve(said.join('\n')));
  });
}

/** SIGINT is PostgreSQL's fast shutdown. */
async function interrupt(child: ChildProcess, programs: Programs, folder: string): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  if (process.platform !== 'win32') child.kill('SIGINT');
  else await promisify(execFile)(programs.pgCtl, ['stop', '-D', clusterPath(folder), '-m', 'fast']);
}

async function createDatabase(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  // Without a listener a connection that breaks would end the process.
  client.on('error', () => undefined);
  await client.connect();
  try {
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [NAME]);
    if (!rowCount) await client.query(`CREATE DATABASE ${NAME}`);
  } finally {
    await client.end();
  }
}
