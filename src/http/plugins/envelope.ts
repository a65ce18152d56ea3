import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { type TSchema, Type } from '@sinclair/typebox';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import type { Config } from '../../infrastructure/config/config.ts';
import { unavailableReason } from '../../infrastructure/database/errors.ts';
import { IdempotencyConflictError } from '../../infrastructure/database/idempotency.ts';
import { IdempotencyHeaders } from '../conditions.ts';
import { ApiError, type ErrorDefinition, httpErrors, invalidFields, serviceUnavailable } from '../errors.ts';
import { describeErrors } from '../field-errors.ts';
import { defaultLanguage, type Language } from '../language.ts';
import { maxLoggedLength } from './logging.ts';
import { securityHeaders } from './security-headers.ts';

/**
 * Wraps what a handler returns, and its schema, into `{ success, message, data }`, and gives idempotent operations their header and
 * operations whose only success is 201 that status.
 */
export const envelopePlugin = fastifyPlugin(async (app: FastifyInstance) => {
  app.decorate('unavailableLines', new Map());
  app.addHook('onRoute', (route) => {
    if (route.config?.idempotent) route.schema = { headers: IdempotencyHeaders, ...route.schema };
    if (route.config?.message) wrapResponses(route);
  });
  app.addHook('preSerialization', (request, reply, payload: unknown, done) => {
    const { config, schema } = request.routeOptions;
    const { message, alternateMessage } = config;
    const text = alternateMessage && isNotAccepted(payload) ? alternateMessage : message;
    if (text === undefined || reply.statusCode >= 300) return done(null, payload);
    const responses = Object(schema?.response);
    if ('201' in responses && !('200' in responses)) reply.code(201);
    done(null, { success: true, message: text[request.language], data: payload });
  });
});

const isNotAccepted = (data: unknown) => data instanceof Object && 'accepted' in data && !data.accepted;

function wrapResponses(route: RouteOptions): void {
  const responses = Object.entries((route.schema?.response ?? {}) as Record<string, TSchema>);
  const wrapped = responses.map(([status, data]) => {
    // A 304 has no body. A `HEAD` route shares the schema of its `GET` route, which is wrapped already.
    const isWrapped = Number(status) >= 300 || ('properties' in data && 'success' in data['properties']);
    return [status, isWrapped ? data : envelopeOf(data)];
  });
  route.schema = { ...route.schema, response: Object.fromEntries(wrapped) };
}

/** The document describes `success` and `message`: see `components.ts`. */
const envelopeOf = (data: TSchema) =>
  Type.Object({ success: Type.Literal(true), message: Type.String(), data });

declare module 'fastify' {
  interface FastifyInstance {
    /** By cause of 503: when it was last logged, and how many lines were left out since. */
    unavailableLines: Map<string, { time: number; suppressed: number }>;
  }
}

/** Milliseconds between two lines about the same cause of 503. */
const lineInterval = 1_000;

/** Renders every error: in the envelope, in the language of the request, with its cause only in the log. */
export function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const apiError = prepareError(error, request, reply);
  return reply
    .type('application/json; charset=utf-8')
    .serializer(JSON.stringify)
    .send(errorBody(apiError, request.language));
}

/** Logs an error, and sets the status and the headers of its response. */
export function prepareError(error: unknown, request: FastifyRequest, reply: FastifyReply): ApiError {
  const apiError = toApiError(error);
  const { status, code } = apiError.definition;
  logError(apiError, error, request);
  if (status === 401) reply.header('www-authenticate', challenge(code));
  reply.code(status).headers(apiError.options.headers ?? {});
  return apiError;
}

function logError({ definition, options, cause }: ApiError, error: unknown, request: FastifyRequest): void {
  const { status, code } = definition;
  if (status === 503) logUnavailable(cause ?? error, code, request);
  else if (status >= 500) request.log.error({ err: cause ?? error, code }, 'request failed');
  else {
    const message = cause instanceof Error ? cause.message.slice(0, maxLoggedLength) : undefined;
    request.log.info({ code, reason: options.data?.['reason'], cause: message }, 'request rejected');
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

/** An error in the envelope. */
function errorBody({ definition, options }: ApiError, language: Language) {
  const detail = definition.text[language];
  return {
    success: false,
    message: detail,
    data: { detail, code: definition.code, ...options.data, ...options.localizedData?.(language) },
  };
}

/** The error that a client gets for whatever was thrown. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof IdempotencyConflictError) return new ApiError(httpErrors.idempotencyConflict);
  if (unavailableReason(error) !== undefined) return serviceUnavailable(error);
  if (!(error instanceof Error)) return new ApiError(httpErrors.internalError, { cause: error });
  const { validation, code, statusCode } = error as Partial<FastifyError>;
  if (validation) return invalidFields(describeErrors(validation));
  if (statusCode === 503) return serviceUnavailable(error);
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return new ApiError(httpErrors.unsupportedMediaType);
  return new ApiError(httpErrors.internalError, { cause: error });
}

function challenge(code: string): string {
  return `Bearer realm="api"${code === httpErrors.tokenNotValid.code ? ', error="invalid_token"' : ''}`;
}

/** Errors of Node's HTTP parser; every other one is a malformed request. */
const parserErrors: Record<string, ErrorDefinition> = {
  ERR_HTTP_REQUEST_TIMEOUT: httpErrors.requestTimeout,
  HPE_HEADER_OVERFLOW: httpErrors.headersTooLarge,
};

/** The beginning of a request whose target is too long. Of a head in several packets, the parser shows the last one only. */
const longTarget = /^\S+ \S{2049}/;

/** Responds to what Node's HTTP parser rejects, such as a malformed or oversize head. There is no request, so no hook runs. */
export function createClientErrorHandler(config: Config) {
  const headers = securityHeaders(config);

  return function handleClientError(
    this: FastifyInstance,
    { code = '', message, rawPacket }: NodeJS.ErrnoException & { rawPacket?: unknown },
    socket: Socket,
  ): void {
    if (code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const isTarget = code === 'HPE_HEADER_OVERFLOW' && longTarget.test(String(rawPacket));
    const definition = isTarget ? httpErrors.uriTooLong : (parserErrors[code] ?? httpErrors.malformedRequest);
    const requestId = randomUUID();
    this.log.info({ reqId: requestId, code: definition.code, cause: message }, 'request rejected');
    socket.end(rawResponse(definition, requestId, headers), () => socket.destroy());
  };
}

function rawResponse(definition: ErrorDefinition, requestId: string, others: Record<string, string>): string {
  const body = JSON.stringify(errorBody(new ApiError(definition), defaultLanguage));
  const headers = {
    ...others,
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    'content-language': defaultLanguage,
    'x-request-id': requestId,
    'cache-control': 'no-store',
    date: new Date().toUTCString(),
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const status = `${definition.status} ${STATUS_CODES[definition.status]}`;
  return [`HTTP/1.1 ${status}`, ...lines, '', body].join('\r\n');
}
