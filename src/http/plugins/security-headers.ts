import cors from '@fastify/cors';
import helmet from '@fastify/helmet';
import type { FastifyInstance } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import type { Config } from '../../config/config.ts';

/** Headers that browsers obey: what may frame, sniff, cache and call the service. */
export const securityHeadersPlugin = fastifyPlugin(
  async (app: FastifyInstance, { config }: { config: Config }) => {
    await app.register(helmet, {
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
      // For browsers that do not know `frame-ancestors`.
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
        // Otherwise an `OPTIONS` that is no preflight is answered in plain text.
        strictPreflight: false,
      });
    }
    app.addHook('onRequest', async (request, reply) => {
      // The route's own path where there is one: what was asked for may be written in another way, as `/%61uth/me/`.
      const path = request.routeOptions.url ?? request.url;
      if (path.startsWith('/auth/')) reply.header('cache-control', 'no-store');
      else if (path.startsWith('/api/')) reply.header('cache-control', 'private, no-cache');
    });
  },
);
