import type { FastifyInstance, FastifyRequest } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { claimedUserId } from '../authentication.ts';

/** What the log may say of a request: never a query string, a header or a body, which hold tokens and passwords. */
export function loggerOptions(level: string) {
  return {
    level,
    serializers: {
      req: (request: FastifyRequest) => ({ method: request.method, path: request.url.split('?')[0] }),
      err: (error: Error) => describeError(error),
    },
  };
}

/** What an error says of itself. Not its other properties: PostgreSQL's `detail`, for one, is the row that it would not take. */
function describeError(error: Error, depth = 0): DescribedError {
  const { name, message, stack = '', cause } = error;
  const code = 'code' in error ? error.code : undefined;
  const reason = cause instanceof Error && depth < 3 ? { cause: describeError(cause, depth + 1) } : {};
  return { type: name, message, stack, code, ...reason };
}

interface DescribedError {
  type: string;
  message: string;
  stack: string;
  code: unknown;
  cause?: DescribedError;
  [other: string]: unknown;
}

/** One line for each request, when it is answered. */
export const requestLogPlugin = fastifyPlugin(async (app: FastifyInstance) => {
  app.addHook('onResponse', async (request, reply) => {
    request.log.info(
      {
        method: request.method,
        path: request.url.split('?')[0],
        status: reply.statusCode,
        milliseconds: Math.round(reply.elapsedTime),
        address: request.ip,
        userId: claimedUserId(request),
      },
      'request',
    );
  });
});
