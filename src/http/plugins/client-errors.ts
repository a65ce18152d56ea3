import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../../config/config.ts';
import { ApiError, type ErrorDefinition, httpErrors } from '../errors.ts';
import { defaultLanguage } from '../language.ts';
import { failureBody } from './error-handler.ts';
import { corsHeaders, securityHeaders } from './security-headers.ts';

/** Errors of Node's HTTP parser; every other one is a malformed request. */
const parserErrors: Record<string, ErrorDefinition> = {
  ERR_HTTP_REQUEST_TIMEOUT: httpErrors.requestTimeout,
  HPE_HEADER_OVERFLOW: httpErrors.headersTooLarge,
};

interface ParserError extends Error {
  code?: string;
  /** The chunk in which the parser stopped, a Buffer; a timeout has none. */
  rawPacket?: unknown;
}

/**
 * Answers what Node's HTTP parser refuses: a malformed or oversize head, broken chunks, a request that takes too long. There
 * is no request object, so no hook runs, and the connection is closed.
 */
export function createClientErrorHandler(config: Config) {
  const headersOfAll = securityHeaders(config);

  return function handleClientError(this: FastifyInstance, error: ParserError, socket: Socket): void {
    const { code = '', message, rawPacket } = error;
    if (code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const definition = parserErrors[code] ?? httpErrors.malformedRequest;
    const requestId = randomUUID();
    this.log.info({ reqId: requestId, code: definition.code, cause: message }, 'request refused');
    const origin = readingOrigin(rawPacket, config.corsOrigins);
    const headers = { ...headersOfAll, ...(origin === undefined ? {} : corsHeaders(origin)) };
    socket.end(rawAnswer(definition, requestId, headers), () => socket.destroy());
  };
}

/**
 * The origin that may read a refusal. A single configured origin is always named: a browser gives the answer to no other
 * one. Of several, it is the one whose header is in the chunk in which the parser stopped. A client can put that text anywhere
 * in the chunk, but only a configured origin is ever answered.
 */
function readingOrigin(rawPacket: unknown, origins: readonly string[]): string | undefined {
  if (origins.length < 2) return origins[0];
  const text = Buffer.isBuffer(rawPacket) ? rawPacket.toString('latin1').toLowerCase() : '';
  return origins.find((origin) => text.includes(`\r\norigin: ${origin}\r\n`));
}

function rawAnswer(definition: ErrorDefinition, requestId: string, others: Record<string, string>): string {
  const body = JSON.stringify(failureBody(new ApiError(definition), defaultLanguage));
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
  return [`HTTP/1.1 ${definition.status} ${STATUS_CODES[definition.status]}`, ...lines, '', body].join(
    '\r\n',
  );
}
