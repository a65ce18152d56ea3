import swagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { stringify } from 'yaml';
import { once } from '../http/plugins/validation.ts';
import { referencedSchemas } from '../http/schemas.ts';
import type { JsonObject } from './components.ts';
import { openApiDocument } from './document.ts';
import { information } from './information.ts';
import { collectRoutesPlugin } from './operation.ts';
import { swaggerUiRoutes } from './swagger-ui/routes.ts';

/** Collects the routes for the document. Register it before the routes. */
export const openApiPlugin = fastifyPlugin(async (app: FastifyInstance) => {
  await app.register(collectRoutesPlugin);
  await app.register(swagger, {
    openapi: information,
    refResolver: {
      buildLocalReference: (json, _base, _fragment, index) => String(json['$id'] ?? `schema-${index}`),
    },
    // Without a scope that requires a user, an operation is for everyone.
    transform: ({ schema, url }) => ({ schema: { security: [], ...schema }, url }),
  });
});

/** Serves the document as YAML and JSON and, where enabled, Swagger UI. Register it after the routes. */
export async function openApiRoutes(
  app: FastifyInstance,
  { docsEnabled }: { docsEnabled: boolean },
): Promise<void> {
  // @fastify/swagger names the schemas of the app in this order.
  for (const $id of Object.keys(referencedSchemas).sort()) app.addSchema(referencedSchemas[$id]);
  // Computed at the first request, because it takes longer than all the rest of the start.
  const document = once(() => openApiDocument(app));
  const yaml = once(() => toYaml(document()));
  app.get('/openapi.yaml', { schema: { hide: true } }, async (_request, reply) =>
    reply.type('application/yaml; charset=utf-8').send(yaml()),
  );
  app.get('/openapi.json', { schema: { hide: true } }, async () => document());
  if (!docsEnabled) return;
  await app.register(swaggerUiRoutes, { document });
}

/** The document as it is committed. */
export function toYaml(document: JsonObject): string {
  return stringify(document, { lineWidth: 110, aliasDuplicateObjects: false });
}
