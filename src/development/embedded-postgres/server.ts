import { spawnSync } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, existsSync, ftruncateSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { withClient } from '../../infrastructure/database/connection.ts';
import { hasCode } from '../../infrastructure/database/errors.ts';
import { describeSystemError, hasSystemCode } from '../../infrastructure/system-errors.ts';
import { EmbeddedServerError, findPrograms, startProgram } from './programs.ts';

export { EmbeddedServerError } from './programs.ts';

/** The superuser of the cluster, and the name of the service's database. */
const databaseName = 'dure';

/** Milliseconds that PostgreSQL of a killed process has to shut down. */
const shutdownTimeout = 15_000;

/** PostgreSQL's own files (its "database cluster") in the folder of the embedded server. */
export const clusterPath = (folder: string) => join(folder, 'cluster');

function clusterUrl({ port, password }: { port: number; password: string }, database: string): string {
  return `postgresql://${databaseName}:${password}@127.0.0.1:${port}/${database}?sslmode=disable`;
}

interface EmbeddedServerOptions {
  /** Created when missing; contains the cluster, its password and the lock. */
  directory: string;
  /** Random by default. */
  port?: number | undefined;
  /** Receives each line that the server logs. */
  onLog?(line: string): void;
  /** Called when the server ends without `stop`; the message has its last output. It is not restarted. */
  onExit?(error: EmbeddedServerError): void;
}

const settings = [
  ...['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'max_connections=200'],
  ...['timezone=UTC', 'log_timezone=UTC', 'lc_messages=C'],
  // The service reports failed statements itself, and their messages quote personal data.
  ...['log_min_messages=log', 'log_checkpoints=off', 'log_line_prefix='],
].flatMap((setting) => ['-c', setting]);

/** The port is in use, or (without `flock`) the server of a killed process is still shutting down. */
const temporaryFailure = /could not create any TCP\/IP sockets|"postmaster\.pid" already exists/;

/**
 * Starts the PostgreSQL server in `directory`, after creating it on the first run. It shuts down when this process ends.
 *
 * @returns the connection string, and `stop`, which rolls back open transactions and waits until the server has ended
 * @throws {EmbeddedServerError} when the directory cannot be used or another process uses it, or nothing for this platform is installed or starts
 */
export async function startEmbeddedServer(options: EmbeddedServerOptions) {
  const folder = resolve(options.directory);
  const lock = await mkdir(folder, { recursive: true, mode: 0o700 })
    .then(() => lockFolder(folder))
    .catch((error: unknown) => {
      if (!hasSystemCode(error)) throw error;
      throw new EmbeddedServerError(`DATA_DIR cannot be used: ${describeSystemError(error)}`);
    });
  const { postgres, port, password } = await startPostgres(folder, lock, options).catch((error: unknown) => {
    closeSync(lock);
    throw error;
  });
  let stopping = false;
  const ended = postgres.ended.then(({ output }) => {
    closeSync(lock);
    if (stopping) return;
    options.onExit?.(new EmbeddedServerError(`PostgreSQL in ${folder} ended unexpectedly: ${output}`));
  });
  const stop = () => {
    stopping = true;
    postgres.interrupt();
    return ended;
  };
  const urlOf = (database: string) => clusterUrl({ port, password }, database);
  await withClient({ connectionString: urlOf('postgres') }, (client) =>
    client.query(`CREATE DATABASE ${databaseName}`),
  ).catch(async (error: unknown) => {
    // duplicate database
    if (hasCode(error, '42P04')) return;
    await stop();
    throw error;
  });
  return { url: urlOf(databaseName), stop };
}

/** There is no time limit: recovery after a crash may take long, and a server that cannot start ends. */
async function startPostgres(folder: string, lock: number, options: EmbeddedServerOptions) {
  const cluster = clusterPath(folder);
  const programs = findPrograms(cluster);
  const password = await prepareCluster(folder, programs.initdb, lock);
  for (const deadline = Date.now() + shutdownTimeout; ; await sleep(200)) {
    // Below the range from which the operating system takes the ports of outgoing connections.
    const port = options.port ?? randomInt(20_000, 32_000);
    const command = [...programs.postgres, '-D', cluster, '-p', String(port), ...settings];
    const ready = new AbortController();
    const postgres = startProgram(command, lock, (line) => {
      options.onLog?.(line);
      if (line.includes('database system is ready to accept connections')) ready.abort();
    });
    const failure = await Promise.race([once(ready.signal, 'abort').then(() => undefined), postgres.ended]);
    if (!failure) return { postgres, port, password };
    if (!temporaryFailure.test(failure.output) || Date.now() > deadline) {
      throw new EmbeddedServerError(`PostgreSQL in ${folder} did not start: ${failure.output}`);
    }
  }
}

/** Milliseconds that the server of another process has to become ready. */
const startTimeout = 10_000;

/**
 * Reaches the database in `directory`, through a server that runs already or is started here, and ended by `stop`.
 *
 * @throws {EmbeddedServerError} when there is no database in the folder, unless `create` is set, or its server cannot be reached
 */
export async function reachEmbeddedServer(
  directory: string,
  { create = false } = {},
): Promise<{ url: string; stop(): Promise<void> }> {
  if (!create && !existsSync(clusterPath(directory))) {
    throw new EmbeddedServerError(
      `There is no embedded database in ${directory}: set DATABASE_URL, or run the command in the folder of the service, or with its DATA_DIR.`,
    );
  }
  for (const deadline = Date.now() + startTimeout; ; await sleep(200)) {
    const url = await findRunningServer(directory);
    if (url !== undefined) return { url, stop: async () => undefined };
    try {
      return await startEmbeddedServer({ directory });
    } catch (error) {
      // The other instance may be starting its server, or stopping it.
      if (!(error instanceof EmbeddedServerError) || !/already running/.test(error.message)) throw error;
      if (Date.now() < deadline) continue;
      throw new EmbeddedServerError(
        `${error.message} Its database does not respond: stop that process, or wait until it has started.`,
      );
    }
  }
}

/** The connection string of the server that runs in the folder, which PostgreSQL describes in `postmaster.pid`. */
async function findRunningServer(directory: string): Promise<string | undefined> {
  const read = (path: string) => readFile(path, 'utf8').catch(() => '');
  const [, , , port = ''] = (await read(join(clusterPath(directory), 'postmaster.pid'))).split('\n');
  const password = await read(join(directory, 'password'));
  if (!/^\d+$/.test(port) || password === '') return undefined;
  const url = clusterUrl({ port: Number(port), password }, databaseName);
  // The file may be that of a killed server, or the server is not ready.
  return withClient({ connectionString: url, connectionTimeoutMillis: 3_000 }, (client) =>
    client.query('SELECT 1'),
  ).then(
    () => url,
    () => undefined,
  );
}

/**
 * Locks the folder, once PostgreSQL of a killed process has shut down, until all processes that inherit the lock have ended.
 * Without `flock`, as on macOS, PostgreSQL's `postmaster.pid` is the only guard. @returns descriptor of the locked file
 *
 * @throws {EmbeddedServerError} when another instance uses the folder
 */
async function lockFolder(folder: string): Promise<number> {
  const path = join(folder, 'server.lock');
  const lock = openSync(path, 'a+', 0o600);
  let result = tryLock(lock);
  for (const deadline = Date.now() + shutdownTimeout; result === 'taken'; result = tryLock(lock)) {
    const pid = Number(readFileSync(path, 'utf8'));
    const running = isRunning(pid);
    if (running || Date.now() > deadline) {
      closeSync(lock);
      const what = running ? 'Another instance is already' : 'PostgreSQL of a killed instance is still';
      throw new EmbeddedServerError(`${what} running in this folder (${folder}, process ${pid}).`);
    }
    await sleep(100);
  }
  ftruncateSync(lock);
  writeSync(lock, `${process.pid}\n`);
  // PostgreSQL would not start if any process has the id that a crash left in this file.
  if (result === 'locked') rmSync(join(clusterPath(folder), 'postmaster.pid'), { force: true });
  return lock;
}

/** Node has no flock(2). A lock that the program takes on an inherited descriptor stays with the open file. */
function tryLock(lock: number): 'locked' | 'taken' | 'unsupported' {
  const { status } = spawnSync('flock', ['-n', '3'], { stdio: ['ignore', 'ignore', 'ignore', lock] });
  if (status === 0) return 'locked';
  return status === 1 ? 'taken' : 'unsupported';
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Creates the cluster on the first run; it gets its name when it is complete. @returns the password of its superuser */
async function prepareCluster(folder: string, initdb: string[], lock: number): Promise<string> {
  const cluster = clusterPath(folder);
  const password = join(folder, 'password');
  if (existsSync(cluster)) return readFile(password, 'utf8');
  const draft = join(folder, 'initializing');
  await rm(draft, { recursive: true, force: true });
  await writeFile(password, randomBytes(24).toString('hex'), { mode: 0o600, flush: true });
  const options = [
    ...[`--pgdata=${draft}`, `--username=${databaseName}`, `--pwfile=${password}`, '--auth=scram-sha-256'],
    // Upper and lower case of every script, the same on every platform, unlike the system's locales.
    ...['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'],
    ...['--data-checksums', '--no-instructions'],
  ];
  const { succeeded, output } = await startProgram([...initdb, ...options], lock).ended;
  if (!succeeded) throw new EmbeddedServerError(`initdb failed in ${folder}: ${output}`);
  await rename(draft, cluster);
  return readFile(password, 'utf8');
}
