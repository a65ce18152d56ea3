import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance, FastifySchema, RouteOptions } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { stringify } from 'yaml';
import { type ErrorDefinition, httpErrors } from './errors.ts';
import { textRuleKeyword } from './text.ts';

type JsonObject = Record<string, unknown>;

const information = {
  openapi: '3.1.0',
  info: {
    title: 'Dure',
    version: '0.1.0',
    summary: 'Neighbourhood shops find partners and answer each other',
    description: [
      'Shops sign up, register their store, publish what partnership they look for, send each other partnership requests and hear about them.',
      'Every JSON answer is `{ success, message, data }`. `message` is for people and follows `Accept-Language` (Korean by default, English); `data.code` of a failure is for programs and never changes.',
      'Canonical paths end with a slash; the same path without it answers the same.',
    ].join('\n\n'),
    license: { name: 'MIT', identifier: 'MIT' },
  },
  servers: [{ url: '/', description: 'The server that shows this document' }],
  tags: [
    { name: 'auth', description: 'Accounts, sessions, e-mail verification and recovery' },
    { name: 'stores', description: 'The store of a user, my-page, and finding other stores' },
    { name: 'posts', description: 'What partnership a store looks for' },
    {
      name: 'notifications',
      description: 'Partnership requests between stores, and what their owners hear of them',
    },
    { name: 'system', description: 'For operators' },
  ],
};

/** Describes the API from its routes. Register it before the routes. */
export const openApiPlugin = fastifyPlugin(async (app: FastifyInstance) => {
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
    transformObject: (document) =>
      'openapiObject' in document ? document.openapiObject : document.swaggerObject,
  });
});

/** Serves the document as YAML and JSON and, where wanted, Swagger UI. */
export async function openApiRoutes(
  app: FastifyInstance,
  { docsEnabled }: { docsEnabled: boolean },
): Promise<void> {
  const documents = new Map<string, string>();
  app.addHook('onReady', async () => {
    const document = openApiDocument(app);
    documents.set('yaml', toYaml(document)).set('json', JSON.stringify(document));
  });
  app.get('/openapi.yaml', { schema: { hide: true } }, async (_request, reply) =>
    reply.type('application/yaml; charset=utf-8').send(documents.get('yaml')),
  );
  app.get('/openapi.json', { schema: { hide: true } }, async (_request, reply) =>
    reply.type('application/json; charset=utf-8').send(documents.get('json')),
  );
  if (!docsEnabled) return;
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
    uiConfig: {
      url: '/openapi.json',
      deepLinking: true,
      displayRequestDuration: true,
      persistAuthorization: true,
      tryItOutEnabled: true,
    },
  });
}

/** The document of an application whose plugins are loaded. */
export function openApiDocument(app: FastifyInstance): JsonObject {
  const document = stripInternal(app.swagger()) as OpenApiDocument;
  for (const operation of Object.values(document.paths).flatMap((path) => Object.values(path))) {
    for (const [status, { content }] of Object.entries(operation.responses)) {
      const media = content?.['application/json'];
      if (media === undefined || '$ref' in media.schema) continue;
      media.schema = nameSchema(
        document,
        responseName(operation.operationId, status, media.schema),
        media.schema,
      );
    }
  }
  return document;
}

interface OpenApiDocument extends JsonObject {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, JsonObject> };
}

interface Operation {
  operationId: string;
  responses: Record<string, { content?: Record<string, { schema: JsonObject }> }>;
}

/** Moves a schema to the components, so that generated clients have a name for it. */
function nameSchema({ components }: OpenApiDocument, name: string, schema: JsonObject): JsonObject {
  const known = components.schemas[name];
  if (known !== undefined && JSON.stringify(known) !== JSON.stringify(schema)) {
    throw new Error(`two different schemas would be named ${name}`);
  }
  components.schemas[name] = schema;
  return { $ref: `#/components/schemas/${name}` };
}

/** A success is named by its operation, a failure by its codes: operations that fail alike share it. */
function responseName(operationId: string, status: string, schema: JsonObject): string {
  if (Number(status) < 400) return `${toPascalCase(operationId)}Response`;
  const codes = String(schema['description']).match(/\w+/g) ?? [];
  return `${codes.map(toPascalCase).join('Or')}Failure`;
}

function toPascalCase(name: string): string {
  return name.replace(/(?:^|_)([a-z])/g, (_match, letter: string) => letter.toUpperCase());
}

/** How the document is written to a file. */
export function toYaml(document: JsonObject): string {
  return stringify(document, { lineWidth: 110, aliasDuplicateObjects: false });
}

/** Adds to a route's schema what follows from its configuration: every failure, with its codes. */
function documentRoute(schema: FastifySchema, route: RouteOptions): FastifySchema {
  const security = 'security' in schema ? schema.security : [];
  const { message, errors: ownErrors } = route.config ?? {};
  if (schema?.hide || (message === undefined && ownErrors === undefined)) return { ...schema, security };
  const errors = [...impliedErrors(schema, route), ...(ownErrors ?? [])];
  const statuses = [...new Set(errors.map(({ status }) => status))];
  const failures = statuses.map((status) => [
    status,
    failureResponse(errors.filter((error) => error.status === status)),
  ]);
  const responses = Object.entries(schema.response as Record<string, JsonObject>).map(([status, data]) => [
    status,
    { description: 'Success', ...data },
  ]);
  const querystring = optionalByDefault(schema.querystring);
  return {
    ...schema,
    ...(querystring === undefined ? {} : { querystring }),
    security,
    response: Object.fromEntries([...responses, ...failures]),
  };
}

/** A parameter that has a default may be left out, although a handler always finds a value. */
function optionalByDefault(schema: unknown): JsonObject | undefined {
  if (typeof schema !== 'object' || schema === null) return undefined;
  const { properties, required, ...rest } = schema as {
    properties?: Record<string, object>;
    required?: string[];
  };
  const certain = required?.filter((name) => !('default' in (properties?.[name] ?? {})));
  return { ...rest, properties, ...(certain?.length ? { required: certain } : {}) };
}

/** Failures that an operation has because of what it takes and where it stands. */
function impliedErrors(schema: FastifySchema, route: RouteOptions): ErrorDefinition[] {
  const { security } = schema as { security?: unknown[] };
  const takesInput = schema.body || schema.querystring || schema.headers;
  return [
    ...(takesInput ? [httpErrors.validationError] : []),
    ...(schema.body
      ? [httpErrors.malformedJson, httpErrors.payloadTooLarge, httpErrors.unsupportedMediaType]
      : []),
    ...(security ? [httpErrors.notAuthenticated, httpErrors.tokenNotValid] : []),
    ...(route.config?.limit === 'none' ? [] : [httpErrors.rateLimited]),
    httpErrors.internalError,
    httpErrors.serviceUnavailable,
  ];
}

function failureResponse(errors: ErrorDefinition[]): JsonObject {
  const codes = [...new Set(errors.map(({ code }) => code))];
  const fields = Object.assign({}, ...errors.map((error) => error.fields ?? {})) as JsonObject;
  // A field is certain only where every failure of the status has it.
  const required = Object.keys(fields).filter((name) =>
    errors.every((error) => name in (error.fields ?? {})),
  );
  const [first] = errors;
  return {
    description: codes.map((code) => `\`${code}\``).join(', '),
    type: 'object',
    required: ['success', 'message', 'data'],
    properties: {
      success: { type: 'boolean', const: false },
      message: { type: 'string', examples: [first?.text.ko] },
      data: {
        type: 'object',
        required: ['detail', 'code', ...required],
        properties: {
          detail: { type: 'string', description: 'The same text as `message`', examples: [first?.text.ko] },
          code: { type: 'string', enum: codes },
          ...fields,
        },
      },
    },
  };
}

/** Leaves out what only the validator knows. */
function stripInternal(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(stripInternal);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([key]) => key !== textRuleKeyword && key !== '$id');
  return Object.fromEntries(kept.map(([key, item]) => [key, stripInternal(item)]));
}
