import type { FastifyInstance, FastifyRequest } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { pino } from 'pino';
import type { Tracing } from '../../tracing/tracing.ts';
import { claimedUserId } from '../authentication.ts';

/**
 * The log never contains query strings, headers or bodies of requests, because tokens and passwords are in them.
 *
 * @param tracing adds `trace_id` and `span_id` to each line
 */
export function loggerOptions(level: string, tracing?: Tracing) {
  return {
    level,
    ...(tracing ? { mixin: tracing.logFields } : {}),
    serializers: {
      req: (request: FastifyRequest) => ({ method: request.method, path: request.url.split('?')[0] }),
      err: (error: Error) => describeError(error),
    },
  };
}

/** At most so many milliseconds are between a line and its writing. */
const flushInterval = 100;

/**
 * Standard output. Lines are written together, because a system call for each one is a tenth of a request's time. What is left
 * is written when the process ends; only SIGKILL loses the lines of the last {@link flushInterval}.
 */
export function logStream() {
  return pino.destination({ sync: false, minLength: 4096, periodicFlush: flushInterval });
}

/** An error without its other properties: PostgreSQL's `detail`, for example, quotes the refused row. */
function describeError(
  error: Error,
  depth = 0,
): { type: string; message: string; stack: string; [other: string]: unknown } {
  const { name, message, stack = '', cause } = error;
  const code = 'code' in error ? error.code : undefined;
  const reason = cause instanceof Error && depth < 3 ? { cause: describeError(cause, depth + 1) } : {};
  return { type: name, message, stack, code, ...reason };
}

/**
 * Logs one line per request, when it is answered. Health checks and scrapes that succeed are at `debug`: there are hundreds of
 * thousands a day.
 */
export const requestLogPlugin = fastifyPlugin(async (app: FastifyInstance) => {
  app.addHook('onResponse', (request, reply, done) => {
    const isProbe = request.routeOptions.config?.limit === 'none' && reply.statusCode < 400;
    request.log[isProbe ? 'debug' : 'info'](
      {
        method: request.method,
        path: request.url.split('?')[0],
        status: reply.statusCode,
        milliseconds: Math.round(reply.elapsedTime),
        address: request.clientIp,
        userId: claimedUserId(request),
      },
      'request',
    );
    done();
  });
});
