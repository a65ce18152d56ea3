import cors from '@fastify/cors';
import helmet from '@fastify/helmet';
import type { FastifyInstance } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import type { Config } from '../../config/config.ts';

const directives = {
  'default-src': ["'none'"],
  'frame-ancestors': ["'none'"],
  'base-uri': ["'none'"],
  'form-action': ["'none'"],
};

/** The policy of every answer that is not a page of its own. */
export const contentSecurityPolicy = Object.entries(directives)
  .map(([name, values]) => `${name} ${values.join(' ')}`)
  .join(';');

/** Headers for browsers: framing, MIME sniffing, caching and CORS. */
export const securityHeadersPlugin = fastifyPlugin(
  async (app: FastifyInstance, { config }: { config: Config }) => {
    await app.register(helmet, {
      contentSecurityPolicy: { useDefaults: false, directives },
      referrerPolicy: { policy: 'no-referrer' },
      // For browsers without `frame-ancestors`.
      xFrameOptions: { action: 'deny' },
      strictTransportSecurity: config.production ? { maxAge: 31_536_000, includeSubDomains: true } : false,
      crossOriginResourcePolicy: { policy: config.corsOrigins.length > 0 ? 'cross-origin' : 'same-origin' },
    });
    if (config.corsOrigins.length > 0) {
      await app.register(cors, {
        origin: [...config.corsOrigins],
        methods: ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE'],
        allowedHeaders: [
          'Authorization',
          'Content-Type',
          'Accept-Language',
          'Idempotency-Key',
          'If-None-Match',
          'Last-Event-ID',
          'X-Request-Id',
        ],
        exposedHeaders: [
          'Retry-After',
          'ETag',
          'X-Request-Id',
          'Content-Language',
          'RateLimit-Limit',
          'RateLimit-Remaining',
          'RateLimit-Reset',
        ],
        maxAge: 600,
        // In strict mode an `OPTIONS` request that is no preflight is answered in plain text.
        strictPreflight: false,
      });
    }
    app.addHook('onRequest', async (request, reply) => {
      // The path of the route where there is one, because a URL can be encoded in other ways, as `/%61uth/me/`.
      const path = request.routeOptions.url ?? request.url;
      if (path.startsWith('/auth/')) reply.header('cache-control', 'no-store');
      else if (path.startsWith('/api/')) reply.header('cache-control', 'private, no-cache');
    });
  },
);
