import type { Config } from '../../config/config.ts';
import { createDiskStorage } from './disk.ts';

/** Where the files of pictures are kept. Names are relative, such as `3f/1ab0.webp`. */
export interface ImageStorage {
  /** Writes a file; it is there completely or not at all, and survives a crash once this returns. */
  put(name: string, bytes: Buffer): Promise<void>;
  /** Deletes a file, and what an interrupted `put` left of it; one that does not exist is deleted already. */
  delete(name: string): Promise<void>;
}

/** Both files of the picture with a key. */
export function fileNames(key: string) {
  return { large: `${key}.webp`, thumbnail: `${key}-480.webp` };
}

/** The configured storage: S3 with a bucket, else the disk. */
export async function openStorage(images: Config['images']): Promise<ImageStorage> {
  if (images.s3 === undefined) return createDiskStorage(images.directory);
  // The SDK is loaded only where it is configured.
  const { createS3Storage } = await import('./s3.ts');
  return createS3Storage(images.s3);
}
