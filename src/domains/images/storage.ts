import { mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Config } from '../../infrastructure/config/config.ts';

/** Where the files of images are kept. Names are relative, such as `3f/1ab0.webp`. */
export interface ImageStorage {
  /** Writes a file; it is there completely or not at all, and survives a crash once this returns. */
  put(name: string, bytes: Buffer): Promise<void>;
  /** Deletes a file, and what an interrupted `put` left of it; one that does not exist is deleted already. */
  delete(name: string): Promise<void>;
}

/** Both files of the image with a key. */
export function fileNames(key: string) {
  return { large: `${key}.webp`, thumbnail: `${key}-480.webp` };
}

/** The configured storage: S3 with a bucket, else the disk. */
export async function openStorage(images: Config['images']): Promise<ImageStorage> {
  if (images.s3 === undefined) return createDiskStorage(images.directory);
  // The SDK is loaded only where it is configured.
  const { createS3Storage } = await import('./s3-storage.ts');
  return createS3Storage(images.s3);
}

/** Keeps files in a folder. */
export function createDiskStorage(directory: string): ImageStorage {
  /** A fixed name beside the file, so that a deletion finds what a crash left. */
  const unfinished = (path: string) => `${path}.part`;

  async function put(name: string, bytes: Buffer): Promise<void> {
    const path = join(directory, name);
    try {
      await mkdir(dirname(path), { recursive: true });
      await writeFile(unfinished(path), bytes, { flag: 'wx', flush: true });
      await rename(unfinished(path), path);
      await syncFolder(dirname(path));
    } catch (error) {
      // What cannot be deleted now is deleted with the image.
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

/** Makes a new name in a folder survive a crash. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
