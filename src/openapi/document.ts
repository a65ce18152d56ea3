import { mergePatch } from '../http/plugins/body-reader.ts';
import { Components, type JsonObject, nameOf, toJsonSchema } from './components.ts';
import {
  addErrors,
  type DocumentedRoute,
  errorResponse,
  errorsOf,
  limitOf,
  otherErrorResponse,
} from './errors.ts';
import recorded from './examples.json' with { type: 'json' };
import { type HeaderName, headerComponents, headerReferences } from './headers.ts';

interface OpenApiDocument extends JsonObject {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, JsonObject>; securitySchemes: JsonObject };
}

interface Operation {
  operationId: string;
  description: string;
  parameters?: JsonObject[];
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

interface Example {
  status: number;
  request?: unknown;
  response: unknown;
}

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

/**
 * Completes the document of @fastify/swagger.
 *
 * @param routes by their operation id
 */
export function completeDocument(generated: object, routes: ReadonlyMap<string, DocumentedRoute>) {
  const { components: parts, ...document } = toJsonSchema(generated) as OpenApiDocument;
  const components = new Components(parts.schemas);
  for (const [name, header] of headerComponents) components.add('headers', name, header);
  addErrors(components, [...routes.values()].flatMap(errorsOf));
  const otherError = otherErrorResponse(components);
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
  for (const operation of operations) {
    const route = routes.get(operation.operationId);
    if (!route) throw new Error(`there is no route for ${operation.operationId}`);
    describeOperation(components, operation, route);
    operation.responses['default'] = otherError;
  }
  components.addDiscriminators();
  inlineSingleResponses(components, operations);
  return { ...document, components: { securitySchemes: parts.securitySchemes, ...components.parts } };
}

function describeOperation(components: Components, operation: Operation, route: DocumentedRoute): void {
  const { config, method } = route;
  const takes = (header: string) => operation.parameters?.some(({ name }) => name === header);
  const hasTag = '304' in operation.responses || (method === 'PATCH' && takes('if-match'));
  const headers: HeaderName[] = [
    ...(config?.idempotent ? (['Idempotency-Replayed'] as const) : []),
    ...(config?.location || '303' in operation.responses ? (['Location'] as const) : []),
    ...(takes('x-refresh-token') ? (['Set-Cookie'] as const) : []),
    ...(hasTag ? (['ETag'] as const) : []),
  ];
  operation.description = [operation.description, limitOf(route)].filter(Boolean).join('\n\n');
  if (operation.parameters) {
    operation.parameters = operation.parameters.map((one) => describeParameter(components, one, route));
  }
  for (const [status, response] of Object.entries(operation.responses)) {
    if (headers.length > 0) response.headers = { ...response.headers, ...headerReferences(headers) };
    const media = response.content?.['application/json'];
    if (!media) continue;
    if (config?.message) {
      response.description = config.message.en;
      const { data = {} } = media.schema['properties'] as Record<string, JsonObject>;
      media.schema = components.addEnvelope(`${nameOf(data)}Success`, 'Succeeded', data);
    }
    media.examples = examplesOf(operation, 'response', Number(status));
  }
  describeBody(components, operation, method === 'PATCH' ? [mergePatch] : []);
  const errors = errorsOf(route);
  for (const status of new Set(errors.map((error) => error.status))) {
    const ofStatus = errors.filter((error) => error.status === status);
    operation.responses[status] = errorResponse(components, status, ofStatus);
  }
}

/** Those of the body and of the response have the same names, so that tools send the one and expect the other. */
function examplesOf({ operationId }: Operation, side: 'request' | 'response', status?: number): JsonObject {
  const all = Object.entries(examples[operationId] ?? {});
  const chosen = all.filter(([, one]) => one[side] !== undefined && one.status === (status ?? one.status));
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

/**
 * Completes the body of a request.
 *
 * @param otherTypes media types of the same JSON
 */
function describeBody(components: Components, operation: Operation, otherTypes: string[]): void {
  const { requestBody } = operation;
  if (requestBody?.content['multipart/form-data']) requestBody.required = true;
  const media = requestBody?.content['application/json'];
  if (!requestBody || !media) return;
  const schema = components.resolve(media.schema);
  // A body that may be empty is optional; one of several forms is never empty.
  requestBody.required = ['required', 'minProperties', 'oneOf'].some((keyword) => keyword in schema);
  media.examples = examplesOf(operation, 'request');
  for (const type of otherTypes) requestBody.content[type] = media;
}

/** Moves responses that one operation has into it. */
function inlineSingleResponses({ parts }: Components, operations: Operation[]): void {
  const references = operations.flatMap(({ responses }) =>
    Object.entries(responses).map(([status, response]) => ({ responses, status, name: nameOf(response) })),
  );
  for (const { responses, status, name } of references) {
    const response = parts.responses[name ?? ''];
    if (!name || !response || references.filter((other) => other.name === name).length > 1) continue;
    responses[status] = response;
    delete parts.responses[name];
  }
}
