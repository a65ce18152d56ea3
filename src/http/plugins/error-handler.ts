import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { isDatabaseUnavailable, unavailableReason } from '../../database/errors.ts';
import { ApiError, httpErrors, invalidFields, serviceUnavailable } from '../errors.ts';
import type { FieldError } from '../field-errors.ts';
import type { Language } from '../language.ts';
import { describeErrors } from '../validation-errors.ts';
import { maxLoggedLength } from './logging.ts';

const frameworkErrors: Record<string, ApiError> = {
  FST_ERR_CTP_BODY_TOO_LARGE: new ApiError(httpErrors.payloadTooLarge),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: new ApiError(httpErrors.unsupportedMediaType),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: new ApiError(httpErrors.malformedJson),
  FST_ERR_BAD_URL: new ApiError(httpErrors.notFound),
  FST_ERR_MAX_PARAM_LENGTH: new ApiError(httpErrors.notFound),
};

declare module 'fastify' {
  interface FastifyInstance {
    /** By cause of 503: when it was last logged, and how many lines were left out since. */
    unavailableLines: Map<string, { time: number; suppressed: number }>;
  }
}

/** Milliseconds between two lines about the same cause of 503. */
const lineInterval = 1_000;

export const errorHandlerPlugin = fastifyPlugin(async (app: FastifyInstance) => {
  app.decorate('unavailableLines', new Map());
  app.setErrorHandler(sendError);
});

/** Renders every failure: in the envelope, in the language of the request, with its cause only in the log. */
export function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const failure = prepareFailure(error, request, reply);
  return reply
    .type('application/json; charset=utf-8')
    .serializer(JSON.stringify)
    .send(failureBody(failure, request.language));
}

/** Logs a failure, and sets the status and the headers of its answer. */
export function prepareFailure(error: unknown, request: FastifyRequest, reply: FastifyReply): ApiError {
  // The client disconnected while its body was read: not a fault of the service.
  const isAborted = error !== undefined && request.raw.errored === error;
  const failure = isAborted ? new ApiError(httpErrors.malformedRequest, { cause: error }) : toApiError(error);
  const { status, code } = failure.definition;
  logFailure(failure, error, request);
  if (status === 401) reply.header('www-authenticate', challenge(code));
  reply.code(status).headers(failure.headers);
  return failure;
}

function logFailure({ definition, data, cause }: ApiError, error: unknown, request: FastifyRequest): void {
  const { status, code } = definition;
  if (status === 503) logUnavailable(cause ?? error, code, request);
  else if (status >= 500) request.log.error({ err: cause ?? error, code }, 'request failed');
  else {
    const message = cause instanceof Error ? cause.message.slice(0, maxLoggedLength) : undefined;
    request.log.info({ code, reason: data['reason'], cause: message }, 'request refused');
  }
}

/** In an outage every request fails for the same cause, which is logged once a second. */
function logUnavailable(cause: unknown, code: string, { server, log }: FastifyRequest): void {
  const lines = server.unavailableLines;
  // Cut, because a decoder writes what a client sent.
  const key = unavailableReason(cause) ?? String(cause).replace(/\d+/g, '').slice(0, 40);
  const { time, suppressed } = lines.get(key) ?? { time: 0, suppressed: 0 };
  const isLogged = Date.now() - time >= lineInterval;
  lines.set(key, isLogged ? { time: Date.now(), suppressed: 0 } : { time, suppressed: suppressed + 1 });
  if (isLogged) log.error({ err: cause, code, suppressed }, 'request failed');
}

/** A failure in the envelope. */
export function failureBody({ definition, data, fieldErrors }: ApiError, language: Language) {
  const detail = definition.text[language];
  return {
    success: false,
    message: detail,
    data: { detail, code: definition.code, ...data, ...fieldsOf(fieldErrors, language) },
  };
}

function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (isDatabaseUnavailable(error)) return serviceUnavailable(error);
  if (!(error instanceof Error)) return new ApiError(httpErrors.internalError, { cause: error });
  const { validation, code, statusCode } = error as Partial<FastifyError>;
  if (validation) return invalidFields(describeErrors(validation));
  if (statusCode === 503) return serviceUnavailable(error);
  const known = code === undefined ? undefined : frameworkErrors[code];
  return known ?? new ApiError(httpErrors.internalError, { cause: error });
}

function challenge(code: string): string {
  return `Bearer realm="api"${code === httpErrors.tokenNotValid.code ? ', error="invalid_token"' : ''}`;
}

/** The texts by field for people, and one entry for each of them in the same order for programs. */
function fieldsOf(fieldErrors: readonly FieldError[] | undefined, language: Language) {
  if (!fieldErrors) return {};
  // Without a prototype, because a client chooses the names of unknown fields.
  const byField: Record<string, FieldError[]> = Object.create(null);
  for (const error of fieldErrors) byField[error.field] = [...(byField[error.field] ?? []), error];
  const texts = Object.entries(byField).map(([field, errors]) => [
    field,
    errors.map(({ text }) => text[language]),
  ]);
  const errors = Object.values(byField)
    .flat()
    .map(({ field, code, text, params }) => ({ field, code, message: text[language], params }));
  return { fields: Object.fromEntries(texts), errors };
}
