import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import type { Config } from '../../config/config.ts';
import { claimedUserId } from '../authentication.ts';
import { httpErrors, retryLater } from '../errors.ts';
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

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The counter of the operation; `none` for health and metrics. */
    limit?: keyof typeof rateLimitGroups | 'none';
  }
}

/** Limits requests per client and per user before anything else is checked; unknown paths count, too. */
export const rateLimitPlugin = fastifyPlugin(async (app: FastifyInstance, { config }: { config: Config }) => {
  if (!config.rateLimitEnabled) return;
  const { redisUrl } = config;
  // The client is loaded only where it is configured.
  const redis = redisUrl === undefined ? undefined : (await import('./redis.ts')).connectRedis(app, redisUrl);
  await app.register(rateLimit, {
    global: false,
    enableDraftSpec: true,
    timeWindow: '1 minute',
    cache: 50_000,
    nameSpace: 'dure:limit:',
    ...(redis ? { redis } : {}),
    // Fail open without Redis: the delay per account and the caps on mails are kept in the database.
    skipOnError: true,
    errorResponseBuilder: (_request, { ttl }) => retryLater(httpErrors.rateLimited, ttl / 1000),
  });
  const limiters = new Map(
    Object.entries(rateLimitGroups).map(([group, max]) => [
      group,
      app.rateLimit({ max, keyGenerator: (request) => `${group}:${clientAddress(request)}` }),
    ]),
  );
  const everythingElse = app.rateLimit({
    max: (request) => (claimedUserId(request) === undefined ? perAnonymousClient : perUser),
    keyGenerator: (request) => {
      const user = claimedUserId(request);
      return user === undefined ? `client:${clientAddress(request)}` : `user:${user}`;
    },
  });
  // A hook of the whole application, because route hooks run after the authentication of their scope.
  app.addHook('onRequest', async function limitRequest(request, reply) {
    const group = request.routeOptions.config?.limit;
    if (group === 'none') return;
    const limiter = (group && limiters.get(group)) ?? everythingElse;
    await limiter.call(app, request, reply);
  });
});
