import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { lstatSync } from 'node:fs';
import { chown, mkdir, open, readFile, readlink, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { EmbeddedServerError } from './binaries.ts';
import { type FileLock, tryLock } from './lock.ts';
import { type Owner, type Programs, runProgram } from './programs.ts';

const SHUTDOWN_PATIENCE_MS = 15_000;

/** The superuser of the cluster, and the name of the service's database. */
export const NAME = 'dure';

/** PostgreSQL's own files (its "database cluster") in the folder of the embedded server. */
export function clusterPath(folder: string): string {
  return join(folder, 'cluster');
}

/** The owner of an existing cluster. Any other failure to see it must not pass for a first run. */
export function clusterOwner(folder: string): Owner | undefined {
  return lstatSync(clusterPath(folder), { throwIfNoEntry: false });
}

/** The folder is ours, and no PostgreSQL process of an earlier run is left in it. */
export interface Claim {
  /** To be inherited by PostgreSQL's processes, so that the next start knows when all of them are gone. */
  readonly serverLock: FileLock;
  release(): void;
}

/**
 * Claims the folder: at once when the service of an earlier run is gone, within seconds when its PostgreSQL
 * server is still shutting down.
 *
 * @throws EmbeddedServerError when another instance is alive
 */
export async function claimFolder(folder: string): Promise<Claim> {
  const instance = await tryLock(join(folder, 'instance.lock'));
  if (!instance) throw await alreadyRunning(folder);
  try {
    const server = await lockServer(folder);
    return {
      serverLock: server,
      release() {
        server.release();
        instance.release();
      },
    };
  } catch (error) {
    instance.release();
    throw error;
  }
}

async function alreadyRunning(folder: string): Promise<EmbeddedServerError> {
  const pid = (await readFile(join(folder, 'instance.lock'), 'utf8').catch(() => '')).trim();
  const holder = pid && `, process ${pid}`;
  return new EmbeddedServerError(`Another instance is already running in this folder (${folder}${holder}).`);
}

async function lockServer(folder: string): Promise<FileLock> {
  const deadline = Date.now() + SHUTDOWN_PATIENCE_MS;
  for (;;) {
    const lock = await tryLock(join(folder, 'server.lock'));
    if (lock) return lock;
    // The service that started it is gone. Should its watchdog have been killed too, nobody else shuts it down.
    const pid = await findServer(folder);
    if (pid !== undefined) signal(pid, 'SIGINT');
    if (Date.now() > deadline) {
      throw new EmbeddedServerError(
        `A PostgreSQL server of an earlier run is still running in this folder (${folder}${pid ? `, process ${pid}` : ''}).`,
      );
    }
    await delay(100);
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // Gone in the meantime, or of another user: the wait for the lock tells.
  }
}

/**
 * The process that PostgreSQL's pid file names, if that is a PostgreSQL server of this cluster: after a crash the
 * file remains, and after a reboot or in a new container its number may be anybody's.
 */
async function findServer(folder: string): Promise<number | undefined> {
  const text = await readFile(join(clusterPath(folder), 'postmaster.pid'), 'utf8').catch(() => '');
  const pid = Number.parseInt(text, 10);
  if (!(pid > 0) || !/\/postgres[\0 ]/.test(await commandLine(pid))) return undefined;
  // A server works in its cluster's folder. Without /proc, or where it is not ours to read, the name has to do.
  const workingFolder = await readlink(`/proc/${pid}/cwd`).catch(() => clusterPath(folder));
  return workingFolder === clusterPath(folder) ? pid : undefined;
}

async function commandLine(pid: number): Promise<string> {
  if (process.platform === 'linux') return readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return promisify(execFile)('ps', ['-o', 'command=', '-p', String(pid)]).then(
    ({ stdout }) => stdout,
    () => '',
  );
}

/**
 * Makes the cluster ready to be served, creating it on the first run.
 *
 * @returns the password of its superuser
 */
export async function prepareCluster(folder: string, programs: Programs, claim: Claim): Promise<string> {
  const cluster = clusterPath(folder);
  const owner = clusterOwner(folder);
  if (!owner) await createCluster(folder, programs, claim);
  else if (programs.owner && programs.owner.uid !== owner.uid) await changeOwner(cluster, programs.owner);
  await removeStalePidFile(folder, claim);
  return readFile(passwordPath(folder), 'utf8');
}

/** Created aside and renamed when complete, so that a first run that is killed leaves nothing that looks like a cluster. */
async function createCluster(folder: string, programs: Programs, claim: Claim): Promise<void> {
  const draft = join(folder, 'initializing');
  const password = passwordPath(folder);
  await rm(draft, { recursive: true, force: true });
  await rm(password, { force: true });
  await writeFile(password, randomBytes(24).toString('hex'), { mode: 0o600, flag: 'wx', flush: true });
  await mkdir(draft, { mode: 0o700 });
  if (programs.owner) {
    await chown(draft, programs.owner.uid, programs.owner.gid);
    await chown(password, programs.owner.uid, programs.owner.gid);
  }
  const settings = [
    ...[`--pgdata=${draft}`, `--username=${NAME}`, `--pwfile=${password}`, '--auth=scram-sha-256'],
    // Upper and lower case of every script, equal on every platform and for ever, unlike the system's locales.
    ...['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'],
    ...['--data-checksums', '--no-instructions'],
  ];
  const { code, output } = await runProgram(
    programs,
    [programs.initdb, ...settings],
    claim.serverLock.descriptor,
  );
  if (code !== 0) throw new EmbeddedServerError(`PostgreSQL's initdb failed: ${output.trim()}`);
  await rename(draft, clusterPath(folder));
  await persistNames(folder);
}

function passwordPath(folder: string): string {
  return join(folder, 'password');
}

/** Without it a power cut could undo the renaming, and the next start would discard the draft with all its data. */
async function persistNames(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder);
  await handle.sync().finally(() => handle.close());
}

/** As root, when another way to run PostgreSQL has to be taken than before. `chown` gets to the topmost folder last. */
async function changeOwner(cluster: string, { uid, gid }: Owner): Promise<void> {
  await promisify(execFile)('chown', ['-R', `${uid}:${gid}`, cluster]);
}

/** PostgreSQL would believe any process that happens to have the number in it; we know better. */
async function removeStalePidFile(folder: string, claim: Claim): Promise<void> {
  const pid = await findServer(folder);
  if (pid !== undefined) {
    throw new EmbeddedServerError(
      `Another PostgreSQL server is already running in this folder (${folder}, process ${pid}).`,
    );
  }
  // On Windows the server does not share the lock.
  const isStale = claim.serverLock.exclusive && process.platform !== 'win32';
  if (isStale) await rm(join(clusterPath(folder), 'postmaster.pid'), { force: true });
}
