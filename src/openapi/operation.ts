import type { FastifySchema, RouteOptions } from 'fastify';
import { type ErrorDefinition, httpErrors } from '../http/errors.ts';

export type JsonObject = Record<string, unknown>;

/** Notes in the schema of an answer for the document, which are left out of it. */
export interface AnswerNotes {
  /** The component's name, where it does not follow from the operation. */
  name?: string;
  /** Of a failure: one whole body for each code. */
  examples?: Record<string, JsonObject>;
}

/** The key in an answer's schema that holds its {@link AnswerNotes}. */
export const notesKey = 'x-dure-notes';

/** Adds to a route's schema what follows from its configuration: every failure with its codes. */
export function documentRoute(schema: FastifySchema, route: RouteOptions): FastifySchema {
  const security = 'security' in schema ? schema.security : [];
  const { message, errors: ownErrors, limit, idempotent } = route.config ?? {};
  if (schema.hide) return { ...schema, security };
  if (message === undefined && ownErrors === undefined) {
    const unreadable = limit === 'none' ? { '4xx': unreadableRequest() } : {};
    return { ...schema, security, response: { ...(schema.response as JsonObject), ...unreadable } };
  }
  const errors = [
    ...impliedErrors(schema, route),
    ...(ownErrors ?? []),
    ...(idempotent ? [httpErrors.idempotencyConflict] : []),
  ];
  const failures = errors.map(({ status }) => [
    status,
    failureResponse(errors.filter((error) => error.status === status)),
  ]);
  const responses = Object.entries(schema.response as Record<string, JsonObject>).map(([status, data]) => [
    status,
    { description: 'Success', ...data },
  ]);
  return { ...schema, security, response: Object.fromEntries([...responses, ...failures]) };
}

/** Failures that follow from the input of an operation and its scope. */
function impliedErrors(schema: FastifySchema, route: RouteOptions): ErrorDefinition[] {
  const { security, querystring } = schema as { security?: JsonObject[]; querystring?: JsonObject };
  // A body is read even where the operation needs none.
  const readsBody = [route.method].flat().some((method) => method !== 'GET' && method !== 'HEAD');
  return [
    // At least an unknown query parameter is refused.
    httpErrors.validationError,
    ...(isObject(querystring?.['properties']) && 'cursor' in querystring['properties']
      ? [httpErrors.invalidCursor]
      : []),
    ...(readsBody
      ? [httpErrors.malformedJson, httpErrors.payloadTooLarge, httpErrors.unsupportedMediaType]
      : []),
    ...(security?.every((one) => 'bearer' in one) ? [httpErrors.notAuthenticated] : []),
    ...(security ? [httpErrors.tokenNotValid] : []),
    ...(route.config?.limit === 'none' ? [] : [httpErrors.rateLimited]),
    httpErrors.internalError,
    httpErrors.serviceUnavailable,
  ];
}

/** Failures before a request reaches an operation, documented where an operation has no other failure. */
function unreadableRequest(): JsonObject {
  const failure = failureResponse([
    httpErrors.malformedRequest,
    httpErrors.requestTimeout,
    httpErrors.headersTooLarge,
  ]);
  return {
    ...failure,
    description:
      'The request is not valid HTTP: 400 `malformed_request`, 408 `request_timeout`, 431 `headers_too_large`',
    [notesKey]: { ...(failure[notesKey] as AnswerNotes), name: 'UnreadableRequestFailure' },
  };
}

function failureResponse(errors: ErrorDefinition[]): JsonObject {
  const codes = [...new Set(errors.map(({ code }) => code))];
  const fields = Object.assign({}, ...errors.map((error) => error.fields ?? {})) as JsonObject;
  // A field is required only where every failure of the status has it.
  const required = Object.keys(fields).filter((name) =>
    errors.every((error) => name in (error.fields ?? {})),
  );
  const notes: AnswerNotes = {
    // More than two codes would make an unreadable name; those are named by their operation.
    ...(codes.length <= 2 ? { name: `${codes.map(toPascalCase).join('Or')}Failure` } : {}),
    examples: Object.fromEntries(errors.map((error) => [error.code, exampleOfFailure(error)])),
  };
  return {
    description: codes.map((code) => `\`${code}\``).join(', '),
    type: 'object',
    required: ['success', 'message', 'data'],
    properties: {
      success: { type: 'boolean', const: false },
      message: { type: 'string', description: 'For people, in the language of the answer' },
      data: {
        type: 'object',
        required: ['detail', 'code', ...required],
        properties: {
          detail: { type: 'string', description: 'The same text as `message`' },
          code: { type: 'string', enum: codes, description: 'For programs; never changes' },
          ...fields,
        },
      },
    },
    [notesKey]: notes,
  };
}

function exampleOfFailure({ code, text, fields = {} }: ErrorDefinition): JsonObject {
  const values = Object.entries(fields).map(([name, schema]) => [name, exampleOf(schema)]);
  return { success: false, message: text.ko, data: { detail: text.ko, code, ...Object.fromEntries(values) } };
}

/** A value that a schema allows: its own example, or one composed of the examples of its parts. */
function exampleOf(schema: JsonObject): unknown {
  const { examples, enum: values, properties, items, minimum } = schema;
  if (Array.isArray(examples)) return examples[0];
  if (Array.isArray(values)) return values[0];
  if (isObject(properties)) {
    return Object.fromEntries(
      Object.entries(properties).map(([name, property]) => [name, exampleOf(property as JsonObject)]),
    );
  }
  if (isObject(items)) return [exampleOf(items)];
  return schema['type'] === 'integer' ? (minimum ?? 1) : '';
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `logIn` and `log_in` become `LogIn`. */
export function toPascalCase(name: string): string {
  return name.replace(/(?:^|_)([a-z])/g, (_match, letter: string) => letter.toUpperCase());
}
