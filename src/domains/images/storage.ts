import { randomBytes } from 'node:crypto';
import { mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Config } from '../../infrastructure/config/config.ts';

/** A key for an uploaded image: its folder, then its name without what distinguishes the sizes. 128 random bits. */
export const newKey = () => randomBytes(16).toString('hex').replace(/^../, '$&/');

/** Whether a text is a key. */
export const isKey = (stored: string) => /^[0-9a-f]{2}\/[0-9a-f]{30}$/.test(stored);

/** The names of the files of an image. */
export const filesOf = (key: string) => ({ large: `${key}.webp`, thumbnail: `${key}-480.webp` });

/** Whether a text is the name of a file of an image. */
export const isFileName = (name: string) =>
  isKey(name.replace(/(-480)?\.webp$/, '')) && name.endsWith('.webp');

/** Where the files of images are kept. Names are relative, such as `3f/1ab0.webp`. */
export interface ImageStorage {
  /** Writes a file; it is there completely or not at all, and survives a crash once this returns. */
  put(name: string, bytes: Buffer): Promise<void>;
  /** Deletes a file, and what an interrupted `put` left of it; one that does not exist is deleted already. */
  delete(name: string): Promise<void>;
}

/** Milliseconds. Two attempts at the longest remain below the deadline of a request. */
const timeouts = { connectionTimeout: 1_500, requestTimeout: 2_500, throwOnRequestTimeout: true };
const timeLimit = 6_000;

type S3Config = NonNullable<Config['images']['s3']>;

/** Keeps files in a bucket of S3, or of a store that has its interface. The SDK is loaded only where it is configured. */
export async function openS3Storage(config: S3Config): Promise<ImageStorage> {
  const { bucket, endpoint, region, credentials } = config;
  const { DeleteObjectCommand, PutObjectCommand, S3Client } = await import('@aws-sdk/client-s3');
  const client = new S3Client({
    region,
    // Without credentials, the SDK looks for them: environment, shared files, role of the machine. It writes into the object.
    ...(credentials ? { credentials: { ...credentials } } : {}),
    // Other stores have no host name for each bucket.
    ...(endpoint ? { endpoint, forcePathStyle: true } : {}),
    maxAttempts: 2,
    // Newer checksums than the signature's are rejected by many stores.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: timeouts,
  });
  const limit = () => ({ abortSignal: AbortSignal.timeout(timeLimit) });
  const shown = { ContentType: 'image/webp', CacheControl: 'public, max-age=31536000, immutable' };
  return {
    async put(Key, Body) {
      await client.send(new PutObjectCommand({ Bucket: bucket, Key, Body, ...shown }), limit());
    },
    async delete(Key) {
      await client.send(new DeleteObjectCommand({ Bucket: bucket, Key }), limit());
    },
  };
}

export function createDiskStorage(directory: string): ImageStorage {
  /** A fixed name beside the file, so that a deletion finds what a crash left. */
  const unfinished = (path: string) => `${path}.part`;

  return {
    async put(name, bytes) {
      const path = join(directory, name);
      try {
        await mkdir(dirname(path), { recursive: true });
        await writeFile(unfinished(path), bytes, { flag: 'wx', flush: true });
        await rename(unfinished(path), path);
        // Makes the new name in the folder survive a crash.
        const folder = await open(dirname(path), 'r');
        await folder.sync().finally(() => folder.close());
      } catch (error) {
        // What cannot be deleted now is deleted with the image.
        await rm(unfinished(path), { force: true }).catch(() => undefined);
        throw error;
      }
    },
    async delete(name) {
      const path = join(directory, name);
      await rm(unfinished(path), { force: true });
      await rm(path, { force: true });
    },
  };
}
