import type { FastifyInstance, FastifyRequest } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { claimedUserId } from '../authentication.ts';

/** The log never contains query strings, headers or bodies of requests, because tokens and passwords are in them. */
export function loggerOptions(level: string) {
  return {
    level,
    serializers: {
      req: (request: FastifyRequest) => ({ method: request.method, path: request.url.split('?')[0] }),
      err: (error: Error) => describeError(error),
    },
  };
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

/** Logs one line per request, when it is answered. */
export const requestLogPlugin = fastifyPlugin(async (app: FastifyInstance) => {
  app.addHook('onResponse', (request, reply, done) => {
    request.log.info(
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
