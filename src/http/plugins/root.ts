// brings `schema.hide`

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type {} from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import Negotiator from 'negotiator';

/** `GET /`: leads a browser to Swagger UI where it is enabled, and tells every other client what this is. */
export async function rootRoutes(
  app: FastifyInstance,
  { docsEnabled }: { docsEnabled: boolean },
): Promise<void> {
  const file = fileURLToPath(import.meta.resolve('#package/package.json'));
  const { version }: { version: string } = JSON.parse(readFileSync(file, 'utf8'));
  const answer = {
    name: 'Dure',
    version,
    openapi: '/openapi.yaml',
    ...(docsEnabled ? { docs: '/docs/' } : {}),
  };

  app.get('/', { schema: { hide: true } }, async ({ headers: { accept } }, reply) => {
    if (!docsEnabled) return answer;
    reply.header('vary', `${reply.getHeader('vary')}, Accept`);
    return prefersHtml(accept) ? reply.redirect('/docs/') : answer;
  });
}

/** Whether a client asks for a page, as browsers do; `*` alone is no wish. */
function prefersHtml(accept: string | undefined): boolean {
  const types = ['application/json', 'text/html'];
  return new Negotiator({ headers: { accept } }).mediaType(types) === 'text/html';
}
