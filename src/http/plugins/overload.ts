import underPressure from '@fastify/under-pressure';
import type { FastifyInstance } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import type { Config } from '../../infrastructure/config/config.ts';
import { serviceUnavailable } from '../errors.ts';

/** Average delay of the event loop, in milliseconds, above which requests are rejected. */
const defaultMaxDelay = 1_000;

/** Milliseconds over which the delay is averaged: long enough that one delay, which is over when it is measured, rejects nothing. */
const sampleInterval = 5_000;

/** Rejects requests while the process is overloaded; health and metrics always respond. */
export const overloadPlugin = fastifyPlugin(
  async (app: FastifyInstance, options: { maxEventLoopDelay?: number | undefined }) => {
    const { maxEventLoopDelay = defaultMaxDelay } = options;
    // The start itself blocks the event loop, so the first samples say nothing about load.
    let isMeasuring = false;
    app.addHook('onReady', async () => {
      setTimeout(() => {
        isMeasuring = true;
      }, 2 * sampleInterval).unref();
    });
    await app.register(underPressure, {
      maxEventLoopDelay,
      sampleInterval,
      pressureHandler: (request, _reply, type, value) => {
        if (!isMeasuring || request.routeOptions.config?.probe) return;
        throw serviceUnavailable(new Error(`the process is overloaded: ${type} is ${value}`));
      },
    });
  },
);

/** Requests of one user that are worked on at once: less than half of the connections of a pool of the default size. */
const maxAtOnce = 4;

declare module 'fastify' {
  interface FastifyRequest {
    endTurn: (() => void) | undefined;
  }
}

/**
 * Works on a few requests of a user at once; more of them wait for each other, at most until their deadline. Otherwise one user
 * could fill the event loop and the database connections, within the limit of requests per minute.
 */
export const userTurnsPlugin = fastifyPlugin(async (app: FastifyInstance, { config }: { config: Config }) => {
  if (!config.rateLimitEnabled) return;
  const users = new Map<number, { running: number; waiting: (() => void)[] }>();

  app.decorateRequest('endTurn', undefined);
  app.addHook('preHandler', async (request, reply) => {
    // Not the user of a token whose session has ended, which would take turns of its owner.
    const userId = request.currentUser?.id;
    // Uploads have limits of their own.
    if (userId === undefined || request.routeOptions.config.handlerReadsBody) return;
    const user = users.get(userId) ?? { running: 0, waiting: [] };
    users.set(userId, user);
    if (user.running < maxAtOnce) user.running++;
    else await new Promise<void>((resolve) => user.waiting.push(resolve));
    const end = () => {
      request.endTurn = undefined;
      const next = user.waiting.shift();
      if (next) next();
      else if (--user.running === 0) users.delete(userId);
    };
    if (reply.sent) end();
    else request.endTurn = end;
  });
  app.addHook('onSend', (request, _reply, _payload, done) => {
    request.endTurn?.();
    done();
  });
});
