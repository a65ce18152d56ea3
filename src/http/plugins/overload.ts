import underPressure from '@fastify/under-pressure';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import type { Config } from '../../infrastructure/config/config.ts';
import { serviceUnavailable } from '../errors.ts';
import { hasBody } from './body-reader.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Sends 503 when the time of the request is over. Paused while the body is read, and started again after it. */
    deadline: { start(): void; pause(): void } | undefined;
    /** Lets the next request of the user begin. */
    endTurn: (() => void) | undefined;
  }
}

/** Average delay of the event loop, in milliseconds, above which requests are rejected. */
const defaultMaxDelay = 1_000;

/** Milliseconds over which the delay is averaged: long enough that one delay, which is over when it is measured, rejects nothing. */
const sampleInterval = 5_000;

/** Rejects requests while the process is overloaded; health and metrics always respond. */
export const overloadPlugin = fastifyPlugin(
  async (app: FastifyInstance, options: { maxEventLoopDelay?: number | undefined }) => {
    const { maxEventLoopDelay = defaultMaxDelay } = options;
    // The start itself blocks the event loop, so the first samples say nothing about load.
    let measuredFrom = Number.POSITIVE_INFINITY;
    app.addHook('onReady', async () => {
      measuredFrom = performance.now() + 2 * sampleInterval;
    });
    await app.register(underPressure, {
      maxEventLoopDelay,
      sampleInterval,
      pressureHandler: (request, _reply, type, value) => {
        if (performance.now() < measuredFrom || request.routeOptions.config?.probe) return;
        throw serviceUnavailable(new Error(`the process is overloaded: ${type} is ${value}`));
      },
    });
  },
);

/** Requests of one user that are worked on at once: less than half of the connections of a pool of the default size. */
const maxAtOnce = 4;

/**
 * Works on a few requests of a user at once; others wait, at most until their deadline. Otherwise one user could fill the event loop
 * and the connections to the database, within the limit of requests per minute.
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

/** Milliseconds after which a request gets 503. */
const defaultTimeLimit = 9_000;

/**
 * Responds to every request in time. The time in which the client sends the body does not count, and open streams do not end;
 * Fastify's `handlerTimeout` would count the one and end the other.
 */
export const deadlinePlugin = fastifyPlugin(
  async (app: FastifyInstance, { timeLimit = defaultTimeLimit }: { timeLimit?: number | undefined }) => {
    app.decorateRequest('deadline', undefined);
    app.addHook('onRequest', (request, reply, done) => {
      let timer: NodeJS.Timeout | undefined;
      let remaining = timeLimit;
      request.deadline = {
        start() {
          timer = setTimeout(() => {
            if (reply.sent || reply.raw.headersSent || reply.raw.destroyed) return;
            reply.send(serviceUnavailable(new Error(`no response after ${timeLimit} ms`)));
            // The handler or a hook goes on, and Fastify would log its end as an error: the reply is already sent.
            reply.log = reply.log.child({}, { level: 'silent' });
          }, remaining).unref();
        },
        pause() {
          clearTimeout(timer);
          remaining = Math.max(0, timeLimit - reply.elapsedTime);
        },
      };
      request.deadline.start();
      done();
    });
    app.addHook('preParsing', (request, _reply, payload, done) => {
      if (isParsed(request)) request.deadline?.pause();
      done(null, payload);
    });
    app.addHook('preValidation', (request, _reply, done) => {
      if (isParsed(request)) request.deadline?.start();
      done();
    });
    app.addHook('onResponse', (request, _reply, done) => {
      request.deadline?.pause();
      done();
    });
  },
);

/** Whether the client sends a body that is read before the handler runs. */
function isParsed(request: FastifyRequest): boolean {
  return hasBody(request) && !request.routeOptions.config.handlerReadsBody;
}
