import pLimit, { type LimitFunction } from 'p-limit';
import { serviceUnavailable } from '../../http/errors.ts';
import type { ConvertedImage } from './convert.ts';

/** Users whose next conversion may wait. At about 0.3 s each they take seconds; more would only time out. */
const maxWaiting = 16;

/** Conversions of one user that may wait: as many as a post has pictures. */
const maxWaitingOfUser = 10;

/** What a conversion tells, and asks, the upload that waits for it. */
export interface ConversionHooks {
  /** Whether the request has been answered, so that the work would be for nothing. */
  isObsolete(): boolean;
  /** Called before the picture is decoded, which is what costs processor time. */
  onDecode(): void;
}

export type ConversionQueue = ReturnType<typeof createConversionQueue>;

/**
 * Converts pictures, a few at a time, so that other requests have a core. A user has one turn at a time, so that the pictures
 * of one do not keep those of others waiting.
 *
 * @param maxConcurrent conversions at once
 */
export function createConversionQueue(maxConcurrent: number) {
  const turns = pLimit(maxConcurrent);
  const users = new Map<number, { limit: LimitFunction; count: number }>();

  /**
   * Converts a picture when its turn comes.
   *
   * @throws {ApiError} `invalid_image`; `service_unavailable` when too many conversions are waiting
   */
  async function convert(userId: number, bytes: Buffer, hooks: ConversionHooks): Promise<ConvertedImage> {
    const own = users.get(userId) ?? { limit: pLimit(1), count: 0 };
    if (own.count > maxWaitingOfUser || turns.pendingCount >= maxWaiting) {
      throw serviceUnavailable(new Error('the queue of conversions is full'));
    }
    users.set(userId, own);
    own.count++;
    try {
      return await own.limit(() => turns(() => convertInTurn(bytes, hooks)));
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

  return { convert, running: () => turns.activeCount, waiting };
}

async function convertInTurn(bytes: Buffer, hooks: ConversionHooks): Promise<ConvertedImage> {
  if (hooks.isObsolete())
    throw serviceUnavailable(new Error('the request was answered before the conversion'));
  // Loaded with the first picture, so that the start does not wait for it.
  const { convertImage } = await import('./convert.ts');
  return convertImage(bytes, hooks.onDecode);
}
