import { spawn } from 'node:child_process';
import { closeSync, constants, ftruncateSync, openSync, writeSync } from 'node:fs';

/** An exclusive lock on a file; the operating system releases it when every process that shares it is gone. */
export interface FileLock {
  /** The open file. A child process that inherits it shares the lock. */
  readonly descriptor: number;
  /** False where this system cannot lock: then others may hold the file as well. */
  readonly exclusive: boolean;
  release(): void;
}

const O_EXLOCK = new Map<NodeJS.Platform, number>([
  ['darwin', 0x20],
  ['win32', 0x10000000],
]).get(process.platform);

/**
 * Locks a file, which is created when missing and then holds this process's id.
 *
 * The lock belongs to the open file (flock), not to a process id: it cannot be left behind by a crash, a reboot
 * or a container that starts with the same ids again. Where a Linux has no `flock` program or a file system
 * no locks, the result is not exclusive; PostgreSQL's own pid file is then the only guard.
 *
 * @returns undefined when someone else holds the lock
 */
export async function tryLock(path: string): Promise<FileLock | undefined> {
  const opened = O_EXLOCK === undefined ? await openAndLock(path) : openLocked(path, O_EXLOCK);
  if (!opened) return undefined;
  const { descriptor } = opened;
  ftruncateSync(descriptor);
  writeSync(descriptor, `${process.pid}\n`, 0);
  let released = false;
  return {
    ...opened,
    release() {
      if (!released) closeSync(descriptor);
      released = true;
    },
  };
}

type Opened = Pick<FileLock, 'descriptor' | 'exclusive'>;

/** macOS and Windows lock while opening. */
function openLocked(path: string, lockFlag: number): Opened | undefined {
  try {
    const wait = process.platform === 'win32' ? 0 : constants.O_NONBLOCK;
    const flags = constants.O_RDWR | constants.O_CREAT | wait | lockFlag;
    return { descriptor: openSync(path, flags, 0o600), exclusive: true };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'EAGAIN' || code === 'EBUSY') return undefined;
    throw error;
  }
}

/** Node has no flock(2), but the `flock` program locks a file that it inherits, and the lock stays with our copy. */
async function openAndLock(path: string): Promise<Opened | undefined> {
  const descriptor = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
  const exitCode = await flock(descriptor);
  const HELD_BY_ANOTHER = 1;
  if (exitCode !== HELD_BY_ANOTHER) return { descriptor, exclusive: exitCode === 0 };
  closeSync(descriptor);
  return undefined;
}

function flock(descriptor: number): Promise<number | null> {
  return new Promise((resolve) => {
    const child = spawn('flock', ['-n', '3'], { stdio: ['ignore', 'ignore', 'ignore', descriptor] });
    child.once('error', () => resolve(null));
    child.once('close', resolve);
  });
}
