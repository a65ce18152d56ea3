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
  const headers: readonly HeaderName[] = usesEnvelope(route) ? commonHeaders : ['X-Request-Id'];
  const takes = (header: string) => operation.parameters?.some(({ name }) => name === header);
  const successHeaders = headerReferences([
    ...headers,
    ...(route.config?.idempotent ? (['Idempotency-Replayed'] as const) : []),
    ...(route.config?.location ? (['Location'] as const) : []),
    ...(takes('x-refresh-token') ? (['Set-Cookie'] as const) : []),
    ...('304' in operation.responses || (route.method === 'PATCH' && takes('if-match'))
      ? (['ETag'] as const)
      : []),
  ]);
  operation.description = [operation.description, limitOf(route)].filter(Boolean).join('\n\n');
  const parameters = (operation.parameters ?? []).map((one) => describeParameter(components, one, route));
  if (usesEnvelope(route)) {
    operation.parameters = [...parameters, components.add('parameters', 'AcceptLanguage', acceptLanguage)];
  }
  const prefix = toPascalCase(operation.operationId);
  for (const [status, response] of Object.entries(operation.responses)) {
    response['headers'] = successHeaders;
    const kind = status === '201' && '200' in operation.responses ? 'Created' : 'Success';
    describeResponse(components, response, route, { name: `${prefix}${kind}`, status });
  }
  describeBody(components, operation, route);
  const errors = errorsOf(route);
  for (const status of new Set(errors.map((error) => error.status))) {
    const ofStatus = errors.filter((error) => error.status === status);
    operation.responses[status] = errorResponse(components, { operation: prefix, errors: ofStatus, headers });
  }
}

function describeParameter(components: Components, parameter: JsonObject, route: DocumentedRoute) {
  const schema = parameter['schema'] as JsonObject;
  // A parameter with a default is optional, although its validated value always exists.
  if ('default' in schema) parameter['required'] = false;
  if (parameter['in'] === 'header') {
    parameter['name'] = String(parameter['name']).replace(/\bid\b|\b[a-z]/g, (part) => part.toUpperCase());
  }
  // Swagger UI fills in examples, and an optional filter would narrow the first try.
  if (!parameter['required']) {
    delete parameter['example'];
    delete schema['examples'];
  }
  const name = String(parameter['name']);
  // @fastify/swagger drops the description beside a reference.
  const fields = route.schema.querystring?.['properties'] as Record<string, JsonObject> | undefined;
  parameter['description'] ??= fields?.[name]?.['description'];
  const shared = sharedParameters[name];
  return shared === undefined ? parameter : components.add('parameters', shared, parameter);
}

function describeBody(
  components: Components,
  { requestBody, responses }: Operation,
  route: DocumentedRoute,
): void {
  if (requestBody?.content['multipart/form-data']) requestBody.required = true;
  const media = requestBody?.content['application/json'];
  if (!requestBody || !media) return;
  const body = components.resolve(media.schema);
  // A body that may be empty is optional; one of several forms is never empty.
  requestBody.required = ['required', 'minProperties', 'oneOf'].some((keyword) => keyword in body);
  pairExamples(components, media, Object.values(responses));
  if (route.method === 'PATCH') requestBody.content[mergePatch] = media;
}

/** Names the examples of a body like those of its responses, so that tools send the one and expect the other. */
function pairExamples(components: Components, body: Media, responses: Response[]): void {
  const forms = examplesOf(components, body.schema).map(
    ([name, value]) => [name, components.add('examples', `${name}Body`, { value })] as const,
  );
  const successes = responses.flatMap(({ content }) => content?.['application/json'] ?? []);
  if (forms.length === 1) {
    const names = successes.flatMap(({ examples = {} }) => Object.keys(examples));
    body.examples = Object.fromEntries(names.map((name) => [name, forms[0]?.[1]]));
    return;
  }
  body.examples = Object.fromEntries(forms);
  for (const success of successes) {
    const [example] = Object.values(success.examples ?? {});
    success.examples = Object.fromEntries(forms.map(([name]) => [name, example]));
  }
}

/** @param name of the schema of the response */
function describeResponse(
  components: Components,
  response: Response,
  route: DocumentedRoute,
  { name, status }: { name: string; status: string },
) {
  const { config, schema } = route;
  const media = response.content?.['application/json'];
  if (!media) return;
  if (!config?.message) {
    media.examples = { [String(nameOf(media.schema))]: { value: components.exampleOf(media.schema) } };
    return;
  }
  const { ko, en } = config.message;
  const operation = toPascalCase(schema.operationId);
  response.description = en;
  const { properties } = media.schema as { properties: Record<string, JsonObject> };
  const forms = examplesOf(components, properties['data'] ?? {}).map(([form, data]) => {
    const value = { success: true, message: ko, data };
    const example = components.add('examples', `${operation}${form}`, { value });
    return [form, example] as const;
  });
  // The only one is named `ok` or `created`.
  const examples =
    forms.length > 1 ? forms : forms.map(([, example]) => [STATUS_CODES[status]?.toLowerCase(), example]);
  media.schema = components.add('schemas', name, {
    description: `The response to \`${schema.operationId}\``,
    ...media.schema,
  });
  media.examples = Object.fromEntries(examples);
}

/** Examples by the name of their schema: of a schema with several forms, or of a list of such, one for each form. */
function examplesOf(components: Components, schema: JsonObject): [string, unknown][] {
  const { properties } = components.resolve(schema) as {
    properties?: Record<string, { items?: JsonObject }>;
  };
  const itemForms = components.formsOf(properties?.['items']?.items ?? {});
  if (itemForms.length > 0) {
    const page = components.exampleOf(schema) as JsonObject;
    return itemForms.map((form) => [String(nameOf(form)), { ...page, items: [components.exampleOf(form)] }]);
  }
  const forms = components.formsOf(schema);
  return (forms.length > 0 ? forms : [schema]).map((form) => [
    String(nameOf(form)),
    components.exampleOf(form),
  ]);
}
