import { isIPv6 } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import type { Redis } from 'ioredis';
import type { Config } from '../../infrastructure/config/config.ts';
import type { Metrics } from '../../infrastructure/telemetry/metrics.ts';
import { claimedUserId, findUser } from '../authentication.ts';
import { ApiError, httpErrors, retryLater } from '../errors.ts';
import { clientAddress } from '../request-context.ts';
import type { RateLimit } from '../route-config.ts';

/** Limits of all operations without a limit of their own. The requests of all users at one address count together, too. */
export const userLimit: RateLimit = { group: 'user', max: 600, per: 'user' };
export const clientLimit: RateLimit = { group: 'client', max: 300 };
const addressLimit: RateLimit = { group: 'address', max: 3_000 };

interface RateLimitOptions {
  config: Config;
  metrics: Metrics;
  redis: Redis | undefined;
}

/**
 * Limits requests per client and per user before anything else is checked; unknown paths count, too. With Redis, instances count
 * together; while it does not answer, each by itself. Register it before the routes, whose limits it collects.
 */
export const rateLimitPlugin = fastifyPlugin(
  async (app: FastifyInstance, { config, metrics, redis }: RateLimitOptions) => {
    if (!config.rateLimitEnabled) return;
    const rejected = metrics.addCounter(
      'rate_limited_requests_total',
      'Requests beyond a limit, by its group',
      { group: [] },
    );
    const onExceeded = (group: string) => rejected.inc({ group });

    const limitHere = await createLimiter(app, onExceeded);
    const limitTogether = redis && (await createLimiter(app, onExceeded, redis));

    const limits = new Map<string, RateLimit>();
    function addLimit(limit: RateLimit): void {
      if (!isDeepStrictEqual(limits.get(limit.group) ?? limit, limit)) {
        throw new Error(`the group ${limit.group} has two limits`);
      }
      limits.set(limit.group, limit);
      rejected.inc({ group: limit.group }, 0);
    }
    for (const limit of [addressLimit, userLimit, clientLimit]) addLimit(limit);
    app.addHook('onRoute', ({ config: routeConfig }) => {
      if (routeConfig?.limit) addLimit(routeConfig.limit);
    });

    // A hook of the whole application, because route hooks run after the authentication of their scope.
    app.addHook('onRequest', async (request, reply) => {
      if (request.routeOptions.config?.probe) return;
      if (!limitTogether || redis?.status !== 'ready') return limitHere(request, reply);
      try {
        await limitTogether(request, reply);
      } catch (error) {
        // Rejected, or lost at this request.
        if (error instanceof ApiError) throw error;
        await limitHere(request, reply);
      }
    });
  },
);

/** Creates a function that limits a request, in Redis or in memory. It throws the error of the store. */
async function createLimiter(app: FastifyInstance, onExceeded: (group: string) => void, redis?: Redis) {
  let scope = app;
  // The plugin has one store for each scope in which it is registered.
  await app.register(async (child) => {
    scope = child;
    await child.register(rateLimit, {
      global: false,
      enableDraftSpec: true,
      timeWindow: '1 minute',
      max: (request) => limitOf(request).max,
      keyGenerator(request) {
        const { group, per } = limitOf(request);
        return `${group}:${per === 'user' ? claimedUserId(request) : clientAddress(request)}`;
      },
      cache: 200_000,
      nameSpace: 'dure:limit:',
      ...(redis ? { redis } : {}),
      onExceeded: (request) => onExceeded(limitOf(request).group),
      errorResponseBuilder: (_request, { ttl }) => retryLater(httpErrors.rateLimited, ttl / 1000),
    });
  });
  const limitGroup = scope.rateLimit();
  const readGroup = scope.createRateLimit();
  const countAddress = scope.createRateLimit({
    max: addressLimit.max,
    keyGenerator: (request) => `${addressLimit.group}:${clientAddress(request)}`,
  });
  // A /48 of IPv6 has the limits of ten clients.
  const countNetwork = scope.createRateLimit({
    max: (request) => 10 * addressLimitOf(request).max,
    keyGenerator: (request) => `${addressLimitOf(request).group}:${clientAddress(request, 48)}/48`,
  });

  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    if (isOfUser(request)) {
      const group = await readGroup(request, { increment: false });
      // Where the session has ended, the request does not count for the user. What is beyond the limit costs no query.
      if (group.isAllowed || group.remaining > 0) await findUser(request).catch(() => undefined);
    }
    await limitGroup.call(app, request, reply);
    const counters = isIPv6(clientAddress(request)) ? [countNetwork] : [];
    if (isOfUser(request)) counters.unshift(countAddress);
    // What one limit rejects does not count for the next, which others share.
    for (const count of counters) {
      const result = await count(request);
      if (result.isAllowed || !result.isExceeded) continue;
      onExceeded(addressLimitOf(request).group);
      const { max, ttl, ttlInSeconds } = result;
      reply.headers({ 'ratelimit-limit': max, 'ratelimit-remaining': 0, 'ratelimit-reset': ttlInSeconds });
      throw retryLater(httpErrors.rateLimited, ttl / 1000);
    }
  };
}

const isOfUser = (request: FastifyRequest) => limitOf(request).per === 'user';

/** The limit of all requests of an address. */
const addressLimitOf = (request: FastifyRequest) => (isOfUser(request) ? addressLimit : limitOf(request));

function limitOf(request: FastifyRequest): RateLimit {
  const limit = request.routeOptions.config?.limit;
  const isUser = claimedUserId(request) !== undefined;
  if (limit === undefined) return isUser ? userLimit : clientLimit;
  return limit.per === 'user' && !isUser ? clientLimit : limit;
}

/** Of Redis, in milliseconds. */
const redisTimes = { connect: 1_000, response: 500, minBackoff: 100, maxBackoff: 1_000 };

/** Connects to Redis, and again whenever it was lost. One that does not answer is not `ready`, so that no request waits for it. */
export async function connectRedis(app: FastifyInstance, url: string, metrics: Metrics): Promise<Redis> {
  // Loaded only where it is needed.
  const { Redis } = await import('ioredis');
  const client = new Redis(url, {
    connectTimeout: redisTimes.connect,
    commandTimeout: redisTimes.response,
    // Also while the connection is made: a suspended server accepts connections and answers none.
    socketTimeout: redisTimes.response,
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    retryStrategy: (attempt) => Math.min(attempt * redisTimes.minBackoff, redisTimes.maxBackoff),
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
