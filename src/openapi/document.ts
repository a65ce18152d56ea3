import { STATUS_CODES } from 'node:http';
import { mergePatch } from '../http/plugins/body-reader.ts';
import { Components, type JsonObject, nameOf, toJsonSchema, toPascalCase } from './components.ts';
import {
  anyErrorResponse,
  type DocumentedRoute,
  errorResponse,
  errorsOf,
  limitOf,
  usesEnvelope,
} from './errors.ts';
import { acceptLanguage, type HeaderName, headerComponents, headerReferences } from './headers.ts';

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
  content?: Record<string, Media>;
}

/** Parameters that many operations have, by their name. */
const sharedParameters: Record<string, string> = {
  limit: 'Limit',
  cursor: 'Cursor',
  'Idempotency-Key': 'IdempotencyKey',
  'If-Match': 'IfMatch',
  'If-None-Match': 'IfNoneMatch',
  'X-Refresh-Token': 'RefreshTokenPlace',
};

/** Headers of every response in the envelope. */
const commonHeaders: readonly HeaderName[] = [
  'X-Request-Id',
  'Content-Language',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
];

/**
 * Completes the document of @fastify/swagger.
 *
 * @param routes by their operation id
 */
export function completeDocument(generated: object, routes: ReadonlyMap<string, DocumentedRoute>) {
  const { components: parts, ...document } = toJsonSchema(generated) as OpenApiDocument;
  const components = new Components(parts.schemas);
  for (const [name, header] of headerComponents) components.add('headers', name, header);
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
  for (const operation of operations) {
    const route = routes.get(operation.operationId);
    if (!route) throw new Error(`there is no route for ${operation.operationId}`);
    describeOperation(components, operation, route);
  }
  const anyError = anyErrorResponse(components, [...routes.values()].flatMap(errorsOf));
  for (const { responses } of operations) {
    if (!('500' in responses)) responses['default'] = anyError;
  }
  components.addDiscriminators();
  return { ...document, components: { securitySchemes: parts.securitySchemes, ...components.parts } };
}

function describeOperation(components: Components, operation: Operation, route: DocumentedRoute): void {
  const { config, method } = route;
  const headers: readonly HeaderName[] = usesEnvelope(route) ? commonHeaders : ['X-Request-Id'];
  const takes = (header: string) => operation.parameters?.some(({ name }) => name === header);
  const hasTag = '304' in operation.responses || (method === 'PATCH' && takes('if-match'));
  const successHeaders = headerReferences([
    ...headers,
    ...(config?.idempotent ? (['Idempotency-Replayed'] as const) : []),
    ...(config?.location ? (['Location'] as const) : []),
    ...(takes('x-refresh-token') ? (['Set-Cookie'] as const) : []),
    ...(hasTag ? (['ETag'] as const) : []),
  ]);
  operation.description = [operation.description, limitOf(route)].filter(Boolean).join('\n\n');
  const parameters = (operation.parameters ?? []).map((one) => describeParameter(components, one, route));
  if (usesEnvelope(route)) {
    operation.parameters = [...parameters, components.add('parameters', 'AcceptLanguage', acceptLanguage)];
  }
  for (const [status, response] of Object.entries(operation.responses)) {
    response['headers'] = successHeaders;
    const media = response.content?.['application/json'];
    if (media && config?.message) {
      response.description = config.message.en;
      describeSuccess(components, media, { operation, status, message: config.message.ko });
    } else if (media) {
      media.examples = { [String(nameOf(media.schema))]: { value: components.exampleOf(media.schema) } };
    }
  }
  describeBody(components, operation, method === 'PATCH' ? [mergePatch] : []);
  const errors = errorsOf(route);
  for (const status of new Set(errors.map((error) => error.status))) {
    operation.responses[status] = errorResponse(components, {
      operation: toPascalCase(operation.operationId),
      errors: errors.filter((error) => error.status === status),
      headers,
    });
  }
}

function describeParameter(components: Components, parameter: JsonObject, { schema }: DocumentedRoute) {
  const values = parameter['schema'] as JsonObject;
  // A parameter with a default is optional, although its validated value always exists.
  if ('default' in values) parameter['required'] = false;
  if (parameter['in'] === 'header') {
    parameter['name'] = String(parameter['name']).replace(/\bid\b|\b[a-z]/g, (part) => part.toUpperCase());
  }
  // Swagger UI fills in examples, and an optional filter would narrow the first try.
  if (!parameter['required']) {
    delete parameter['example'];
    delete values['examples'];
  }
  const name = String(parameter['name']);
  // @fastify/swagger drops the description beside a reference.
  const fields = schema.querystring?.['properties'] as Record<string, JsonObject> | undefined;
  parameter['description'] ??= fields?.[name]?.['description'];
  const shared = sharedParameters[name];
  return shared === undefined ? parameter : components.add('parameters', shared, parameter);
}

/** Completes the response to an operation in the envelope. */
function describeSuccess(
  components: Components,
  media: Media,
  { operation, status, message }: { operation: Operation; status: string; message: string },
): void {
  const { operationId, responses } = operation;
  const name = toPascalCase(operationId);
  const { data = {} } = media.schema['properties'] as Record<string, JsonObject>;
  const forms = components.examplesOf(data).map(([form, value]) => {
    const example = { value: { success: true, message, data: value } };
    return [form, components.add('examples', `${name}${form}`, example)] as const;
  });
  // The only one is named `ok` or `created`.
  const only = STATUS_CODES[status]?.toLowerCase();
  media.examples = Object.fromEntries(forms.map(([form, one]) => [forms.length > 1 ? form : only, one]));
  const kind = status === '201' && '200' in responses ? 'Created' : 'Success';
  const description = `The response to \`${operationId}\``;
  media.schema = components.add('schemas', `${name}${kind}`, { description, ...media.schema });
}

/**
 * Completes the body of a request. Its examples have the names of those of the responses, so that tools send the one and expect
 * the other.
 *
 * @param otherTypes media types of the same JSON
 */
function describeBody(
  components: Components,
  { requestBody, responses }: Operation,
  otherTypes: string[],
): void {
  if (requestBody?.content['multipart/form-data']) requestBody.required = true;
  const media = requestBody?.content['application/json'];
  if (!requestBody || !media) return;
  const schema = components.resolve(media.schema);
  // A body that may be empty is optional; one of several forms is never empty.
  requestBody.required = ['required', 'minProperties', 'oneOf'].some((keyword) => keyword in schema);
  const bodies = components
    .examplesOf(media.schema)
    .map(([name, value]) => [name, components.add('examples', `${name}Body`, { value })] as const);
  const successes = Object.values(responses).flatMap(({ content }) => content?.['application/json'] ?? []);
  if (bodies.length === 1) {
    const names = successes.flatMap(({ examples = {} }) => Object.keys(examples));
    media.examples = Object.fromEntries(names.map((name) => [name, bodies[0]?.[1]]));
  } else {
    media.examples = Object.fromEntries(bodies);
    for (const success of successes) {
      const [example] = Object.values(success.examples ?? {});
      success.examples = Object.fromEntries(bodies.map(([name]) => [name, example]));
    }
  }
  for (const type of otherTypes) requestBody.content[type] = media;
}
