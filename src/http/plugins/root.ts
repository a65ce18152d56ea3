// brings `schema.hide`
import type {} from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import { readVersion } from '../../config/version.ts';
import { prefersHtml } from '../media-type.ts';

/** `GET /`: leads a browser to Swagger UI where it is enabled, and tells every other client what this is. */
export async function rootRoutes(
  app: FastifyInstance,
  { docsEnabled }: { docsEnabled: boolean },
): Promise<void> {
  const answer = {
    name: 'Dure',
    version: readVersion(),
    openapi: '/openapi.yaml',
    ...(docsEnabled ? { docs: '/docs/' } : {}),
  };

  app.get('/', { schema: { hide: true } }, async ({ headers: { accept } }, reply) => {
    if (!docsEnabled) return answer;
    reply.header('vary', `${reply.getHeader('vary')}, Accept`);
    return prefersHtml(accept) ? reply.redirect('/docs/') : answer;
  });
}
