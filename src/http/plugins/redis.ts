import type { FastifyInstance } from 'fastify';
import { Redis } from 'ioredis';
import type { Metrics } from '../../infrastructure/telemetry/metrics.ts';

/** In milliseconds. */
const times = { connect: 1_000, response: 500, minBackoff: 100, maxBackoff: 1_000 };

/** Connects to Redis, and again whenever it was lost. One that does not answer is not `ready`, so that no request waits for it. */
export function connectRedis(app: FastifyInstance, url: string, metrics: Metrics): Redis {
  const client = new Redis(url, {
    connectTimeout: times.connect,
    commandTimeout: times.response,
    // Also while the connection is made: a suspended server accepts connections and answers none.
    socketTimeout: times.response,
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    retryStrategy: (attempt) => Math.min(attempt * times.minBackoff, times.maxBackoff),
  });
  metrics.addGauge('redis_connected', 'Whether Redis answers, so that limits are shared: 1 or 0', () =>
    Number(client.status === 'ready'),
  );
  // One line for each outage; the client reports every attempt.
  let isReported = false;
  const report = (cause: { err: Error } | { reason: string }) => {
    if (!isReported) app.log.warn(cause, 'redis is not reachable, each instance counts limits by itself');
    isReported = true;
  };
  // A server that ends closes the connection without an error.
  const reportClose = () => report({ reason: 'the server closed the connection' });
  client.on('error', (err) => report({ err }));
  client.on('close', reportClose);
  client.on('ready', () => {
    if (isReported) app.log.info('redis is reachable again, limits are shared');
    isReported = false;
  });
  app.addHook('onClose', async () => {
    client.off('close', reportClose);
    client.disconnect();
  });
  return client;
}
