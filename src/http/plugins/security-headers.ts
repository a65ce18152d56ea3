import cors from '@fastify/cors';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import type { Config } from '../../infrastructure/config/config.ts';
import { isOrigin } from '../../infrastructure/config/readers.ts';

const exposedHeaders =
  'Allow, Content-Disposition, Content-Language, ETag, Idempotency-Replayed, Location, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After, X-Request-Id';
const allowedHeaders =
  'Accept-Language, Authorization, baggage, Content-Type, Idempotency-Key, If-Match, If-None-Match, Last-Event-ID, sentry-trace, traceparent, tracestate, X-Client-Info, X-Refresh-Token, X-Request-Id, X-Requested-With';

/** Seconds for which a browser may keep the response to a preflight; Chromium keeps none for longer. */
const preflightMaxAge = 7_200;

/** The security headers of every response. */
export function securityHeaders({ production, corsOrigins }: Config): Record<string, string> {
  return {
    'content-security-policy': "default-src 'none';frame-ancestors 'none';base-uri 'none';form-action 'none'",
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': corsOrigins.length > 0 ? 'cross-origin' : 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    // For browsers without `frame-ancestors`.
    'x-frame-options': 'DENY',
    ...(production && { 'strict-transport-security': 'max-age=31536000; includeSubDomains' }),
  };
}

/** Whether a browser asks with this request if it may send another one (https://fetch.spec.whatwg.org/#cors-preflight-fetch). */
export function isPreflight({ method, headers }: FastifyRequest): boolean {
  return method === 'OPTIONS' && 'origin' in headers && 'access-control-request-method' in headers;
}

/** Headers for browsers: framing, MIME sniffing, transport, caching and CORS. */
export const securityHeadersPlugin = fastifyPlugin(
  async (app: FastifyInstance, { config }: { config: Config }) => {
    const { corsOrigins, production } = config;
    if (corsOrigins.length > 0) {
      // It only sets headers. Preflights are answered by `routing.ts`: they count for the limits, and only paths that exist have them.
      await app.register(cors, {
        origin: (origin, done) => done(null, origin !== undefined && corsOrigins.includes(origin) && origin),
        // The same for every path, so that a request with a wrong method is sent and gets its 405.
        methods: ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE'],
        allowedHeaders,
        exposedHeaders,
        // For the cookie of the refresh token.
        credentials: true,
        maxAge: preflightMaxAge,
        preflightContinue: true,
        strictPreflight: false,
      });
    }
    const headers = securityHeaders(config);
    // A browser shows a rejected origin to the developer of a page, but not the setting that would allow it. Each is logged once; as a
    // warning outside production only, because strangers could cause it.
    const logged = new Set(corsOrigins);
    const maxLogged = logged.size + 20;
    app.addHook('onRequest', (request, reply, done) => {
      reply.headers(headers);
      const caching = cachingOf(request);
      if (caching !== undefined) reply.header('cache-control', caching);
      const { origin } = request.headers;
      const reason = origin && logged.size < maxLogged && !logged.has(origin) && rejectionOf(origin, request);
      if (reason) {
        logged.add(origin);
        request.log[production ? 'info' : 'warn']({ origin }, reason);
        if (logged.size === maxLogged) request.log.info('further rejected origins are not logged');
      }
      done();
    });
  },
);

/** `Cache-Control` of the API; undefined elsewhere. */
function cachingOf(request: FastifyRequest): string | undefined {
  // Not the URL, which can be encoded in other ways, as `/%61uth/me/`. `@fastify/cors` has the route `*`.
  const { url = '*' } = request.routeOptions;
  const path = url === '*' ? request.url : url;
  if (path.startsWith('/auth/')) return 'no-store';
  return path.startsWith('/api/') ? 'private, no-cache' : undefined;
}

/** Why a browser keeps the response from a page of an origin that is not configured; undefined when it does not. */
function rejectionOf(origin: string, { headers, host }: FastifyRequest): string | undefined {
  // A browser shows the response to a form on a page of any origin.
  if (headers['sec-fetch-mode'] === 'navigate') return undefined;
  if (origin === 'null') {
    return 'the page has no origin, as a file or a sandboxed frame, so CORS_ORIGINS cannot allow it: serve it over HTTP';
  }
  // No browser sends anything else. To the own origin it sends the header as well, for example with a `POST` of Swagger UI.
  if (origin.length > 255 || !isOrigin(origin) || new URL(origin).host === host) return undefined;
  return 'CORS_ORIGINS does not name this origin, so browsers keep the answer from its pages: add it if they are yours';
}
