import type { Redis } from 'ioredis';

/** How long a write of a user is remembered, in milliseconds. */
export const ownWriteTimes = {
  /** After its response. */
  done: 5_000,
  /**
   * From its beginning, and from a response that does not tell whether it was made: requests end after 9 seconds, and a
   * transaction that began before that may commit up to 14 seconds later.
   */
  pending: 20_000,
};

/** Who wrote lately: these users read from the primary, so that they see what they wrote. */
export interface OwnWrites {
  /** @param milliseconds from now, in place of what was remembered before */
  remember(userId: number, milliseconds: number): Promise<void>;
  isRecent(userId: number): Promise<boolean>;
}

/** Remembers the writes of this instance. */
export function rememberHere(): OwnWrites {
  const timers = new Map<number, NodeJS.Timeout>();
  return {
    async remember(userId, milliseconds) {
      clearTimeout(timers.get(userId));
      timers.set(userId, setTimeout(() => timers.delete(userId), milliseconds).unref());
    },
    isRecent: async (userId) => timers.has(userId),
  };
}

/** Remembers the writes of all instances. Without Redis, and until the writes of that time are over, every user counts as a writer. */
export function rememberInRedis(redis: Redis): OwnWrites {
  const keyOf = (userId: number) => `dure:write:${userId}`;
  let unknownUntil = 0;
  const setUnknown = () => {
    unknownUntil = performance.now() + ownWriteTimes.pending;
    return true;
  };
  // A server that was started again may have lost its keys.
  redis.on('close', setUnknown);
  return {
    async remember(userId, milliseconds) {
      await redis.set(keyOf(userId), '', 'PX', milliseconds).catch(setUnknown);
    },
    async isRecent(userId) {
      if (performance.now() < unknownUntil) return true;
      return redis.exists(keyOf(userId)).then((count) => count > 0, setUnknown);
    },
  };
}
