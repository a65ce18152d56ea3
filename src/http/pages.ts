// brings `schema.hide`
import type {} from '@fastify/swagger';
import type { FastifyError, FastifyInstance } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import Negotiator from 'negotiator';
import { readVersion } from '../infrastructure/config/version.ts';
import { ApiError, httpErrors } from './errors.ts';
import { sendError } from './plugins/error-handler.ts';

/* What a browser gets beside the API: pages, their icon and files. */

/** The icon of the pages that the service shows: two circles that overlap, as SVG. */
export const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#1f6f4a"/><g fill="none" stroke="#fff" stroke-width="3"><circle cx="12.5" cy="16" r="6.5"/><circle cx="19.5" cy="16" r="6.5"/></g></svg>';

/** Whether a client prefers HTML, as browsers do. A type for anything, such as that of curl, does not count. */
export function prefersHtml(accept: string | undefined): boolean {
  const types = ['application/json', 'text/html'];
  return new Negotiator({ headers: { accept } }).mediaType(types) === 'text/html';
}

/**
 * Answers what `@fastify/static` rejects (`..`, NUL, a backslash, a range outside the file) with 404, like any path that does
 * not exist; its own errors have statuses of 4xx, but are no responses of the API. Register it in each scope that serves files,
 * before `@fastify/static`.
 */
export const staticFilesPlugin = fastifyPlugin(async (app: FastifyInstance) => {
  app.setErrorHandler<FastifyError>((error, request, reply) => {
    const { statusCode = 500 } = error;
    const isRejection = !(error instanceof ApiError) && statusCode >= 400 && statusCode < 500;
    return sendError(
      isRejection ? new ApiError(httpErrors.notFound, { cause: error }) : error,
      request,
      reply,
    );
  });
});

/** `GET /`: leads a browser to Swagger UI where it is enabled, and tells every other client what this is. */
export async function rootRoutes(
  app: FastifyInstance,
  { docsEnabled }: { docsEnabled: boolean },
): Promise<void> {
  const about = {
    name: 'Dure',
    version: readVersion(),
    openapi: '/openapi.yaml',
    ...(docsEnabled ? { docs: '/docs/' } : {}),
  };

  app.get('/', { schema: { hide: true } }, async ({ headers: { accept } }, reply) => {
    if (!docsEnabled) return about;
    reply.header('vary', `${reply.getHeader('vary')}, Accept`);
    return prefersHtml(accept) ? reply.redirect('/docs/') : about;
  });
}
