import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import type { Test } from 'tap';
import { succeeds } from './until.ts';

/** Why {@link smallDisk} cannot be used here; false where it can. */
export const cannotMount =
  process.getuid?.() === 0 && process.platform === 'linux' ? false : 'needs root to mount';

/** Mounts a disk of its own at a folder until the test ends. */
export function smallDisk(t: Test, folder: string, megabytes: number): string {
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder]);
  t.teardown(() => void execFileSync('umount', ['--lazy', folder]));
  return folder;
}

/** Writes a file until the disk has no room. @returns its path */
export async function fillDisk(folder: string): Promise<string> {
  const path = join(folder, 'fill');
  for (let size = 1024 * 1024; size >= 4096; size /= 4) {
    const block = Buffer.alloc(size);
    while (await succeeds(writeFile(path, block, { flag: 'a' })));
  }
  return path;
}
