import type { FastifyInstance } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import findMyWay, { type HTTPMethod } from 'find-my-way';
import { ApiError, httpErrors } from './errors.ts';

/** How paths match, for Fastify's router and for the one that answers which methods a path has. */
export const routerOptions = { ignoreTrailingSlash: true, caseSensitive: true, maxParamLength: 200 } as const;

const methods: HTTPMethod[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'];

/** Unknown paths are 404; known paths with another method are 405 with `Allow`, which Fastify alone would answer as 404. */
export const routingPlugin = fastifyPlugin(async (app: FastifyInstance) => {
  const routes = findMyWay(routerOptions);
  app.addHook('onRoute', ({ method, url }) => {
    for (const one of [method].flat()) {
      const known = methods.find((candidate) => candidate === one);
      // With `ignoreTrailingSlash`, Fastify announces the root of a plugin twice.
      if (known && !routes.hasRoute(known, url)) routes.on(known, url, () => undefined);
    }
  });
  app.setNotFoundHandler(async (request) => {
    const path = request.url.split('?')[0] ?? '';
    const allowed = methods.filter((method) => routes.find(method, path) !== null);
    if (allowed.length === 0) throw new ApiError(httpErrors.notFound);
    throw new ApiError(httpErrors.methodNotAllowed, { headers: { allow: allowed.join(', ') } });
  });
});
