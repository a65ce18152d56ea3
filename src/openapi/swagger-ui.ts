import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import { icon, serveFixed, staticFilesPlugin } from '../http/pages.ts';

/** A script or style sheet that the page loads after those of Swagger UI. */
function asset(filename: string) {
  const path = fileURLToPath(import.meta.resolve(`#package/assets/swagger-ui/${filename}`));
  return { filename, content: readFileSync(path, 'utf8') };
}

/** What the scripts of `assets/swagger-ui` define in the browser. */
declare const window: { durePlugins: object };

/** Serves Swagger UI at `/docs/`, where `canLogIn` is set with a button that signs up and logs in. */
export async function swaggerUiRoutes(app: FastifyInstance, options: { canLogIn: boolean }): Promise<void> {
  await app.register(staticFilesPlugin);
  // It has the document at two more paths, and generates it for each request.
  app.addHook('onRequest', async (request, reply) => {
    const [, extension] = /^\/docs\/(json|yaml)$/.exec(request.routeOptions.url ?? '') ?? [];
    if (extension) return reply.redirect(`/openapi.${extension}`);
  });
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    // Swagger UI styles elements from its scripts.
    staticCSP:
      "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    theme: {
      title: 'Dure API',
      favicon: [{ filename: 'icon.svg', rel: 'icon', type: 'image/svg+xml', sizes: 'any', content: icon }],
      css: [asset('styles.css')],
      js: [asset('readability.js'), ...(options.canLogIn ? [asset('demo-login.js')] : [])],
    },
    logo: { type: 'image/svg+xml', content: icon, href: '/docs/' },
    uiConfig: {
      urls: [{ url: '/openapi.json', name: 'Dure' }],
      plugins: [() => window.durePlugins],
      filter: true,
      docExpansion: 'none',
      // The schemas stand in the operations.
      defaultModelsExpandDepth: -1,
      displayRequestDuration: true,
      persistAuthorization: true,
      tryItOutEnabled: true,
    },
  });
  // Compressed, which the files of @fastify/swagger-ui are not.
  const folder = dirname(createRequire(import.meta.url).resolve('@fastify/swagger-ui/package.json'));
  for (const name of ['swagger-ui-bundle.js', 'swagger-ui-standalone-preset.js', 'swagger-ui.css']) {
    const type = name.endsWith('.js') ? 'text/javascript' : 'text/css';
    serveFixed(app, `/docs/static/${name}`, { type, read: () => readFileSync(join(folder, 'static', name)) });
  }
}
