import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { ApiError, httpErrors } from '../errors.ts';

/** Milliseconds after which a request is answered with 503, whatever it waits for. */
const defaultTimeLimit = 9_000;

/**
 * Answers every request in time, whatever is broken behind it. The time that the client takes to send the body does not count;
 * Fastify's own `handlerTimeout` would give slow uploads no more than this limit either.
 */
export const deadlinePlugin = fastifyPlugin(
  async (app: FastifyInstance, { timeLimit = defaultTimeLimit }: { timeLimit?: number | undefined }) => {
    const timers = new WeakMap<FastifyRequest, NodeJS.Timeout>();
    const left = new WeakMap<FastifyRequest, number>();

    function start(request: FastifyRequest, reply: FastifyReply, milliseconds: number): void {
      const timer = setTimeout(() => {
        if (!reply.sent && !reply.raw.headersSent) reply.send(tooLate(timeLimit));
      }, milliseconds);
      timers.set(request, timer);
    }

    app.addHook('onRequest', async (request, reply) => {
      start(request, reply, timeLimit);
      reply.raw.once('close', () => clearTimeout(timers.get(request)));
    });
    app.addHook('preParsing', async (request, reply) => {
      clearTimeout(timers.get(request));
      left.set(request, timeLimit - reply.elapsedTime);
    });
    app.addHook('preValidation', async (request, reply) => {
      start(request, reply, Math.max(0, left.get(request) ?? timeLimit));
    });
  },
);

function tooLate(timeLimit: number): ApiError {
  return new ApiError(httpErrors.serviceUnavailable, {
    cause: new Error(`no answer after ${timeLimit} ms`),
    headers: { 'retry-after': '5' },
  });
}
