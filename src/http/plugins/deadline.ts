import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { serviceUnavailable } from '../errors.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Sends 503 when the time of the request is over. */
    deadline: NodeJS.Timeout | undefined;
    /** Milliseconds that passed before the body was read. */
    timeBeforeBody: number;
  }
  interface FastifyReply {
    /** Stops the deadline of a route with `handlerReadsBody` while the body is read. */
    pauseDeadline(): void;
    /** Starts it again, once the body was read. */
    startDeadline(): void;
  }
  interface FastifyContextConfig {
    /** Whether the handler reads the body, which may take as long as the client takes. */
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
    app.decorateRequest('timeBeforeBody', 0);

    app.decorateReply('pauseDeadline', function () {
      clearTimeout(this.request.deadline);
      this.request.timeBeforeBody = this.elapsedTime;
    });
    app.decorateReply('startDeadline', function () {
      start(this.request, this, Math.max(0, timeLimit - this.request.timeBeforeBody));
    });

    function start(request: FastifyRequest, reply: FastifyReply, milliseconds: number): void {
      clearTimeout(request.deadline);
      request.deadline = setTimeout(() => {
        if (reply.sent || reply.raw.headersSent || reply.raw.destroyed) return;
        reply.send(serviceUnavailable(new Error(`no response after ${timeLimit} ms`)));
        // The handler or a hook goes on, and Fastify would log its end as an error: the reply is already sent.
        reply.log = reply.log.child({}, { level: 'silent' });
      }, milliseconds).unref();
    }

    app.addHook('onRequest', (request, reply, done) => {
      start(request, reply, timeLimit);
      done();
    });
    app.addHook('preParsing', (request, reply, payload, done) => {
      if (isParsed(request)) reply.pauseDeadline();
      done(null, payload);
    });
    app.addHook('preValidation', (request, reply, done) => {
      if (isParsed(request)) reply.startDeadline();
      done();
    });
    app.addHook('onResponse', (request, _reply, done) => {
      clearTimeout(request.deadline);
      done();
    });
  },
);

/** Whether the client sends a body that is read before the handler runs. */
function isParsed({ headers, routeOptions }: FastifyRequest): boolean {
  const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
  return hasBody && !routeOptions.config.handlerReadsBody;
}
