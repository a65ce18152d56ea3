import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import findMyWay, { type HTTPMethod } from 'find-my-way';
import { ApiError, httpErrors } from '../errors.ts';

/**
 * How paths match, for Fastify's router and for the one that answers which methods a path has. A parameter may be as long as
 * the request line may: an id that is too long is that resource's 404, and not the router's.
 */
export const routerOptions = {
  ignoreTrailingSlash: true,
  caseSensitive: true,
  maxParamLength: 16_384,
} as const;

const methods: HTTPMethod[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'];

/**
 * Makes a request target (RFC 9112, section 3.2) into a path that every hook and the router can read: the authority of an
 * absolute target is left out, and percent signs that encode nothing stand for themselves. The router would answer such
 * targets by itself, before limits, language and headers.
 */
export function rewriteUrl({ url = '/' }: IncomingMessage): string {
  if (url.startsWith('/') && !url.includes('%')) return url;
  const target = url.replace(/^https?:\/\/[^/?]*/i, '');
  const [path = '', ...query] = (target.startsWith('/') ? target : `/${target}`).split('?');
  return [isDecodable(path) ? path : path.replaceAll('%', '%25'), ...query].join('?');
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

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
  // Node answers an unknown `Expect` with an empty 417; RFC 9110, section 10.1.1 lets a server pass over it.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  // Before the body is read: what is wrong in it does not matter where there is nobody to read it.
  app.addHook('onRequest', async (request) => {
    if (!request.is404) return;
    const allowed = methods.filter((method) => routes.find(method, request.url) !== null);
    if (allowed.length === 0) throw new ApiError(httpErrors.notFound);
    throw new ApiError(httpErrors.methodNotAllowed, { headers: { allow: allowed.join(', ') } });
  });
});
