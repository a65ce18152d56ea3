import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance, FastifyReply, FastifyRequest, preHandlerAsyncHookHandler } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import type { Redis } from 'ioredis';
import type { Config } from '../../config/config.ts';
import type { Metrics } from '../../metrics/metrics.ts';
import { claimedUserId } from '../authentication.ts';
import { ApiError, httpErrors, retryLater } from '../errors.ts';
import { clientAddress } from '../request-context.ts';

/** Requests per minute and client address, for operations that invite guessing, and for pictures. */
export const rateLimitGroups = {
  login: 30,
  signup: 20,
  'email-verify-send': 10,
  'reset-password-request': 10,
  'find-id': 10,
  'email-verify-confirm': 30,
  'reset-password-validate': 30,
  'reset-password-confirm': 30,
  'change-email-undo': 30,
  refresh: 60,
  // A page of posts shows dozens of them.
  media: 3_000,
} as const;

/** Requests per minute over all other operations. */
export const perUser = 600;
export const perAnonymousClient = 300;

/** What counts requests: that of the operation, or that of the user or of the client for all other operations. */
const limits = { ...rateLimitGroups, user: perUser, client: perAnonymousClient };
const limitNames = Object.keys(limits) as LimitName[];
type LimitName = keyof typeof limits;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The counter of the operation; `none` for health and metrics. */
    limit?: keyof typeof rateLimitGroups | 'none';
  }
}

interface RateLimitOptions {
  config: Config;
  metrics: Metrics;
}

/**
 * Limits requests per client and per user before anything else is checked; unknown paths count, too. With Redis, instances
 * count together; while it does not answer, each counts by itself with the same numbers.
 */
export const rateLimitPlugin = fastifyPlugin(
  async (app: FastifyInstance, { config, metrics }: RateLimitOptions) => {
    if (!config.rateLimitEnabled) return;
    const refused = metrics.addCounter(
      'rate_limited_requests_total',
      'Requests beyond a limit, by its group',
      ['group'],
    );
    const onExceeded = (request: FastifyRequest) => refused.inc({ group: limitOf(request) });
    for (const group of limitNames) refused.inc({ group }, 0);

    const limitHere = await createLimiter(app, { onExceeded });
    const shared = config.redisUrl === undefined ? undefined : await connect(app, config.redisUrl);
    if (shared) {
      metrics.addGauge('redis_connected', 'Whether Redis answers, so that limits are shared: 1 or 0', () =>
        shared.isConnected() ? 1 : 0,
      );
    }
    const limitTogether = shared && (await createLimiter(app, { onExceeded, redis: shared.client }));

    // A hook of the whole application, because route hooks run after the authentication of their scope.
    app.addHook('onRequest', async function limitRequest(request, reply) {
      if (request.routeOptions.config?.limit === 'none') return;
      if (!limitTogether || !shared?.isConnected()) return limitHere(request, reply);
      try {
        await limitTogether(request, reply);
      } catch (error) {
        // Refused, or lost at this request.
        if (error instanceof ApiError) throw error;
        await limitHere(request, reply);
      }
    });
  },
);

/** The client is loaded only where it is configured. */
async function connect(app: FastifyInstance, url: string) {
  const { connectRedis } = await import('./redis.ts');
  return connectRedis(app, url);
}

interface LimiterOptions {
  onExceeded(request: FastifyRequest): void;
  /** Where requests are counted; in memory without it. */
  redis?: Redis;
}

/** Limits a request, or throws the error of the store. */
type Limiter = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

/** The plugin has one store for each scope in which it is registered. */
async function createLimiter(app: FastifyInstance, { onExceeded, redis }: LimiterOptions): Promise<Limiter> {
  const limiters = new Map<LimitName, preHandlerAsyncHookHandler>();
  await app.register(async (scope) => {
    await scope.register(rateLimit, {
      global: false,
      enableDraftSpec: true,
      timeWindow: '1 minute',
      cache: 50_000,
      nameSpace: 'dure:limit:',
      ...(redis ? { redis } : {}),
      errorResponseBuilder: (_request, { ttl }) => retryLater(httpErrors.rateLimited, ttl / 1000),
    });
    for (const name of limitNames) {
      const keyGenerator = (request: FastifyRequest) => `${name}:${counted(request, name)}`;
      limiters.set(name, scope.rateLimit({ max: limits[name], keyGenerator, onExceeded }));
    }
  });
  return async (request, reply) => {
    await limiters.get(limitOf(request))?.call(app, request, reply);
  };
}

function limitOf(request: FastifyRequest): LimitName {
  const limit = request.routeOptions.config?.limit;
  if (limit !== undefined && limit !== 'none') return limit;
  return claimedUserId(request) === undefined ? 'client' : 'user';
}

/** Who is counted. */
function counted(request: FastifyRequest, name: LimitName): string {
  return name === 'user' ? String(claimedUserId(request)) : clientAddress(request);
}
