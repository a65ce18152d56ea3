import type { FastifyInstance } from 'fastify';
import { Redis } from 'ioredis';

/** The store of shared rate limits. It answers soon or not at all, so that requests do not wait for it. */
export function connectRedis(app: FastifyInstance, url: string): Redis {
  const redis = new Redis(url, {
    connectTimeout: 1_000,
    commandTimeout: 500,
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    retryStrategy: (attempt) => Math.min(attempt * 200, 5_000),
  });
  redis.on('error', (error) => app.log.warn({ err: error }, 'redis is not reachable, limits are not shared'));
  app.addHook('onClose', async () => redis.disconnect());
  return redis;
}
