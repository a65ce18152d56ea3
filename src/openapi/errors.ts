import { STATUS_CODES } from 'node:http';
import type { FastifySchema, RouteOptions } from 'fastify';
import { type ErrorDefinition, httpErrors } from '../http/errors.ts';
import { Message, NamedEnum } from '../http/schemas.ts';
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
  if (!usesEnvelope(route)) return [httpErrors.malformedRequest];
  const { schema, method, config } = route;
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
    ...(readsBody ? [httpErrors.payloadTooLarge, httpErrors.unsupportedMediaType] : []),
    ...(readsBody && !isMultipart ? [httpErrors.malformedJson] : []),
    ...(security?.every((one) => 'bearer' in one) ? [httpErrors.notAuthenticated] : []),
    ...(security ? [httpErrors.tokenNotValid] : []),
    httpErrors.rateLimited,
    httpErrors.internalError,
    httpErrors.serviceUnavailable,
    ...(config?.errors ?? []),
    ...(config?.idempotent ? [httpErrors.idempotencyConflict] : []),
  ];
}

/** Headers that come with a status, whatever the operation. */
const statusHeaders: Record<number, readonly HeaderName[]> = {
  401: ['WWW-Authenticate'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};

interface ErrorsOfStatus {
  /** In PascalCase. */
  operation: string;
  errors: readonly ErrorDefinition[];
  /** Those of every response of the operation. */
  headers: readonly HeaderName[];
}

/** The response of an operation with a status, as a component: operations with the same errors share it. */
export function errorResponse(
  components: Components,
  { operation, errors, headers }: ErrorsOfStatus,
): Reference {
  const byCode = new Map(errors.map((error) => [error.code, error]));
  const definitions = [...byCode.values()].sort((a, b) => (a.code < b.code ? -1 : 1));
  const { status = 500 } = definitions[0] ?? {};
  const codes = definitions.map(({ code }) => toPascalCase(code));
  // More than two codes would make an unreadable name, so it has that of the operation.
  const name =
    codes.length <= 2 ? codes.join('Or') : `${operation}${STATUS_CODES[status]?.replace(/\W/g, '')}`;
  const shared = (component: string) => [component, `${operation}${component}`];
  const examples = definitions.map((error): [string, Reference] => [
    error.code,
    components.add('examples', shared(toPascalCase(error.code)), { value: exampleOf(components, error) }),
  ]);
  // The one that developers meet first; mocks respond with the first example.
  examples.sort(
    ([one], [other]) => Number(other === 'validation_error') - Number(one === 'validation_error'),
  );
  return components.add('responses', shared(name), {
    description: definitions.map(({ code, text }) => `\`${code}\`: ${text.en}`).join('\n\n'),
    headers: headerReferences([...headers, ...(statusHeaders[status] ?? [])]),
    content: {
      'application/json': {
        schema: components.add('schemas', `${name}Failure`, envelope(addData(components, name, definitions))),
        examples: Object.fromEntries(examples),
      },
    },
  });
}

/** Any error at all: what a client that knows no operation can rely on. */
export function anyErrorResponse(components: Components, definitions: readonly ErrorDefinition[]) {
  const texts = new Map<string, string>();
  for (const { code, text } of [...definitions, ...Object.values(httpErrors)]) {
    texts.set(code, addText(texts.get(code), text.en));
  }
  const { $id, ...codes } = NamedEnum(
    'ErrorCode',
    'Every code of an error, for programs; a code never changes its meaning, new ones may come',
    Object.fromEntries([...texts].sort()),
  );
  const data = components.add('schemas', 'AnyError', {
    description: 'What every error has in its `data`',
    type: 'object',
    required: ['detail', 'code'],
    properties: {
      detail: detailOf(httpErrors.validationError.text.ko),
      code: components.add('schemas', String($id), codes),
    },
  });
  return {
    description: 'Any other error, before the request reaches the operation',
    headers: headerReferences(['X-Request-Id', 'Allow']),
    content: {
      'application/json': {
        schema: components.add('schemas', 'AnyFailure', envelope(data)),
        examples: {
          method_not_allowed: components.add('examples', 'MethodNotAllowed', {
            value: exampleOf(components, httpErrors.methodNotAllowed),
          }),
        },
      },
    },
  };
}

/** The texts of one code; its definitions differ in nothing else. */
function addText(texts: string | undefined, text: string): string {
  if (texts === undefined) return text;
  return texts.includes(text) ? texts : `${texts} / ${text}`;
}

const detailOf = (text: string) => toJsonSchema(Message('The same text as `message`', text));

/** `TokenNotValid` becomes `TokenNotValidError`, `ValidationError` stays. */
function errorName(name: string): string {
  return name.endsWith('Error') ? name : `${name}Error`;
}

/** Adds a schema for each code, and for several codes one that is any of them. */
function addData(components: Components, name: string, definitions: readonly ErrorDefinition[]): Reference {
  const forms = definitions.map(({ code, text, fields = {} }) => {
    const own = errorName(toPascalCase(code));
    const known = components.parts.schemas[own];
    if (known) known['description'] = addText(String(known['description']), text.en);
    const schema = known ?? {
      description: text.en,
      type: 'object',
      required: ['detail', 'code', ...Object.keys(fields)],
      properties: {
        detail: detailOf(text.ko),
        code: { description: 'For programs; never changes', type: 'string', const: code },
        ...referencing(fields),
      },
    };
    return components.add('schemas', own, schema as JsonObject);
  });
  const [only] = forms;
  if (only && forms.length === 1) return only;
  return components.add('schemas', errorName(name), { description: 'One of these errors', oneOf: forms });
}

function envelope(data: Reference): JsonObject {
  return {
    description: 'An error',
    type: 'object',
    required: ['success', 'message', 'data'],
    properties: {
      success: { description: 'Always `false`', type: 'boolean', const: false },
      message: {
        description: 'For people, in the language of the response',
        type: 'string',
        maxLength: 1000,
      },
      data,
    },
  };
}

function exampleOf(components: Components, { code, text, fields = {} }: ErrorDefinition): JsonObject {
  const values = components.exampleOf({ properties: referencing(fields) }) as JsonObject;
  return { success: false, message: text.ko, data: { detail: text.ko, code, ...values } };
}

/** References by `$id` as references to components. */
function referencing(fields: NonNullable<ErrorDefinition['fields']>): Record<string, JsonObject> {
  return JSON.parse(JSON.stringify(toJsonSchema(fields)), (key, value) =>
    key === '$ref' ? `#/components/schemas/${String(value).replace('#', '')}` : value,
  );
}
