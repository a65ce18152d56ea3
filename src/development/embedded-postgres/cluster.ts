import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, ftruncateSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EmbeddedServerError, type Programs, startProgram } from './programs.ts';

/** The superuser of the cluster, and the name of the service's database. */
export const databaseName = 'dure';

/** Milliseconds that PostgreSQL of a killed process has to shut down. */
export const shutdownTimeout = 15_000;

/** PostgreSQL's own files (its "database cluster") in the folder of the embedded server. */
export function clusterPath(folder: string): string {
  return join(folder, 'cluster');
}

/** The connection string of a database of the running cluster. */
export function clusterUrl({ port, password }: { port: number; password: string }, database: string): string {
  return `postgresql://${databaseName}:${password}@127.0.0.1:${port}/${database}?sslmode=disable`;
}

/**
 * Locks the folder, once PostgreSQL of a killed process has shut down, until all processes that inherit the lock have ended.
 * Without `flock`, as on macOS, PostgreSQL's `postmaster.pid` is the only guard.
 *
 * @returns descriptor of the locked file
 * @throws {EmbeddedServerError} when another instance uses the folder
 */
export async function lockFolder(folder: string): Promise<number> {
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

/**
 * Creates the cluster on the first run; it gets its name when it is complete.
 *
 * @returns the password of its superuser
 * @throws {EmbeddedServerError} when initdb fails
 */
export async function prepareCluster(cluster: string, programs: Programs, lock: number): Promise<string> {
  const folder = dirname(cluster);
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
  const { succeeded, output } = await startProgram([...programs.initdb, ...options], lock).ended;
  if (!succeeded) throw new EmbeddedServerError(`initdb failed in ${folder}: ${output}`);
  await rename(draft, cluster);
  return readFile(password, 'utf8');
}
