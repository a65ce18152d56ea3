import swagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { Document, isScalar, visit } from 'yaml';
import { serveFixed } from '../http/pages.ts';
import { referencedSchemas } from '../http/schemas.ts';
import type { Config } from '../infrastructure/config/config.ts';
import { completeDocument } from './document.ts';
import { type DocumentedRoute, isDocumented } from './errors.ts';
import { information } from './information.ts';
import { swaggerUiRoutes } from './swagger-ui.ts';

/** Makes the document, which is that of `app.swagger()`. Register it before the routes. */
export const openApiPlugin = fastifyPlugin(async (app: FastifyInstance) => {
  const routes = new Map<string, DocumentedRoute>();
  await app.register(swagger, {
    openapi: information,
    refResolver: {
      buildLocalReference: (json, _base, _fragment, index) => String(json['$id'] ?? `schema-${index}`),
    },
    transform: ({ schema, url, route }) => {
      if (isDocumented(route)) routes.set(route.schema.operationId, route);
      const tags = [tagOf(url)];
      // Without a scope that requires a user, an operation is for everyone.
      return { schema: { security: [], tags, ...schema }, url };
    },
    transformObject: (generated) =>
      'openapiObject' in generated ? completeDocument(generated.openapiObject, routes) : {},
  });
});

/** As `stores` of `/api/v1/stores/`, unless the schema has another tag. */
function tagOf(url: string): string {
  const part = /^\/auth\/(passkeys|second-factor)\/|\/notifications\/(partner-request|push)\//.exec(url);
  const [, ofAuth, ofNotifications] = part ?? /^\/(?:api\/v1\/)?([\w-]+)/.exec(url) ?? [];
  const tag = ofAuth ?? ofNotifications ?? '';
  return tag === 'partner-request' ? 'partner-requests' : tag;
}

/** Serves the document as YAML and JSON and, where enabled, Swagger UI. Register it after the routes. */
export async function openApiRoutes(
  app: FastifyInstance,
  { docsEnabled, production }: Pick<Config, 'docsEnabled' | 'production'>,
): Promise<void> {
  // @fastify/swagger names the schemas of the app in this order.
  for (const $id of Object.keys(referencedSchemas).sort()) app.addSchema(referencedSchemas[$id]);
  serveFixed(app, '/openapi.yaml', {
    type: 'application/yaml; charset=utf-8',
    read: () => toYaml(app.swagger()),
  });
  serveFixed(app, '/openapi.json', {
    type: 'application/json; charset=utf-8',
    read: () => JSON.stringify(app.swagger()),
  });
  if (docsEnabled) await app.register(swaggerUiRoutes, { canLogIn: !production });
}

/** The document as it is committed: short lists of values on one line, and strings quoted that readers of YAML 1.1 take for another type. */
export function toYaml(document: object): string {
  const yaml = new Document(document, { aliasDuplicateObjects: false, compat: 'yaml-1.1' });
  visit(yaml, {
    Seq: (_key, list) => {
      list.flow = list.items.every(isScalar) && list.items.join(', ').length < 80;
    },
  });
  return yaml.toString({ lineWidth: 110, flowCollectionPadding: false });
}
