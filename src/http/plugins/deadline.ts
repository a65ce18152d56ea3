import type { FastifyInstance, FastifyRequest } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { serviceUnavailable } from '../errors.ts';
import { hasBody } from './body-reader.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Sends 503 when the time of the request is over. Paused while the body is read, and started again after it. */
    deadline: { start(): void; pause(): void } | undefined;
  }
  interface FastifyContextConfig {
    /** Whether the handler reads the body, which may take as long as the client takes. It pauses the deadline. */
    handlerReadsBody?: boolean;
  }
}

/** Milliseconds after which a request gets 503. */
const defaultTimeLimit = 9_000;

/**
 * Responds to every request in time, whatever is broken behind it. The time in which the client sends the body does not count,
 * and open streams do not end; Fastify's `handlerTimeout` would count the one and end the other.
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
