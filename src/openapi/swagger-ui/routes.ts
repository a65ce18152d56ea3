import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { hashOf, serveFixed } from '../../http/fixed-content.ts';
import { once } from '../../http/plugins/validation.ts';
import { script, styles } from './browser.ts';
import { type PageOptions, renderPage } from './page.ts';

// Swagger UI styles elements from its scripts.
const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Read once, because tests build many apps. */
const readFiles = once(() => {
  const folder = dirname(createRequire(import.meta.url).resolve('@fastify/swagger-ui/package.json'));
  const read = (name: string) => readFileSync(join(folder, 'static', name));
  return Object.entries({
    'swagger-ui-bundle.js': read('swagger-ui-bundle.js'),
    'dure.js': script,
    'dure.css': `${read('swagger-ui.css')}\n${styles}`,
  }).map(([name, content]) => ({ name, content, path: `/docs/static/${hashOf(content)}/${name}` }));
});

/**
 * Serves Swagger UI at `/docs/`, with the files of `@fastify/swagger-ui`. Its own routes neither compress them nor let a browser
 * keep them, and its page shows nothing before two megabytes of scripts have run.
 */
export function swaggerUiRoutes(app: FastifyInstance, options: Pick<PageOptions, 'demoLogin'>): void {
  const files = readFiles();
  for (const { name, path, content } of files) {
    const type = name.endsWith('.js') ? 'text/javascript' : 'text/css';
    serveFixed(app, path, { type: `${type}; charset=utf-8`, read: () => content }, true);
  }
  const pathOf = (name: string) => files.find((file) => file.name === name)?.path ?? '';
  serveFixed(app, '/docs/', {
    type: 'text/html; charset=utf-8',
    read: () => renderPage({ ...options, pathOf }),
    headers: { 'content-security-policy': contentSecurityPolicy },
  });
}
