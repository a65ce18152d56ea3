import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import { icon, staticFilesPlugin } from '../../http/pages.ts';
import { script, styles } from './browser.ts';

const contentSecurityPolicy = {
  'default-src': ["'none'"],
  'script-src': ["'self'"],
  // Swagger UI styles elements from its scripts.
  'style-src': ["'self'", "'unsafe-inline'"],
  'img-src': ["'self'", 'data:'],
  'connect-src': ["'self'"],
  'base-uri': ["'none'"],
  'form-action': ["'none'"],
  'frame-ancestors': ["'none'"],
};

/** Serves Swagger UI at `/docs/`. Register it in a scope of its own. */
export async function swaggerUiRoutes(app: FastifyInstance): Promise<void> {
  await app.register(staticFilesPlugin);
  // The page of `@fastify/swagger-ui` has no option for it; without it, a phone shows the page as wide as a desktop.
  app.addHook('onSend', async (_request, _reply, payload) =>
    typeof payload === 'string'
      ? payload.replace(
          '<meta charset="UTF-8">',
          '$&\n      <meta name="viewport" content="width=device-width,initial-scale=1">',
        )
      : payload,
  );
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: contentSecurityPolicy,
    logo: { type: 'image/svg+xml', content: icon, href: '/docs/', target: '_self' },
    theme: {
      title: 'Dure API',
      // The size of an SVG icon in HTML is the word `any`.
      favicon: [{ filename: 'icon.svg', rel: 'icon', type: 'image/svg+xml', sizes: 'any', content: icon }],
      css: [{ filename: 'dure.css', content: styles }],
      js: [{ filename: 'dure.js', content: script }],
    },
    uiConfig: {
      deepLinking: true,
      // The schemas stand in the operations; the list of all of them is closed.
      defaultModelsExpandDepth: 0,
      displayRequestDuration: true,
      filter: true,
      persistAuthorization: true,
      tryItOutEnabled: true,
      // Written into a script as source, so they refer to globals of the page only. The first one is a default of the page.
      plugins: [
        (system: unknown) => Reflect.get(globalThis, 'SwaggerUIBundle').plugins.DownloadUrl(system),
        (system: unknown) => Reflect.get(globalThis, 'dureSwaggerUi')(system),
      ],
    },
  });
}
