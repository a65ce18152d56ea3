import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import cors, { type FastifyCorsOptions } from '@fastify/cors';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import helmet from 'helmet';
import type { Config } from '../../infrastructure/config/config.ts';
import { isOrigin } from '../../infrastructure/config/readers.ts';

const exposedHeaders =
  'Allow, Content-Disposition, Content-Language, ETag, Idempotency-Replayed, Location, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After, X-Request-Id';
const allowedHeaders =
  'Accept-Language, Authorization, baggage, Content-Type, Idempotency-Key, If-Match, If-None-Match, Last-Event-ID, sentry-trace, traceparent, tracestate, X-Refresh-Token, X-Request-Id, X-Requested-With';

/** Seconds for which a browser may keep the response to a preflight; Chromium keeps none for longer. */
const preflightMaxAge = 7_200;

type HeaderConfig = Pick<Config, 'production' | 'corsOrigins'>;

function helmetOptions({ production, corsOrigins }: HeaderConfig) {
  return {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        'default-src': ["'none'"],
        'frame-ancestors': ["'none'"],
        'base-uri': ["'none'"],
        'form-action': ["'none'"],
      },
    },
    referrerPolicy: { policy: 'no-referrer' },
    // For browsers without `frame-ancestors`.
    xFrameOptions: { action: 'deny' },
    strictTransportSecurity: production ? { maxAge: 31_536_000, includeSubDomains: true } : false,
    crossOriginResourcePolicy: { policy: corsOrigins.length > 0 ? 'cross-origin' : 'same-origin' },
  } as const;
}

/** The security headers of every response. They depend on nothing but the configuration, so Helmet computes them once. */
export function securityHeaders(config: HeaderConfig): Record<string, string> {
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  helmet(helmetOptions(config))(response.req, response, () => undefined);
  return Object.fromEntries(
    Object.entries(response.getHeaders()).map(([name, value]) => [name, String(value)]),
  );
}

/** The headers with which an origin may read an error that is written to the socket. */
export function corsHeaders(origin: string): Record<string, string> {
  return {
    'access-control-allow-origin': origin,
    'access-control-allow-credentials': 'true',
    'access-control-expose-headers': exposedHeaders,
    vary: 'Origin',
  };
}

/** Whether a browser asks with this request if it may send another one (https://fetch.spec.whatwg.org/#cors-preflight-fetch). */
export function isPreflight({ method, headers }: FastifyRequest): boolean {
  return method === 'OPTIONS' && 'origin' in headers && 'access-control-request-method' in headers;
}

/** Headers for browsers: framing, MIME sniffing, transport, caching and CORS. */
export const securityHeadersPlugin = fastifyPlugin(
  async (app: FastifyInstance, { config }: { config: Config }) => {
    if (config.corsOrigins.length > 0) await app.register(cors, corsOptions(config.corsOrigins));
    const headers = securityHeaders(config);
    app.addHook('onRequest', (request, reply, done) => {
      reply.headers(headers);
      const caching = cachingOf(request);
      if (caching !== undefined) reply.header('cache-control', caching);
      done();
    });
  },
);

/** `Cache-Control` of the API; undefined elsewhere. */
function cachingOf(request: FastifyRequest): string | undefined {
  // The path of the route where there is one, because a URL can be encoded in other ways, as `/%61uth/me/`. `@fastify/cors` has
  // the route `*`.
  const { url = '*' } = request.routeOptions;
  const path = url === '*' ? request.url : url;
  if (path.startsWith('/auth/')) return 'no-store';
  return path.startsWith('/api/') ? 'private, no-cache' : undefined;
}

/**
 * Options of `@fastify/cors`. It only sets headers: preflights are answered by `routing.ts`, because they count for the limits and
 * only paths that exist have them. An origin that is not configured gets no header.
 */
function corsOptions(origins: readonly string[]): FastifyCorsOptions {
  return {
    origin: (origin, done) => done(null, origin !== undefined && origins.includes(origin) ? origin : false),
    // The same for every path, so that a request with a wrong method is sent and gets its 405.
    methods: ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE'],
    allowedHeaders,
    exposedHeaders,
    // For the cookie of the refresh token.
    credentials: true,
    maxAge: preflightMaxAge,
    preflightContinue: true,
    strictPreflight: false,
  };
}

/** Every client can send any `Origin`, so the log and the memory for it are bounded. */
const maxLogged = 20;

/**
 * Logs each origin that `CORS_ORIGINS` does not allow, once: a browser shows the error to the developer of a page, but not
 * the setting that would allow it. A warning outside production only, because strangers could cause it.
 */
export const rejectedOriginsPlugin = fastifyPlugin(
  async (app: FastifyInstance, { config }: { config: HeaderConfig }) => {
    const logged = new Set<string>();
    app.addHook('onRequest', (request, _reply, done) => {
      const { origin } = request.headers;
      if (origin !== undefined && logged.size < maxLogged && !logged.has(origin)) {
        const reason = rejectionOf(origin, request, config.corsOrigins);
        if (reason !== undefined) {
          logged.add(origin);
          request.log[config.production ? 'info' : 'warn']({ origin }, reason);
          if (logged.size === maxLogged) request.log.info('further rejected origins are not logged');
        }
      }
      done();
    });
  },
);

/** Why a browser keeps the response from a page; undefined when it does not, or when no browser sends such a header. */
function rejectionOf(
  origin: string,
  { headers, host }: FastifyRequest,
  allowed: readonly string[],
): string | undefined {
  // A browser shows the response to a form on a page of any origin.
  if (headers['sec-fetch-mode'] === 'navigate') return undefined;
  if (origin === 'null') {
    return 'the page has no origin, as a file or a sandboxed frame, so CORS_ORIGINS cannot allow it: serve it over HTTP';
  }
  if (allowed.includes(origin) || origin.length > 255 || !isOrigin(origin)) return undefined;
  // A browser sends `Origin` to the own origin as well, for example with a `POST` of Swagger UI.
  if (new URL(origin).host === host) return undefined;
  return 'CORS_ORIGINS does not name this origin, so browsers keep the answer from its pages: add it if they are yours';
}
