import type { FastifyRequest } from 'fastify';

/** Seconds for which a browser may keep the answer to a preflight; Chromium keeps none for longer. */
const preflightMaxAge = 7_200;

const exposedHeaders = [
  'Allow',
  'Content-Language',
  'ETag',
  'Idempotency-Replayed',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'Retry-After',
  'X-Request-Id',
].join(', ');

const allowedMethods = 'GET, HEAD, POST, PATCH, DELETE';

const allowedHeaders = [
  'Accept-Language',
  'Authorization',
  'Content-Type',
  'Idempotency-Key',
  'If-None-Match',
  'Last-Event-ID',
  'traceparent',
  'tracestate',
  'X-Request-Id',
  'X-Requested-With',
].join(', ');

/** The headers with which an origin may read an answer. There are no cookies, so credentials are not allowed. */
export function corsHeaders(origin: string): Record<string, string> {
  return { 'access-control-allow-origin': origin, 'access-control-expose-headers': exposedHeaders };
}

/**
 * The headers that answer a preflight of an allowed origin (https://fetch.spec.whatwg.org/#cors-preflight-fetch). The methods
 * are the same for every path, so that a request with a wrong method is sent and gets its 405.
 */
export const preflightHeaders: Readonly<Record<string, string>> = {
  'access-control-allow-methods': allowedMethods,
  'access-control-allow-headers': allowedHeaders,
  'access-control-max-age': String(preflightMaxAge),
};

/** Whether a browser asks with this request if it may send another one. */
export function isPreflight({ method, headers }: FastifyRequest): boolean {
  return (
    method === 'OPTIONS' &&
    headers.origin !== undefined &&
    headers['access-control-request-method'] !== undefined
  );
}
