import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { serviceUnavailable } from '../errors.ts';

/** Milliseconds after which a request is answered with 503. */
const defaultTimeLimit = 9_000;

/**
 * Answers every request in time, whatever is broken behind it. The time in which the client sends the body does not count,
 * and open streams do not end; Fastify's `handlerTimeout` would count the one and end the other.
 */
export const deadlinePlugin = fastifyPlugin(
  async (app: FastifyInstance, { timeLimit = defaultTimeLimit }: { timeLimit?: number | undefined }) => {
    const timers = new WeakMap<FastifyRequest, NodeJS.Timeout>();
    const remaining = new WeakMap<FastifyRequest, number>();

    function start(request: FastifyRequest, reply: FastifyReply, milliseconds: number): void {
      const timer = setTimeout(() => {
        if (reply.sent || reply.raw.headersSent) return;
        reply.send(serviceUnavailable(new Error(`no answer after ${timeLimit} ms`)));
      }, milliseconds);
      timers.set(request, timer);
    }

    app.addHook('onRequest', async (request, reply) => {
      start(request, reply, timeLimit);
      reply.raw.once('close', () => clearTimeout(timers.get(request)));
    });
    app.addHook('preParsing', async (request, reply) => {
      clearTimeout(timers.get(request));
      remaining.set(request, timeLimit - reply.elapsedTime);
    });
    app.addHook('preValidation', async (request, reply) => {
      start(request, reply, Math.max(0, remaining.get(request) ?? timeLimit));
    });
  },
);
