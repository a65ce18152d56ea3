import { type IncomingMessage, METHODS } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import findMyWay from 'find-my-way';
import type { Config } from '../../infrastructure/config/config.ts';
import { ApiError, httpErrors } from '../errors.ts';
import { maxLoggedLength } from './logging.ts';
import { isPreflight } from './security-headers.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** What is wrong with a request that no route is for: its path, 404, or its method, 405 with `Allow`. */
    unmatchedError(request: FastifyRequest): ApiError;
  }
}

/** The longest request target that is served, in bytes. */
const maxTargetLength = 2_048;

/** How paths match. A parameter may be as long as the target, percent signs escaped, so that a long id is that resource's 404. */
export const routerOptions = { ignoreTrailingSlash: true, maxParamLength: 3 * maxTargetLength } as const;

/** In the order of `Allow`. */
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'];

/**
 * Normalises a request target (RFC 9112, section 3.2) to a path: the authority of an absolute target is removed, and percent signs that
 * encode nothing are escaped. The router would answer such targets itself, before limits, language and headers.
 */
export function rewriteUrl({ url: target = '/' }: IncomingMessage): string {
  const url = target.length > maxTargetLength ? target.slice(0, maxLoggedLength) : target;
  if (url.startsWith('/') && !url.includes('%')) return url;
  const local = url.replace(/^https?:\/\/[^/?]*/i, '');
  const [path = '', ...query] = (local.startsWith('/') ? local : `/${local}`).split('?');
  return [isDecodable(path) ? path : path.replaceAll('%', '%25'), ...query].join('?');
}

/** Whether the percent-encoding of a URL is UTF-8. */
export function isDecodable(url: string): boolean {
  try {
    decodeURIComponent(url);
    return true;
  } catch {
    return false;
  }
}

/**
 * Rejects targets that are too long, and responds where Fastify sends 404: unknown paths with 404, known paths with another method with
 * 405 and `Allow`, and preflights of known paths with 204. Register it after the limits, which count all of them, and before
 * {@link FastifyInstance.supportedMethods} is read.
 */
export const routingPlugin = fastifyPlugin(async (app: FastifyInstance, { config }: { config: Config }) => {
  // Others are unknown paths, apart from a route of a scope for all methods.
  for (const method of METHODS.filter((one) => !app.supportedMethods.includes(one))) {
    app.addHttpMethod(method, { hasBody: true });
  }
  // The methods of each path, and a router that has every path once.
  const methodsByPath = new Map<string, Set<string>>();
  const paths = findMyWay(routerOptions);
  app.addHook('onRoute', ({ method, url, config }) => {
    if (config?.catchAll) return;
    // With a slash at its end and without, a path is the same.
    const path = url.replace(/\/$/, '');
    const known = methodsByPath.get(path) ?? new Set();
    if (!methodsByPath.has(path)) paths.on('GET', url, () => undefined, known);
    methodsByPath.set(path, known);
    for (const one of [method].flat()) known.add(one);
  });
  // Node answers an unknown `Expect` with an empty 417; RFC 9110, section 10.1.1 allows to ignore it.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  // For paths that a route has and then does not find, such as files.
  app.setNotFoundHandler(() => {
    throw new ApiError(httpErrors.notFound);
  });
  /** The methods of the path that fits a URL best: of `/me/` and not of `/:id/`. */
  function methodsOf(url: string): string[] {
    const known: Set<string> = paths.find('GET', url)?.store ?? new Set();
    return methods.filter((method) => known.has(method));
  }

  function unmatchedError({ url }: FastifyRequest): ApiError {
    const allowed = methodsOf(url);
    if (allowed.length === 0) return new ApiError(httpErrors.notFound);
    return new ApiError(httpErrors.methodNotAllowed, { headers: { allow: allowed.join(', ') } });
  }
  app.decorate('unmatchedError', unmatchedError);

  // Before the body is read, which does not matter here.
  app.addHook('onRequest', (request, reply, done) => {
    if (request.originalUrl.length > maxTargetLength) throw new ApiError(httpErrors.uriTooLong);
    // RFC 9112, section 3.2. Node.js takes the first of several.
    const isHost = (text: string, index: number) => index % 2 === 0 && /^host$/i.test(text);
    if (request.raw.rawHeaders.filter(isHost).length > 1) throw new ApiError(httpErrors.malformedRequest);
    const asksForOrigin = config.corsOrigins.length > 0 && isPreflight(request);
    if (request.routeOptions.config.catchAll && !asksForOrigin) return done();
    // `@fastify/cors` has a route for every `OPTIONS`.
    const hasRoute = !request.is404 && request.method !== 'OPTIONS';
    const allowed = methodsOf(request.url);
    // Fastify routes a method that `/me/` lacks to `/:id/`.
    if (hasRoute && allowed.includes(request.method)) return done();
    if (allowed.length > 0 && asksForOrigin) {
      reply.code(204).send();
      return;
    }
    throw unmatchedError(request);
  });
});
