import rateLimit, { normalizeIP } from '@fastify/rate-limit';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { Redis } from 'ioredis';
import type { Config } from '../../config/config.ts';
import { httpErrors, retryLater } from '../errors.ts';

/** Requests a minute and client address, for operations that are worth guessing at. */
const groups = {
  login: 30,
  signup: 20,
  'email-verify-send': 10,
  'reset-password-request': 10,
  'find-id': 10,
  'email-verify-confirm': 30,
  'reset-password-validate': 30,
  'reset-password-confirm': 30,
  refresh: 60,
} as const;

/** Requests a minute over everything else. */
const perUser = 600;
const perAnonymousClient = 300;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The counter an operation counts in; `none` for health and metrics. */
    limit?: keyof typeof groups | 'none';
  }
}

interface RateLimitOptions {
  config: Config;
  /** The id of the user whose valid access token the request carries. It costs no database. */
  userOf(request: FastifyRequest): number | undefined;
}

/** No address is longer; what a proxy passes on as one may be. */
export const maxAddressLength = 45;

/** The address a client is counted by: IPv4 as it is, IPv6 by its /64, which one customer of a provider has. */
export function clientAddress(request: FastifyRequest): string {
  return normalizeIP(request.ip, 64).slice(0, maxAddressLength);
}

/** Limits per client and per user, before anything else is looked at; unknown paths count, too. */
export const rateLimitPlugin = fastifyPlugin(
  async (app: FastifyInstance, { config, userOf }: RateLimitOptions) => {
    if (!config.rateLimitEnabled) return;
    const redis = config.redisUrl === undefined ? undefined : connectRedis(app, config.redisUrl);
    await app.register(rateLimit, {
      global: false,
      enableDraftSpec: true,
      timeWindow: '1 minute',
      cache: 50_000,
      nameSpace: 'dure:limit:',
      ...(redis ? { redis } : {}),
      // Without Redis the service stays open: the delay per account and the caps on mails hold in the database.
      skipOnError: true,
      errorResponseBuilder: (_request, { ttl }) => retryLater(httpErrors.rateLimited, ttl / 1000),
    });
    const limiters = new Map(
      Object.entries(groups).map(([group, max]) => [
        group,
        app.rateLimit({ max, keyGenerator: (request) => `${group}:${clientAddress(request)}` }),
      ]),
    );
    const everythingElse = app.rateLimit({
      max: (request) => (userOf(request) === undefined ? perAnonymousClient : perUser),
      keyGenerator: (request) => {
        const user = userOf(request);
        return user === undefined ? `client:${clientAddress(request)}` : `user:${user}`;
      },
    });
    // A hook of the whole application and not of the routes: theirs would run after the scope's authentication.
    app.addHook('onRequest', async function limitRequest(request, reply) {
      const group = request.routeOptions.config?.limit;
      if (group === 'none') return;
      const limiter = (group && limiters.get(group)) ?? everythingElse;
      await limiter.call(app, request, reply);
    });
  },
);

function connectRedis(app: FastifyInstance, url: string): Redis {
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
