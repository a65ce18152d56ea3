import pLimit from 'p-limit';
import { serviceUnavailable } from '../../http/errors.ts';
import type { ConvertedImage } from './convert.ts';

/** Conversions that may wait. At about 0.3 s each they take seconds; more would only time out. */
const maxWaiting = 16;

export type ConversionQueue = ReturnType<typeof createConversionQueue>;

/**
 * Converts pictures, a few at a time, so that other requests have a core.
 *
 * @param maxConcurrent conversions at once
 */
export function createConversionQueue(maxConcurrent: number) {
  const limit = pLimit(maxConcurrent);

  /**
   * Converts a picture when its turn comes.
   *
   * @param isObsolete whether the request has been answered, so that the work would be for nothing
   * @throws {ApiError} `invalid_image`; `service_unavailable` when too many conversions are waiting
   */
  async function convert(bytes: Buffer, isObsolete: () => boolean): Promise<ConvertedImage> {
    if (limit.pendingCount >= maxWaiting) {
      throw serviceUnavailable(new Error('the queue of conversions is full'));
    }
    return limit(async () => {
      if (isObsolete()) throw serviceUnavailable(new Error('the request was answered before the conversion'));
      // Loaded with the first picture, so that the start does not wait for it.
      const { convertImage } = await import('./convert.ts');
      return convertImage(bytes);
    });
  }

  return { convert, running: () => limit.activeCount, waiting: () => limit.pendingCount };
}
