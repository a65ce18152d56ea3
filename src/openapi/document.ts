import { mergePatch } from '../http/plugins/body-reader.ts';
import { Components, headerReferences, type JsonObject, nameOf, toJsonSchema } from './components.ts';
import { createErrorResponses, type DocumentedRoute, otherErrorResponse } from './errors.ts';
import recorded from './examples.json' with { type: 'json' };

interface OpenApiDocument extends JsonObject {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, JsonObject>; securitySchemes: JsonObject };
}

interface Operation {
  operationId: string;
  description: string;
  parameters?: (JsonObject & { $ref?: string })[];
  requestBody?: { required?: boolean; content: Record<string, Media> };
  responses: Record<string, Response>;
}

interface Media {
  schema: JsonObject;
  examples?: JsonObject;
}

interface Response extends JsonObject {
  description?: string;
  headers?: JsonObject;
  content?: Record<string, Media>;
}

type Example = { status: number; request?: unknown; response: unknown };

/** By operation, then by name: calls of the real service, which test/openapi/examples.test.ts writes and compares. */
const examples: Record<string, Record<string, Example>> = recorded;

/** Parameters that many operations have, by their name. */
const sharedParameters: Record<string, string> = {
  limit: 'Limit',
  cursor: 'Cursor',
  'Idempotency-Key': 'IdempotencyKey',
  'If-Match': 'IfMatch',
  'If-None-Match': 'IfNoneMatch',
  'X-Refresh-Token': 'RefreshTokenPlace',
};

/** Completes the document of @fastify/swagger. @param routes by their operation id */
export function completeDocument(generated: object, routes: ReadonlyMap<string, DocumentedRoute>) {
  const { components: parts, ...document } = toJsonSchema(generated) as OpenApiDocument;
  const components = new Components(parts.schemas);
  const errorResponses = createErrorResponses(components, routes.values());
  const otherError = otherErrorResponse(components);
  for (const operation of Object.values(document.paths).flatMap((path) => Object.values(path))) {
    const route = routes.get(operation.operationId);
    if (!route) throw new Error(`there is no route for ${operation.operationId}`);
    operation.description = [operation.description, limitOf(route)].filter(Boolean).join('\n\n');
    operation.parameters?.forEach((one, at, all) => {
      all[at] = describeParameter(components, one, route);
    });
    if (route.config?.message) wrapResponses(components, operation, route.config.message.en);
    describeBody(components, operation, route);
    Object.assign(operation.responses, errorResponses(route));
    addOwnParts(components, operation, route);
    operation.responses['default'] = otherError;
  }
  components.addDiscriminators();
  return { ...document, components: { securitySchemes: parts.securitySchemes, ...components.parts } };
}

/** How often an operation may be called; undefined where nothing but the common limit holds. */
function limitOf({ config }: DocumentedRoute): string | undefined {
  if (config?.probe) return 'Requests are not counted.';
  if (config?.limit === undefined) return undefined;
  const { max, per } = config.limit;
  return per === 'user'
    ? `Limit: ${max} requests a minute of one user, together with the other operations that have this limit.`
    : `Limit: ${max} requests a minute from one address, counted apart from other operations.`;
}

/** Names the envelopes of an operation by their data. */
function wrapResponses(components: Components, { responses }: Operation, message: string): void {
  for (const response of Object.values(responses)) {
    const media = response.content?.['application/json'];
    if (!media) continue;
    response.description = message;
    const { data = {} } = media.schema['properties'] as Record<string, JsonObject>;
    media.schema = components.addEnvelope(`${nameOf(data)}Success`, 'Succeeded', data);
  }
}

/** Adds examples and headers to responses; one that is a component is copied first. */
function addOwnParts(
  components: Components,
  operation: Operation,
  { config, method }: DocumentedRoute,
): void {
  const { responses, parameters } = operation;
  const hasTag =
    '304' in responses || (method === 'PATCH' && parameters?.some(({ $ref }) => $ref?.endsWith('/IfMatch')));
  for (const [status, response] of Object.entries(responses)) {
    const isSuccess = Number(status) < 400;
    const headers = headerReferences({
      'Idempotency-Replayed': isSuccess && config?.idempotent,
      Location: isSuccess && (config?.location || '303' in responses),
      ETag: isSuccess && hasTag,
      'Set-Cookie': config?.setsCookie?.includes(Number(status)),
    });
    const examples = examplesOf(operation, 'response', (one) => one.status === Number(status));
    if (!headers && !examples) continue;
    const own: Response = structuredClone(components.parts.responses[nameOf(response) ?? ''] ?? response);
    if (headers) own.headers = { ...own.headers, ...headers };
    for (const media of Object.values(own.content ?? {})) Object.assign(media, examples && { examples });
    responses[status] = own;
  }
}

/** Those of the body and of the response have the same names, so that tools send the one and expect the other. */
function examplesOf(
  { operationId }: Operation,
  side: 'request' | 'response',
  isChosen: (example: Example) => boolean,
): JsonObject | undefined {
  const all = Object.entries(examples[operationId] ?? {});
  const chosen = all.filter(([, one]) => one[side] !== undefined && isChosen(one));
  if (chosen.length === 0) return undefined;
  return Object.fromEntries(chosen.map(([name, one]) => [name, { value: one[side] }]));
}

function describeParameter(components: Components, parameter: JsonObject, { schema }: DocumentedRoute) {
  const values = parameter['schema'] as JsonObject;
  // A parameter with a default is optional, although its validated value always exists.
  if ('default' in values) parameter['required'] = false;
  if (parameter['in'] === 'header') {
    parameter['name'] = String(parameter['name']).replace(/\bid\b|\b[a-z]/g, (part) => part.toUpperCase());
  }
  const name = String(parameter['name']);
  // @fastify/swagger drops the description beside a reference.
  const fields = schema.querystring?.['properties'] as Record<string, JsonObject> | undefined;
  parameter['description'] ??= fields?.[name]?.['description'];
  const shared = sharedParameters[name];
  return shared === undefined ? parameter : components.add('parameters', shared, parameter);
}

/** Completes the body of a request. */
function describeBody(components: Components, operation: Operation, { method }: DocumentedRoute): void {
  const { requestBody } = operation;
  const media = requestBody?.content['application/json'];
  if (!requestBody || !media) return;
  const schema = components.resolve(media.schema);
  // A body that may be empty is optional; one of several forms is never empty.
  requestBody.required = ['required', 'minProperties', 'oneOf'].some((keyword) => keyword in schema);
  Object.assign(media, { examples: examplesOf(operation, 'request', ({ status }) => status < 400) });
  if (method === 'PATCH') requestBody.content[mergePatch] = media;
}
