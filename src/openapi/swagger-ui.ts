import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import { staticFilesPlugin } from '../http/plugins/static-files.ts';
import type { JsonObject } from './json.ts';

/** Serves Swagger UI at `/docs/`. Register it in a scope of its own. */
export async function swaggerUiRoutes(
  app: FastifyInstance,
  { document }: { document: () => JsonObject },
): Promise<void> {
  await app.register(staticFilesPlugin);
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: {
      'default-src': ["'none'"],
      'script-src': ["'self'"],
      // Swagger UI styles elements from its scripts.
      'style-src': ["'self'", "'unsafe-inline'"],
      'img-src': ["'self'", 'data:'],
      'connect-src': ["'self'"],
      'base-uri': ["'none'"],
      'form-action': ["'none'"],
      'frame-ancestors': ["'none'"],
    },
    // Swagger UI loads `/docs/json`, whatever URL it is given.
    transformSpecification: () => document(),
    transformSpecificationClone: false,
    theme: { title: 'Dure API' },
    uiConfig: {
      deepLinking: true,
      displayRequestDuration: true,
      persistAuthorization: true,
      tryItOutEnabled: true,
    },
  });
}
