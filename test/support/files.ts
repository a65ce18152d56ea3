import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import type { Test } from 'tap';
import { until } from './until.ts';

/** The folder of the repository. */
export const root = dirname(fileURLToPath(import.meta.resolve('#package/package.json')));

/** Where processes of the tests keep compiled modules, so that starting one again costs less CPU. Used by Node 22 or newer. */
export const compileCache = join(root, 'build/compile-cache');

/** Reads a file of the repository. */
export const readText = (path: string) => readFileSync(join(root, path), 'utf8');

/**
 * An empty folder, until the test ends.
 *
 * @param parent for a test whose files must be in the repository
 */
export function temporaryFolder(t: Test, parent = commonFolder()): string {
  const folder = makeFolder(parent);
  t.teardown(() => removeFolder(folder));
  return folder;
}

/** An empty folder, until the run ends. */
export function runFolder(): string {
  return makeFolder(commonFolder());
}

/**
 * A folder whose content all processes of a run share, because it is expensive to make: the first one that asks for it fills it.
 *
 * @param fill must have ended all processes in the folder when it returns, because the folder is renamed then
 */
export async function sharedFolder(name: string, fill: (folder: string) => Promise<void>): Promise<string> {
  const path = join(commonFolder(), name);
  if (existsSync(path)) return path;
  if (isFirst(`${path}.claimed`)) {
    const draft = runFolder();
    await fill(draft);
    renameSync(draft, path);
  }
  await until(`the shared folder ${name}`, () => existsSync(path));
  return path;
}

/**
 * Makes the folder of a run of tests, below which this process and those that inherit its environment make all others, and removes
 * those that killed runs have left.
 *
 * @returns `remove`, for the end of the run
 */
export function createRunFolder(): { path: string; remove(): void } {
  const parent = realpathSync(tmpdir());
  for (const folder of foldersOfDeadProcesses(parent)) {
    try {
      removeFolder(folder);
    } catch {
      // It is another user's.
    }
  }
  const path = makeFolder(parent);
  // Programs that run as other users reach theirs in it.
  chmodSync(path, 0o711);
  process.env['DURE_TEST_FOLDER'] = path;
  return { path, remove: () => removeFolder(path) };
}

/** Whether this process is the first one that claims a name, by making the folder of that name. */
export function isFirst(path: string): boolean {
  // Synchronous, because tap ends when it waits for nothing of its own.
  try {
    mkdirSync(path);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

/** The folder of the run, or one of this process, for a test file that runs by itself. */
function commonFolder(): string {
  const given = process.env['DURE_TEST_FOLDER'];
  if (given) return given;
  const { path, remove } = createRunFolder();
  process.once('exit', remove);
  return path;
}

/** The name has the id of the process, so that the folder of a process that has ended is found. */
function makeFolder(parent: string): string {
  return mkdtempSync(join(parent, `dure-test-${process.pid}-`));
}

function foldersOfDeadProcesses(parent: string): string[] {
  return readdirSync(parent)
    .filter((name) => {
      const pid = /^dure-test-(\d+)-/.exec(name)?.[1];
      return pid !== undefined && !isRunning(Number(pid));
    })
    .map((name) => join(parent, name));
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function removeFolder(folder: string): void {
  // Disks of small-disk.ts, when a run was killed.
  const mounts = existsSync('/proc/self/mounts') ? readFileSync('/proc/self/mounts', 'utf8').split('\n') : [];
  for (const [, path = ''] of mounts.map((line) => line.split(' '))) {
    if (path.startsWith(`${folder}/`)) spawnSync('umount', ['--lazy', path]);
  }
  // A server that is shutting down may write into it still.
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
