import { STATUS_CODES } from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import type { FastifySchema, RouteOptions } from 'fastify';
import { type ErrorDefinition, httpErrors } from '../http/errors.ts';
import { NamedEnum } from '../http/schemas.ts';
import { type Components, headerReferences, type JsonObject, toJsonSchema } from './components.ts';

export interface DocumentedRoute extends Pick<RouteOptions, 'method' | 'config'> {
  schema: FastifySchema & {
    operationId: string;
    security?: JsonObject[];
    querystring?: JsonObject;
    headers?: JsonObject;
  };
}

/** Whether a route is an operation of the document. */
export function isDocumented(route: RouteOptions): route is RouteOptions & DocumentedRoute {
  return route.schema !== undefined && 'operationId' in route.schema;
}

/** Every error of an operation: those of its configuration, and those that follow from its input and its scope. */
function errorsOf({ schema, method, config }: DocumentedRoute): ErrorDefinition[] {
  const { security, querystring, headers, consumes = [], response } = schema;
  const { message, errors, probe, idempotent } = config ?? {};
  const ofAll = [httpErrors.malformedRequest, ...(probe ? [] : [httpErrors.rateLimited]), ...(errors ?? [])];
  // Health checks, public keys and redirects of browsers reject no input.
  if ((message === undefined && errors === undefined) || '303' in Object(response)) return ofAll;
  // A body is read even where the operation needs none.
  const readsBody = [method].flat().some((one) => one !== 'GET');
  return [
    ...ofAll,
    // At least an unknown query parameter is rejected.
    httpErrors.validationError,
    ...('cursor' in Object(querystring?.['properties']) ? [httpErrors.invalidCursor] : []),
    ...('if-match' in Object(headers?.['properties']) ? [httpErrors.preconditionFailed] : []),
    ...(readsBody && !consumes.includes('multipart/form-data') ? [httpErrors.malformedJson] : []),
    ...(security?.every((one) => 'bearer' in one) ? [httpErrors.notAuthenticated] : []),
    ...(security ? [httpErrors.tokenNotValid] : []),
    ...(idempotent ? [httpErrors.idempotencyConflict] : []),
  ];
}

/** What any operation can respond with, whatever it does: its response `default`. */
const otherErrors: ErrorDefinition[] = [
  httpErrors.serviceUnavailable,
  httpErrors.internalError,
  httpErrors.unsupportedMediaType,
  httpErrors.payloadTooLarge,
  httpErrors.methodNotAllowed,
  httpErrors.requestTimeout,
  httpErrors.uriTooLong,
  httpErrors.headersTooLarge,
];

/** Names of sets of codes, sorted, that several operations have for the same reason. */
const groups: Record<string, string> = {
  'malformed_json malformed_request validation_error': 'InvalidInput',
  'malformed_request validation_error': 'InvalidQuery',
  'invalid_cursor malformed_request validation_error': 'InvalidPage',
  'not_authenticated token_not_valid': 'Unauthenticated',
  'invalid_credentials not_authenticated token_not_valid': 'WrongPassword',
  'confirmation_required forbidden': 'NotConfirmed',
  'rate_limited too_many_attempts': 'AttemptsExceeded',
  'quota_exceeded rate_limited': 'AllowanceExceeded',
};

/** `log_in` becomes `LogIn`. */
function toPascalCase(name: string): string {
  return name.replace(/(?:^|_)([a-z])/g, (_match, letter: string) => letter.toUpperCase());
}

/** `post_not_found` becomes `PostNotFoundError`, `validation_error` `ValidationError`. */
const errorName = (code: string) => `${toPascalCase(code).replace(/Error$/, '')}Error`;

const detailOf = (text: string) => ({
  description: 'The same text as `message`',
  type: 'string',
  maxLength: 1000,
  examples: [text],
});

/** The texts of the definitions of a code. */
function textsOf(definitions: readonly ErrorDefinition[], code: string): string {
  const texts = definitions.filter((one) => one.code === code).map(({ text }) => text.en);
  return [...new Set(texts)].join(' / ');
}

/** Adds a schema for each error. @returns what makes the responses of an operation with its errors, by status */
export function createErrorResponses(components: Components, routes: Iterable<DocumentedRoute>) {
  const common = Object.values<ErrorDefinition>(httpErrors);
  const used = [...routes].flatMap(errorsOf);
  // Of the definitions of a code, which differ in their text only, a common one is the usual one.
  const definitions = [...common.filter((one) => used.includes(one)), ...used];
  const usual = new Map([...definitions].reverse().map((definition) => [definition.code, definition]));
  for (const [code, { text, fields = {} }] of usual) {
    components.add('schemas', errorName(code), {
      description: textsOf(definitions, code),
      type: 'object',
      required: ['detail', 'code', ...Object.keys(fields)],
      properties: {
        detail: detailOf(text.ko),
        code: { description: 'For programs', type: 'string', const: code },
        ...Object(toJsonSchema(fields)),
      },
    });
  }

  /** A component, which operations with the same errors and texts share; of several errors of one operation, a response. */
  function responseOf({ schema }: DocumentedRoute, status: number, errors: readonly ErrorDefinition[]) {
    const sorted = [...new Set(errors.map(({ code }) => code))].sort();
    // Mocks respond with the first form, and a validation error is what developers meet first.
    const isFirst = (code: string) => code === httpErrors.validationError.code;
    const codes = [...new Set([...sorted.filter(isFirst), ...sorted])];
    const [first = ''] = codes;
    const shared = codes.length === 1 ? toPascalCase(first) : groups[sorted.join(' ')];
    // A code more does not change such a name.
    const name = shared ?? toPascalCase(schema.operationId) + STATUS_CODES[status]?.replace(/\W/g, '');
    const forms = codes.map((code) => ({ $ref: `#/components/schemas/${errorName(code)}` }));
    const data = forms.length === 1 ? forms[0] : { description: 'One of these errors', oneOf: forms };
    const lines = codes.map((code) => `\`${code}\`: ${textsOf(errors, code)}`);
    const headers = headerReferences({ 'WWW-Authenticate': status === 401, 'Retry-After': status === 429 });
    const envelope = components.addEnvelope(`${name}Failure`, 'Failed', data, usual.get(first)?.text.ko);
    const response = {
      description: lines.join('\n\n'),
      ...(headers && { headers }),
      content: { 'application/json': { schema: envelope } },
    };
    const known = components.parts.responses[name] ?? response;
    const isShared = shared !== undefined && isDeepStrictEqual(known, response);
    return isShared ? components.add('responses', name, response) : response;
  }

  return (route: DocumentedRoute): Record<string, JsonObject> => {
    const errors = errorsOf(route);
    const ofStatus = (status: number) => errors.filter((error) => error.status === status);
    return Object.fromEntries(
      errors.map(({ status }) => [status, responseOf(route, status, ofStatus(status))]),
    );
  };
}

/** Any other error: what a client that knows no operation can rely on. */
export function otherErrorResponse(components: Components) {
  const { $id, ...codes } = NamedEnum(
    'OtherErrorCode',
    'For programs; a code never changes its meaning, new ones may come',
    Object.fromEntries(otherErrors.map(({ code, text }) => [code, text.en])),
  );
  const { ko } = httpErrors.serviceUnavailable.text;
  const data = components.add('schemas', 'OtherError', {
    description: 'An error that any operation may have',
    type: 'object',
    required: ['detail', 'code'],
    properties: { detail: detailOf(ko), code: components.add('schemas', String($id), codes) },
  });
  const statuses = otherErrors.map(({ status, code }) => `${status} \`${code}\``);
  return components.add('responses', 'OtherError', {
    description: `Any other error: ${statuses.join(', ')}.`,
    headers: {
      'Retry-After': { description: 'With 503', schema: components.parts.headers['RetryAfter']?.['schema'] },
      Allow: {
        description: 'With 405: the methods of the path',
        schema: { type: 'string', pattern: '^[A-Z, ]+$', maxLength: 100 },
      },
    },
    content: { 'application/json': { schema: components.addEnvelope('OtherFailure', 'Failed', data, ko) } },
  });
}
