import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { ApiError, type ErrorDefinition, httpErrors } from '../errors.ts';
import { defaultLanguage } from '../language.ts';
import { failureBody } from './error-handler.ts';
import { contentSecurityPolicy } from './security-headers.ts';

/** Errors of Node's HTTP parser; every other one is a malformed request. */
const parserErrors: Record<string, ErrorDefinition> = {
  ERR_HTTP_REQUEST_TIMEOUT: httpErrors.requestTimeout,
  HPE_HEADER_OVERFLOW: httpErrors.headersTooLarge,
};

/**
 * Answers what Node's HTTP parser refuses: a malformed or oversize head, broken chunks, a request that takes too long. There
 * is no request object, so no hook runs, and the connection is closed.
 */
export function clientErrorHandler(
  this: FastifyInstance,
  { code = '', message }: Error & { code?: string },
  socket: Socket,
): void {
  if (code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const definition = parserErrors[code] ?? httpErrors.malformedRequest;
  const requestId = randomUUID();
  this.log.info({ reqId: requestId, code: definition.code, cause: message }, 'request refused');
  socket.end(rawAnswer(definition, requestId), () => socket.destroy());
}

function rawAnswer(definition: ErrorDefinition, requestId: string): string {
  const body = JSON.stringify(failureBody(new ApiError(definition), defaultLanguage));
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'Content-Language': defaultLanguage,
    'X-Request-Id': requestId,
    'X-Content-Type-Options': 'nosniff',
    'Content-Security-Policy': contentSecurityPolicy,
    'Referrer-Policy': 'no-referrer',
    'Cache-Control': 'no-store',
    Date: new Date().toUTCString(),
    Connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${definition.status} ${STATUS_CODES[definition.status]}`, ...lines, '', body].join(
    '\r\n',
  );
}
