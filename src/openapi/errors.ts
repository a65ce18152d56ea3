import { isDeepStrictEqual } from 'node:util';
import type { FastifySchema, RouteOptions } from 'fastify';
import { type ErrorDefinition, httpErrors } from '../http/errors.ts';
import { maxId, NamedEnum } from '../http/schemas.ts';
import {
  type Components,
  isObject,
  type JsonObject,
  type Reference,
  toJsonSchema,
  toPascalCase,
} from './components.ts';
import { type HeaderName, headerReferences } from './headers.ts';

/** A route of the document. */
export interface DocumentedRoute extends Pick<RouteOptions, 'method' | 'config'> {
  schema: FastifySchema & { operationId: string; security?: JsonObject[]; querystring?: JsonObject };
}

/** Whether a route is an operation of the document. */
export function isDocumented(route: RouteOptions): route is RouteOptions & DocumentedRoute {
  return route.schema !== undefined && 'operationId' in route.schema;
}

/** Whether an operation responds in the envelope, or with a stream. Health checks and public keys do not. */
export function usesEnvelope({ config }: DocumentedRoute): boolean {
  return config?.message !== undefined || config?.errors !== undefined;
}

/** How often an operation may be called; undefined where nothing but the common limit holds. */
export function limitOf({ config }: DocumentedRoute): string | undefined {
  if (config?.probe) return 'Requests are not counted.';
  if (config?.limit === undefined) return undefined;
  const { max, per } = config.limit;
  return per === 'user'
    ? `Limit: ${max} requests a minute of one user, together with the other operations that have this limit.`
    : `Limit: ${max} requests a minute from one address, counted apart from other operations.`;
}

/** Every error of an operation: those of its configuration, and those that follow from its input and its scope. */
export function errorsOf(route: DocumentedRoute): ErrorDefinition[] {
  const { schema, method, config } = route;
  if (!usesEnvelope(route)) {
    return [httpErrors.malformedRequest, ...(config?.probe ? [] : [httpErrors.rateLimited])];
  }
  const { security, querystring } = schema;
  // A body is read even where the operation needs none.
  const readsBody = [method].flat().some((one) => one !== 'GET');
  const isMultipart = (schema.consumes ?? []).includes('multipart/form-data');
  return [
    // At least an unknown query parameter is rejected.
    httpErrors.validationError,
    ...(isObject(querystring?.['properties']) && 'cursor' in querystring['properties']
      ? [httpErrors.invalidCursor]
      : []),
    ...(readsBody && !isMultipart ? [httpErrors.malformedJson] : []),
    ...(security?.every((one) => 'bearer' in one) ? [httpErrors.notAuthenticated] : []),
    ...(security ? [httpErrors.tokenNotValid] : []),
    httpErrors.rateLimited,
    ...(config?.errors ?? []),
    ...(config?.idempotent ? [httpErrors.idempotencyConflict] : []),
  ];
}

/** What any operation can respond with, whatever it does: its response `default`. */
const otherErrors: ErrorDefinition[] = [
  httpErrors.serviceUnavailable,
  httpErrors.internalError,
  httpErrors.unsupportedMediaType,
  httpErrors.payloadTooLarge,
  httpErrors.methodNotAllowed,
  httpErrors.malformedRequest,
  httpErrors.requestTimeout,
  httpErrors.uriTooLong,
  httpErrors.headersTooLarge,
];

/** Headers that come with a status, whatever the operation. */
const statusHeaders: Record<number, readonly HeaderName[]> = {
  401: ['WWW-Authenticate'],
  429: ['Retry-After'],
};

/** Adds a schema for each error, which is `PostNotFoundError` for `post_not_found`. */
export function addErrors(components: Components, definitions: readonly ErrorDefinition[]): void {
  for (const { code, text, fields = {} } of definitions) {
    const name = errorName(toPascalCase(code));
    const known = components.parts.schemas[name];
    // Definitions of one code differ in their text only.
    if (known) known['description'] = addText(String(known['description']), text.en);
    else {
      components.parts.schemas[name] = {
        description: text.en,
        type: 'object',
        required: ['detail', 'code', ...Object.keys(fields)],
        properties: {
          detail: detailOf(text.ko),
          code: { description: 'For programs', type: 'string', const: code },
          ...referencing(fields),
        },
      };
    }
  }
}

const detailOf = (text: string) => ({
  description: 'The same text as `message`',
  type: 'string',
  maxLength: 1000,
  examples: [text],
});

function addText(texts: string, text: string): string {
  return texts.includes(text) ? texts : `${texts} / ${text}`;
}

const validationCode = httpErrors.validationError.code;

/** Codes that most operations have together. */
const groups = {
  InvalidInput: ['malformed_json', 'validation_error'],
  Unauthenticated: ['not_authenticated', 'token_not_valid'],
};

/** Responses and schemas are named by their codes: `PostNotFound`, `InvalidCodeOrInvalidInput`. */
function nameOfCodes(codes: readonly string[]): string {
  const found = Object.entries(groups).filter(([, group]) => group.every((code) => codes.includes(code)));
  const grouped = found.flatMap(([, group]) => group);
  const others = codes.filter((code) => !grouped.includes(code)).map(toPascalCase);
  return [...found.map(([name]) => name), ...others].sort().join('Or');
}

/** `TokenNotValid` becomes `TokenNotValidError`, `ValidationError` stays. */
function errorName(name: string): string {
  return name.endsWith('Error') ? name : `${name}Error`;
}

/** The response with a status and some errors: a component, which operations with the same errors and texts share. */
export function errorResponse(components: Components, status: number, errors: readonly ErrorDefinition[]) {
  // Mocks respond with the first form, and a validation error is what developers meet first.
  const sorted = [...new Set(errors.map(({ code }) => code))].sort(
    (one, other) =>
      Number(other === validationCode) - Number(one === validationCode) || (one < other ? -1 : 1),
  );
  const name = nameOfCodes(sorted);
  const forms = sorted.map((code) => ({ $ref: `#/components/schemas/${errorName(toPascalCase(code))}` }));
  const [only] = forms;
  const data =
    only && forms.length === 1
      ? only
      : components.add('schemas', errorName(name), { description: 'One of these errors', oneOf: forms });
  const textsOf = (code: string) => errors.filter((error) => error.code === code).map(({ text }) => text);
  const lines = sorted.map(
    (code) =>
      `\`${code}\`: ${textsOf(code)
        .map(({ en }) => en)
        .reduce(addText)}`,
  );
  const headers = statusHeaders[status];
  const usual = textOf(components, forms[0]);
  const [own] = sorted.slice(0, 1).flatMap(textsOf);
  const content = failureOf(components, name, data, usual);
  const example = own && own.ko !== usual && exampleOf(components, forms[0], own.ko);
  const response = {
    description: lines.join('\n\n'),
    ...(headers && { headers: headerReferences(headers) }),
    content: { 'application/json': { ...content['application/json'], ...(example && { example }) } },
  };
  const known = components.parts.responses[name] ?? response;
  return isDeepStrictEqual(known, response) ? components.add('responses', name, response) : response;
}

/** An error of a code that has another text elsewhere. */
function exampleOf(components: Components, form: JsonObject = {}, message: string): JsonObject {
  const { properties } = components.resolve(form) as { properties: Record<string, JsonObject> };
  const values = Object.entries(properties).map(([name, schema]) => {
    const { const: constant, examples } = components.resolve(schema);
    return [
      name,
      name === 'detail' ? message : (constant ?? (Array.isArray(examples) ? examples[0] : undefined)),
    ];
  });
  return { success: false, message, data: Object.fromEntries(values) };
}

function failureOf(components: Components, name: string, data: Reference, text: string) {
  const schema = components.addEnvelope(`${name.replace(/Error$/, '')}Failure`, 'Failed', data, text);
  return { 'application/json': { schema } };
}

/** The example of the text of an error. */
function textOf(components: Components, form: JsonObject = {}): string {
  const properties = components.resolve(form)['properties'] as Record<string, ReturnType<typeof detailOf>>;
  return properties['detail']?.examples[0] ?? '';
}

/** Any other error: what a client that knows no operation can rely on. */
export function otherErrorResponse(components: Components): Reference {
  const { $id, ...codes } = NamedEnum(
    'OtherErrorCode',
    'For programs; a code never changes its meaning, new ones may come',
    Object.fromEntries(otherErrors.map(({ code, text }) => [code, text.en])),
  );
  const data = components.add('schemas', 'OtherError', {
    description: 'An error that any operation may have',
    type: 'object',
    required: ['detail', 'code'],
    properties: {
      detail: detailOf(httpErrors.serviceUnavailable.text.ko),
      code: components.add('schemas', String($id), codes),
    },
  });
  const statuses = otherErrors.map(({ status, code }) => `${status} \`${code}\``);
  return components.add('responses', 'OtherError', {
    description: `Any other error: ${statuses.join(', ')}.`,
    headers: {
      'Retry-After': {
        description: 'With 503',
        schema: { type: 'integer', format: 'int32', minimum: 1, maximum: maxId },
      },
      Allow: {
        description: 'With 405: the methods of the path',
        schema: { type: 'string', pattern: '^[A-Z, ]+$', maxLength: 100 },
      },
    },
    content: failureOf(components, 'OtherError', data, textOf(components, data)),
  });
}

/** References by `$id` as references to components. */
function referencing(fields: NonNullable<ErrorDefinition['fields']>): Record<string, JsonObject> {
  return JSON.parse(JSON.stringify(toJsonSchema(fields)), (key, value) =>
    key === '$ref' ? `#/components/schemas/${String(value).replace('#', '')}` : value,
  );
}
