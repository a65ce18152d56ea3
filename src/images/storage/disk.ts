import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ImageStorage } from './storage.ts';

/** Keeps files in a folder. */
export function createDiskStorage(directory: string): ImageStorage {
  /** A fixed name beside the file, so that a deletion finds what a crash left. */
  const unfinished = (path: string) => `${path}.part`;

  async function put(name: string, bytes: Buffer): Promise<void> {
    const path = join(directory, name);
    try {
      await mkdir(dirname(path), { recursive: true });
      await writeDurably(unfinished(path), bytes);
      await rename(unfinished(path), path);
      await syncFolder(dirname(path));
    } catch (error) {
      // What cannot be deleted now is deleted with the picture.
      await rm(unfinished(path), { force: true }).catch(() => undefined);
      throw error;
    }
  }

  async function remove(name: string): Promise<void> {
    const path = join(directory, name);
    await rm(unfinished(path), { force: true });
    await rm(path, { force: true });
  }

  return { put, delete: remove };
}

async function writeDurably(path: string, bytes: Buffer): Promise<void> {
  const file = await open(path, 'wx');
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Makes a new name in a folder survive a crash. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
