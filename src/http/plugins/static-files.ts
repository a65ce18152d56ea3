import type { FastifyError, FastifyInstance } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { ApiError, httpErrors } from '../errors.ts';
import { sendError } from './error-handler.ts';

/**
 * Answers what `@fastify/static` refuses (`..`, NUL, a backslash, a range outside the file) with 404, like any path that does
 * not exist; its own errors have statuses of 4xx, but are no answers of the API. Register it in each scope that serves files,
 * before `@fastify/static`.
 */
export const staticFilesPlugin = fastifyPlugin(async (app: FastifyInstance) => {
  app.setErrorHandler<FastifyError>((error, request, reply) => {
    const { statusCode = 500 } = error;
    const isRefusal = !(error instanceof ApiError) && statusCode >= 400 && statusCode < 500;
    return sendError(isRefusal ? new ApiError(httpErrors.notFound, { cause: error }) : error, request, reply);
  });
});
