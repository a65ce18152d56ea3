import swagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { stringify } from 'yaml';
import { FieldErrorSchema } from '../http/field-errors.ts';
import { openApiDocument } from './document.ts';
import { documentRoute, type JsonObject } from './operation.ts';
import { swaggerUiRoutes } from './swagger-ui/routes.ts';

const information = {
  openapi: '3.1.0',
  info: {
    title: 'Dure',
    version: '0.1.0',
    summary: 'Neighbourhood shops find partners and answer each other',
    description: [
      'Shops sign up, register their store, publish what kind of partnership they are looking for, send each other partnership requests and get notified about them.',
      'Every JSON answer except that of `/health/` is `{ success, message, data }`. `message` is for people and follows `Accept-Language` (Korean by default, English); `data.code` of a failure is for programs and never changes.',
      'A `validation_error` names up to 20 wrong values, each twice: `data.fields` has texts for people, `data.errors` has codes and parameters for programs. Unknown fields and unknown query parameters are refused; an empty query parameter is ignored. A body may have 32 KiB, that of a post 128 KiB.',
      'Canonical paths end with a slash; the same path without it answers the same.',
      'Every answer has an `X-Request-Id` (the one that was sent, where it is 1-64 of `A-Za-z0-9._-`) and says in `RateLimit-Limit`, `RateLimit-Remaining` and `RateLimit-Reset` how many requests are left in this minute. After 429 and 503, `Retry-After` tells how many seconds to wait.',
      'A path that does not exist is 404 `not_found`, a method that it does not have 405 `method_not_allowed` with `Allow`. What is not valid HTTP is answered before it reaches an operation: 400 `malformed_request`, 408 `request_timeout`, 431 `headers_too_large`.',
    ].join('\n\n'),
    license: { name: 'MIT', identifier: 'MIT' },
  },
  servers: [{ url: '/', description: 'The server that shows this document' }],
  tags: [
    { name: 'auth', description: 'Accounts, sessions, e-mail verification and recovery' },
    { name: 'stores', description: 'The store of a user, my-page, and finding other stores' },
    { name: 'posts', description: 'What kind of partnership a store is looking for' },
    {
      name: 'notifications',
      description: 'Partnership requests between stores, and notifications about them',
    },
    { name: 'system', description: 'For operators' },
  ],
};

/** Collects the routes for the document. Register it before the routes. */
export const openApiPlugin = fastifyPlugin(async (app: FastifyInstance) => {
  app.addSchema(FieldErrorSchema);
  await app.register(swagger, {
    openapi: {
      ...information,
      components: {
        securitySchemes: {
          bearer: {
            type: 'http',
            scheme: 'bearer',
            bearerFormat: 'JWT',
            description: 'The `access` token of `POST /auth/login/`',
          },
        },
      },
    },
    refResolver: {
      buildLocalReference: (json, _base, _fragment, index) => String(json['$id'] ?? `schema-${index}`),
    },
    transform: ({ schema, url, route }) => ({ schema: documentRoute(schema, route), url }),
  });
});

/** Serves the document as YAML and JSON and, where enabled, Swagger UI. */
export async function openApiRoutes(
  app: FastifyInstance,
  { docsEnabled }: { docsEnabled: boolean },
): Promise<void> {
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

function once<Value>(compute: () => Value): () => Value {
  let value: Value | undefined;
  return () => {
    value ??= compute();
    return value;
  };
}

/** The document as it is committed. */
export function toYaml(document: JsonObject): string {
  return stringify(document, { lineWidth: 110, aliasDuplicateObjects: false });
}
