import { randomUUID } from 'node:crypto';
import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { ApiError, type ErrorDefinition, httpErrors } from '../errors.ts';
import { defaultLanguage } from '../language.ts';
import { failureBody } from './error-handler.ts';

/** What Node's HTTP parser says; everything else is a request that it cannot read. */
const parserErrors: Record<string, ErrorDefinition> = {
  ERR_HTTP_REQUEST_TIMEOUT: httpErrors.requestTimeout,
  HPE_HEADER_OVERFLOW: httpErrors.headersTooLarge,
};

/** Connections with a refusal to come, behind the answers that come first. */
const waiting = new WeakSet<Socket>();

/** Milliseconds for a client that still sends to read the answer. */
const lingering = 1_000;

/**
 * Answers what never becomes a request: a malformed or oversize head, a body in broken chunks, one that takes too long. There is
 * no request object, so no hook runs; the connection cannot be used any further.
 */
export function clientErrorHandler(
  this: FastifyInstance,
  error: Error & { code?: string },
  socket: Socket & { _httpMessage?: ServerResponse | null },
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const answer = socket._httpMessage;
  if (waiting.has(socket)) return;
  if (answer?.req.complete) {
    // It is a later request that cannot be read: those before it have their answers first.
    waiting.add(socket);
    answer.once('close', () => {
      waiting.delete(socket);
      clientErrorHandler.call(this, error, socket);
    });
  } else if (answer?.headersSent) {
    socket.destroy();
  } else {
    refuseConnection(this, socket, error);
  }
}

/** Answers on a connection that no request will come from, and ends it. */
export function refuseConnection(
  { log }: FastifyInstance,
  socket: Duplex,
  { code = '', message }: Error & { code?: string },
): void {
  const requestId = randomUUID();
  const definition = parserErrors[code] ?? httpErrors.malformedRequest;
  log.info({ reqId: requestId, code: definition.code, cause: message }, 'request refused');
  socket.on('error', () => undefined);
  socket.end(toHttp(definition, requestId));
  setTimeout(() => socket.destroy(), lingering).unref();
}

function toHttp(definition: ErrorDefinition, requestId: string): string {
  const body = JSON.stringify(failureBody(new ApiError(definition), defaultLanguage));
  return [
    `HTTP/1.1 ${definition.status} ${STATUS_CODES[definition.status]}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `Content-Language: ${defaultLanguage}`,
    `X-Request-Id: ${requestId}`,
    'X-Content-Type-Options: nosniff',
    'Cache-Control: no-store',
    `Date: ${new Date().toUTCString()}`,
    'Connection: close',
    '',
    body,
  ].join('\r\n');
}
