import pLimit, { type LimitFunction } from 'p-limit';
import { ApiError, serviceUnavailable } from '../../http/errors.ts';
import { imageErrors } from '../errors.ts';
import { type ConvertedImage, convertImage } from './convert.ts';

/** Processes at once, of which one converts a large image; their memory is what deployments have room for. */
const maxConcurrent = 2;

/** Conversions that may wait. At about 0.5 s each they take seconds; more would only time out. */
const maxWaiting = 20;

export type ConversionQueue = ReturnType<typeof createConversionQueue>;

/** Converts images, a few at a time. A user has one turn at a time, so that the images of one do not keep those of others waiting. */
export function createConversionQueue(convert = convertImage) {
  const turns = pLimit(maxConcurrent);
  const largeTurns = pLimit(1);
  const users = new Map<number, { limit: LimitFunction; count: number }>();

  /**
   * Converts an image when its turn comes.
   *
   * @param isObsolete whether the request has been answered, so that the work would be for nothing
   * @throws {ApiError} `invalid_image`; `service_unavailable` when too many conversions are waiting, or this one takes too long
   */
  async function add(userId: number, file: Buffer, isObsolete: () => boolean): Promise<ConvertedImage> {
    if (waiting() >= maxWaiting) throw serviceUnavailable(new Error('the queue of conversions is full'));
    const convertInTurn = (size: 'small' | 'large') =>
      turns(() => {
        if (isObsolete())
          throw serviceUnavailable(new Error('the request was answered before the conversion'));
        return convert(file, size);
      });
    const own = users.get(userId) ?? { limit: pLimit(1), count: 0 };
    users.set(userId, own);
    own.count++;
    try {
      const image = await own.limit(
        async () => (await convertInTurn('small')) ?? largeTurns(() => convertInTurn('large')),
      );
      if (image === undefined) throw new ApiError(imageErrors.invalidImage);
      return image;
    } finally {
      own.count--;
      if (own.count === 0) users.delete(userId);
    }
  }

  /** Conversions that have not begun. */
  function waiting(): number {
    const unfinished = [...users.values()].reduce((sum, { count }) => sum + count, 0);
    return unfinished - turns.activeCount;
  }

  return { convert: add, running: () => turns.activeCount, waiting };
}
