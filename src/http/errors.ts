import { randomInt } from 'node:crypto';
import { type TProperties, type TSchema, Type } from '@sinclair/typebox';
import type { FastifySchemaValidationError } from 'fastify';
import {
  describeErrors,
  type FieldError,
  FieldErrorSchema,
  maxFieldErrors,
  problems,
} from './field-errors.ts';
import type { Language, LocalizedText } from './language.ts';
import { documented, Int32, Message, NamedEnum, NamedObject, Ref, StringEnum } from './schemas.ts';

/** One kind of error: a stable code, its status and its text. */
export interface ErrorDefinition {
  readonly code: string;
  readonly status: number;
  readonly text: LocalizedText;
  /** Fields of `data` besides `detail` and `code`. */
  readonly fields?: TProperties | undefined;
}

/** Defines an error by its text and, where it has them, the `fields` of its `data`. Each 429 has `retry_after`. */
export function defineError(
  status: number,
  code: string,
  { fields, ...text }: LocalizedText & { fields?: TProperties },
): ErrorDefinition {
  return { code, status, text, fields: status === 429 ? retryAfterField : fields };
}

interface ApiErrorOptions {
  /** Values of the definition's `fields`. */
  data?: Record<string, unknown>;
  /** The same for values with texts, in the language of the response. */
  localizedData?: (language: Language) => Record<string, unknown>;
  headers?: Record<string, string>;
  /** Logged, never part of the response. */
  cause?: unknown;
}

/** An error that the client gets as a response. Thrown anywhere, rendered by the error handler. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly definition: ErrorDefinition;
  readonly options: ApiErrorOptions;

  constructor(definition: ErrorDefinition, options: ApiErrorOptions = {}) {
    super(definition.code, { cause: options.cause });
    this.definition = definition;
    this.options = options;
  }
}

/** An error with `retry_after` in the body and `Retry-After` in the headers. @param retryAfter seconds; rounded up, at least 1 */
export function retryLater(definition: ErrorDefinition, retryAfter: number): ApiError {
  const wait = Math.max(1, Math.ceil(retryAfter));
  return new ApiError(definition, { data: { retry_after: wait }, headers: { 'retry-after': String(wait) } });
}

/** 503 `service_unavailable`. @param retryAfter whole seconds; by default 3 to 8, so that clients do not come back together */
export function serviceUnavailable(cause: unknown, retryAfter = randomInt(3, 9)): ApiError {
  return new ApiError(httpErrors.serviceUnavailable, {
    cause,
    headers: { 'retry-after': String(retryAfter) },
  });
}

/** An error that names single values: a validation error, for rules that a schema cannot express, or another one. */
export function invalidFields(
  fieldErrors: readonly FieldError[],
  definition: ErrorDefinition = httpErrors.validationError,
): ApiError {
  return new ApiError(definition, { localizedData: (language) => fieldsOf(fieldErrors, language) });
}

/**
 * A `schemaErrorFormatter` for a body that has one of several forms: the validator reports the errors of all, but only those of the
 * form that was meant are shown.
 *
 * @param forms by the field that only this form has
 */
export const errorsOfForms =
  (forms: Record<string, TSchema>) =>
  (errors: FastifySchemaValidationError[], part: string): ApiError => {
    const isNoObject = errors.some(({ keyword, instancePath }) => keyword === 'type' && instancePath === '');
    if (part !== 'body' || isNoObject) return invalidFields(describeErrors(errors));
    const names = Object.keys(forms);
    const missing = errors.flatMap(({ keyword, params }) =>
      keyword === 'required' ? [params['missingProperty']] : [],
    );
    const given = names.filter((name) => !missing.includes(name));
    const [meant = names[0] ?? ''] = given;
    const found = describeErrors(
      errors.filter(({ schemaPath }) => schemaPath.startsWith(`${forms[meant]?.$id}#`)),
    );
    if (given.length === 1) return invalidFields(found);
    const problem = given.length === 0 ? problems.oneOf(names) : problems.onlyOneOf(names);
    const others = found.filter(({ field }) => !names.includes(field));
    return invalidFields([...names.map((field) => ({ field, ...problem })), ...others]);
  };

/** The texts by field for people, and one entry for each of them in the same order for programs. */
function fieldsOf(fieldErrors: readonly FieldError[], language: Language) {
  // In the order of the keys of an object, where numbers come first.
  const names = Object.keys(Object.fromEntries(fieldErrors.map(({ field }) => [field, true])));
  const errors = names.flatMap((name) =>
    fieldErrors
      .filter(({ field }) => field === name)
      .map(({ field, code, text, params }) => ({ field, code, message: text[language], params })),
  );
  const textsOf = (name: string) => errors.flatMap(({ field, message }) => (field === name ? message : []));
  return { fields: Object.fromEntries(names.map((name) => [name, textsOf(name)])), errors };
}

/** Fields of an error that names single values. */
export const fieldErrorFields = {
  fields: Type.Unsafe<Record<string, string[]>>({
    type: 'object',
    maxProperties: maxFieldErrors,
    additionalProperties: {
      type: 'array',
      maxItems: maxFieldErrors,
      items: { type: 'string', maxLength: 1000 },
    },
    description: 'Field name, or JSON pointer for a value inside a field, to what is wrong with it',
    examples: [{ name: ['필수 항목입니다.'] }],
  }),
  errors: Type.Array(Ref(FieldErrorSchema), {
    maxItems: maxFieldErrors,
    description: 'The same for programs: one for each text in `fields`, in the same order',
    examples: [[{ field: 'name', code: 'required', message: '필수 항목입니다.' }]],
  }),
};

/** The field of every 429. */
const retryAfterField = { retry_after: Int32('Seconds until another try makes sense', { minimum: 1 }) };

const TokenNotValidMessage = NamedObject('TokenNotValidMessage', 'The token that was rejected', {
  token_class: StringEnum(['AccessToken', 'RefreshToken'], { description: 'The class of the token' }),
  token_type: StringEnum(['access', 'refresh'], { description: 'The type of the token' }),
  message: Message('What is wrong with it, for people'),
});

export const TokenNotValidReason = NamedEnum(
  'TokenNotValidReason',
  'Why the token is rejected. Refresh on `expired` of an access token; after every other reason, and after any error of `refreshToken` with 401, log in again.',
  {
    expired: 'Of an access token: refresh it; of a refresh token: log in again',
    malformed: 'Not a token of this service: log in again',
    revoked: 'The session has ended: log in again',
    reused: 'The refresh token was replaced earlier, so the session was ended: log in again',
    wrong_type: 'A refresh token where an access token belongs, or the reverse: send the other one',
  },
);

/** Errors that do not belong to a domain. */
export const httpErrors = {
  validationError: defineError(400, 'validation_error', {
    ko: '입력값을 확인해 주세요.',
    en: 'Some of the values are not valid.',
    fields: fieldErrorFields,
  }),
  malformedJson: defineError(400, 'malformed_json', {
    ko: '요청 본문이 올바른 JSON이 아닙니다.',
    en: 'The request body is not valid JSON.',
  }),
  malformedRequest: defineError(400, 'malformed_request', {
    ko: '올바른 HTTP 요청이 아닙니다.',
    en: 'The request is not valid HTTP.',
  }),
  invalidCursor: defineError(400, 'invalid_cursor', {
    ko: '커서가 올바르지 않습니다.',
    en: 'The cursor is not valid.',
  }),
  notAuthenticated: defineError(401, 'not_authenticated', {
    ko: '로그인이 필요합니다.',
    en: 'Authentication credentials were not provided.',
  }),
  tokenNotValid: defineError(401, 'token_not_valid', {
    ko: '이 토큰은 모든 타입의 토큰에 대해 유효하지 않습니다.',
    en: 'Given token not valid for any token type.',
    fields: {
      messages: Type.Array(Ref(TokenNotValidMessage), {
        ...documented({ minItems: 1, maxItems: 1 }),
        description: 'One entry: the token that was rejected',
      }),
      reason: Ref(TokenNotValidReason),
    },
  }),
  notFound: defineError(404, 'not_found', {
    ko: '요청하신 경로가 없습니다.',
    en: 'There is nothing at this path.',
  }),
  methodNotAllowed: defineError(405, 'method_not_allowed', {
    ko: '이 경로에서 사용할 수 없는 메서드입니다.',
    en: 'This path does not support the method.',
  }),
  requestTimeout: defineError(408, 'request_timeout', {
    ko: '요청이 제때 도착하지 않았습니다.',
    en: 'The request did not arrive in time.',
  }),
  idempotencyConflict: defineError(409, 'idempotency_conflict', {
    ko: '같은 Idempotency-Key가 이미 다른 내용의 요청에 사용되었습니다.',
    en: 'This Idempotency-Key was already used with a different request.',
  }),
  preconditionFailed: defineError(412, 'precondition_failed', {
    ko: '그사이 다른 곳에서 내용이 바뀌었습니다. 새로 불러온 뒤 다시 시도해 주세요.',
    en: 'It has been changed in the meantime. Load it again and retry.',
  }),
  payloadTooLarge: defineError(413, 'payload_too_large', {
    ko: '요청 본문이 너무 큽니다.',
    en: 'The request body is too large.',
  }),
  uriTooLong: defineError(414, 'uri_too_long', {
    ko: '요청 주소가 너무 깁니다.',
    en: 'The address of the request is too long.',
  }),
  unsupportedMediaType: defineError(415, 'unsupported_media_type', {
    ko: '본문은 application/json(UTF-8)이어야 합니다.',
    en: 'The body must be application/json in UTF-8.',
  }),
  rateLimited: defineError(429, 'rate_limited', {
    ko: '요청이 너무 많습니다. 잠시 후 다시 시도해 주세요.',
    en: 'Too many requests. Please try again in a moment.',
  }),
  quotaExceeded: defineError(429, 'quota_exceeded', {
    ko: '하루에 이용할 수 있는 한도를 모두 사용했습니다. 나중에 다시 시도해 주세요.',
    en: 'You have used up the daily allowance. Please try again later.',
  }),
  headersTooLarge: defineError(431, 'headers_too_large', {
    ko: '요청 헤더가 너무 큽니다.',
    en: 'The headers of the request are too large.',
  }),
  internalError: defineError(500, 'internal_error', {
    ko: '서버에 문제가 생겼습니다. 잠시 후 다시 시도해 주세요.',
    en: 'Something went wrong on our side. Please try again in a moment.',
  }),
  serviceUnavailable: defineError(503, 'service_unavailable', {
    ko: '지금은 처리할 수 없습니다. 잠시 후 다시 시도해 주세요.',
    en: 'The service cannot answer right now. Please try again in a moment.',
  }),
};

/** A value that is there. @throws {ApiError} where it is not */
export function found<Value>(value: Value, definition = httpErrors.notFound): NonNullable<Value> {
  if (value === undefined || value === null) throw new ApiError(definition);
  return value;
}
