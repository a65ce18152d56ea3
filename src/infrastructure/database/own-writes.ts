import type { Redis } from 'ioredis';

export const ownWriteTime = {
  /**
   * Milliseconds for which a write of a user is remembered, from its beginning. The request ends after 9 seconds; a transaction that
   * began before that may commit up to 14 seconds later, and its user has 5 more.
   */
  milliseconds: 30_000,
};

/** Who wrote lately: these users read from the primary, so that they see what they wrote. */
export interface OwnWrites {
  remember(userId: number): Promise<void>;
  isRecent(userId: number): Promise<boolean>;
}

/** Remembers the writes of this instance. */
export function rememberHere(): OwnWrites {
  const timers = new Map<number, NodeJS.Timeout>();
  return {
    async remember(userId) {
      clearTimeout(timers.get(userId));
      timers.set(userId, setTimeout(() => timers.delete(userId), ownWriteTime.milliseconds).unref());
    },
    isRecent: async (userId) => timers.has(userId),
  };
}

/** Remembers the writes of all instances. Without Redis, and until the writes of that time are over, every user counts as a writer. */
export function rememberInRedis(redis: Redis): OwnWrites {
  const keyOf = (userId: number) => `dure:write:${userId}`;
  let unknownUntil = 0;
  const setUnknown = () => {
    unknownUntil = performance.now() + ownWriteTime.milliseconds;
    return true;
  };
  // A server that was started again may have lost its keys.
  redis.on('close', setUnknown);
  return {
    async remember(userId) {
      await redis.set(keyOf(userId), '', 'PX', ownWriteTime.milliseconds).catch(setUnknown);
    },
    async isRecent(userId) {
      if (performance.now() < unknownUntil) return true;
      return redis.exists(keyOf(userId)).then((count) => count > 0, setUnknown);
    },
  };
}
