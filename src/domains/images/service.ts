import PQueue from 'p-queue';
import { tokenNotValid } from '../../http/authentication.ts';
import { ApiError, httpErrors, retryLater, serviceUnavailable } from '../../http/errors.ts';
import { isForeignKeyViolation } from '../../infrastructure/database/errors.ts';
import type { ConversionQueue } from './conversion/convert.ts';
import { cleanUpBatchSize, type DeletedImage, type ImageRepository, type ImageRow } from './repository.ts';
import { imageErrors } from './schemas.ts';
import { filesOf, type ImageStorage, newKey } from './storage.ts';

/** Files that the clean-up deletes at once. */
const maxConcurrent = 4;

interface Upload {
  userId: number;
  read(): Promise<Buffer>;
  /** Whether the response was sent, because the time of the request was over. */
  isObsolete(): boolean;
}

export type ImageService = ReturnType<typeof createImageService>;

interface ImageServiceOptions {
  images: ImageRepository;
  storage: ImageStorage;
  queue: ConversionQueue;
  logLeftFiles(error: unknown, imageId: number): void;
}

/** Keeping images, and deleting what no post uses. */
export function createImageService({ images, storage, queue, logLeftFiles }: ImageServiceOptions) {
  /** Keeps an image. Its row is written first: an upload that is cut counts, and the clean-up finds files that a crash leaves. */
  async function upload({ userId, read, isObsolete }: Upload): Promise<ImageRow> {
    const key = newKey();
    const { id, seconds } = await images.insertPending(userId, key);
    if (seconds !== undefined) throw retryLater(httpErrors.quotaExceeded, seconds);
    if (id === undefined) throw tokenNotValid('access', 'revoked');
    const converted = await read()
      .then((file) => queue.convert(userId, file, isObsolete))
      .catch(async (error: unknown) => {
        await (isServiceFault(error) ? images.abandon(id, userId) : images.deleteRejected(id));
        throw error;
      });
    const { large, thumbnail, ...size } = converted;
    const files = filesOf(key);
    try {
      await settleAll([storage.put(files.large, large), storage.put(files.thumbnail, thumbnail)]);
    } catch (cause) {
      await undo({ id, userId, key });
      throw serviceUnavailable(cause);
    }
    if (await images.markReady(id, size)) return { id, key, ...size };
    // The account was deleted meanwhile; the clean-up may have taken the row before the files were there.
    await undo({ id, userId, key });
    throw tokenNotValid('access', 'revoked');
  }

  /** Deletes what a failed upload left. Its row remains for the clean-up: a storage that timed out may still write the file. */
  async function undo({ id, userId, key }: DeletedImage & { userId: number }): Promise<void> {
    try {
      await images.abandon(id, userId);
      await deleteFiles(key);
    } catch (error) {
      logLeftFiles(error, id);
    }
  }

  async function remove(userId: number, id: number): Promise<void> {
    const deleted = await images.markDeleted(id, userId).catch((error: unknown) => {
      throw isForeignKeyViolation(error) ? new ApiError(imageErrors.imageInUse) : error;
    });
    if (deleted === undefined) throw new ApiError(imageErrors.imageNotFound);
    await erase(deleted);
  }

  /** Deletes the files of a deleted image. @returns whether it could */
  async function erase(image: DeletedImage): Promise<boolean> {
    try {
      await deleteFiles(image.key);
      await images.deleteErased(image.id);
      return true;
    } catch (error) {
      logLeftFiles(error, image.id);
      return false;
    }
  }

  const deleteFiles = (key: string) =>
    settleAll(Object.values(filesOf(key)).map((name) => storage.delete(name)));

  /** Deletes images without a post after 24 hours, of deleted accounts, and unfinished uploads. Several instances may run it. */
  async function* cleanUp(): AsyncGenerator<number, void> {
    while ((await images.markUnused()) === cleanUpBatchSize) yield 0;
    const deletions = new PQueue({ concurrency: maxConcurrent });
    // A storage that fails is left alone until the next run.
    for (let erased = cleanUpBatchSize; erased === cleanUpBatchSize; yield erased) {
      const claimed = await images.claimDeleted();
      erased = (await deletions.addAll(claimed.map((image) => () => erase(image)))).filter(Boolean).length;
    }
  }

  return { upload, remove, cleanUp };
}

/** Whether the client did not cause the error. An image that takes too long has a definition of its own. */
const isServiceFault = (error: unknown) =>
  !(error instanceof ApiError) || error.definition === httpErrors.serviceUnavailable;

/** Waits for all, also where one fails, so that nothing is written after the error was handled. */
async function settleAll(work: Promise<void>[]): Promise<void> {
  for (const result of await Promise.allSettled(work)) {
    if (result.status === 'rejected') throw result.reason;
  }
}
