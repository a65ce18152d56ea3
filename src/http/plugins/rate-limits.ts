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

/** Requests per minute and user, for operations that take the password of the user. */
export const passwordsPerUser = 10;

/** Requests per minute over all other operations; those of all users from one address count together, too. */
export const perUser = 600;
export const perAnonymousClient = 300;
export const perAddress = 3_000;

/** What counts requests: that of the operation, or that of the user or of the client for all other operations. */
const limits = { ...rateLimitGroups, password: passwordsPerUser, user: perUser, client: perAnonymousClient };
const limitNames = Object.keys(limits) as LimitName[];
type LimitName = keyof typeof limits;
type Group = LimitName | 'address';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The counter of the operation; `none` for health and metrics. */
    limit?: keyof typeof rateLimitGroups | 'password' | 'none';
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
    const onExceeded = (group: Group) => refused.inc({ group });
    for (const group of [...limitNames, 'address']) refused.inc({ group }, 0);

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
  onExceeded(group: Group): void;
  /** Where requests are counted; in memory without it. */
  redis?: Redis;
}

/**
 * Limits a request, or throws the error of the store. With Redis, it waits for one round trip, or for two where a user is counted.
 */
type Limiter = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

/** The plugin has one store for each scope in which it is registered. */
async function createLimiter(app: FastifyInstance, { onExceeded, redis }: LimiterOptions): Promise<Limiter> {
  const limiters = new Map<LimitName, preHandlerAsyncHookHandler>();
  let countAddress: ReturnType<FastifyInstance['createRateLimit']> | undefined;
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
      limiters.set(
        name,
        scope.rateLimit({ max: limits[name], keyGenerator, onExceeded: () => onExceeded(name) }),
      );
    }
    const keyGenerator = (request: FastifyRequest) => `address:${clientAddress(request)}`;
    countAddress = scope.createRateLimit({ max: perAddress, keyGenerator });
  });
  return async (request, reply) => {
    const name = limitOf(request);
    await limiters.get(name)?.call(app, request, reply);
    // What the limit of the user refused does not count for others at the address.
    const address = name === 'user' ? await countAddress?.(request) : undefined;
    if (address?.isAllowed !== false || !address.isExceeded) return;
    onExceeded('address');
    const { max, ttl, ttlInSeconds } = address;
    reply.headers({ 'ratelimit-limit': max, 'ratelimit-remaining': 0, 'ratelimit-reset': ttlInSeconds });
    throw retryLater(httpErrors.rateLimited, ttl / 1000);
  };
}

function limitOf(request: FastifyRequest): LimitName {
  const limit = request.routeOptions.config?.limit;
  const isUser = claimedUserId(request) !== undefined;
  if (limit === 'password') return isUser ? 'password' : 'client';
  if (limit !== undefined && limit !== 'none') return limit;
  return isUser ? 'user' : 'client';
}

/** Who is counted. */
function counted(request: FastifyRequest, name: LimitName): string {
  return name === 'user' || name === 'password' ? String(claimedUserId(request)) : clientAddress(request);
}
