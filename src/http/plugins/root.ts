// brings `schema.hide`

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type {} from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import { prefersHtml } from '../media-type.ts';

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
