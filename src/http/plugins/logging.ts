import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { type Logger, pino } from 'pino';
import type { Metrics } from '../../infrastructure/telemetry/metrics.ts';
import type { Tracing } from '../../infrastructure/telemetry/tracing.ts';
import { claimedUserId } from '../authentication.ts';

/** Characters of one field of a line that a client, or an error that quotes it, chooses. */
export const maxLoggedLength = 512;

const cut = (text: string) => text.slice(0, maxLoggedLength);

/** The path of a request as it is logged. */
const loggedPath = ({ url }: FastifyRequest) => cut(url.split('?', 1).join());

/**
 * The log never contains query strings, headers (but `X-Client-Info`) or bodies of requests, because tokens and passwords are in them.
 */
export function loggerOptions(level: string, tracing?: Tracing) {
  return {
    level,
    ...(tracing ? { mixin: tracing.logFields } : {}),
    serializers: {
      req: (request: FastifyRequest) => ({ method: request.method, path: loggedPath(request) }),
      err: (error: Error) => describeError(error),
    },
  };
}

/** Milliseconds that the last lines may take when the process ends. */
const flushTimeout = 1_000;

/**
 * Standard output, written at least every 100 ms: a system call for each line is a tenth of a request's time. A reader that stalls and
 * a disk that is full lose lines, and delay no request.
 */
export function logStream(metrics: Metrics) {
  const stream = pino.destination({
    sync: false,
    minLength: 4096,
    periodicFlush: 100,
    // Bytes that wait for the reader; further lines are dropped.
    maxLength: 8 * 1024 * 1024,
  });
  // It would block the process for as long as a disk is full. `flushLog` writes what is left at the end.
  stream.flushSync = () => undefined;
  // The lines stay, and are written again with the next ones.
  stream.on('error', () => undefined);

  const counter = metrics.addCounter(
    'log_lines_dropped_total',
    'Log lines that standard output did not take',
  );
  let lines = 0;
  stream.on('drop', () => {
    counter.inc();
    lines += 1;
  });
  stream.on('drain', () => {
    if (lines > 0)
      pino(stream).warn({ lines }, 'log lines were dropped, because standard output was not read');
    lines = 0;
  });
  return stream;
}

/** Writes the lines that are left when the process ends, for at most {@link flushTimeout}. */
export async function flushLog(log: FastifyBaseLogger): Promise<void> {
  const flush = () => new Promise((resolve) => (log as Logger).flush(resolve));
  // The first one may find a write under way, which leaves some lines.
  await Promise.race([flush().then(flush), sleep(flushTimeout, undefined, { ref: false })]);
}

/** An error without its other properties: PostgreSQL's `detail`, for example, quotes the rejected row. */
function describeError(
  error: Error,
  depth = 0,
): { type: string; message: string; stack: string; [other: string]: unknown } {
  const { name, message, stack = '', cause } = error;
  const code = 'code' in error ? error.code : undefined;
  const reason = cause instanceof Error && depth < 3 ? { cause: describeError(cause, depth + 1) } : {};
  return { type: name, message: cut(message), stack: stack.replace(message, cut), code, ...reason };
}

/** The SDK and its version, such as `dure-js/0.1.0`: no other text of a client. */
function clientInfo({ headers }: FastifyRequest): string | undefined {
  const given = headers['x-client-info'];
  return typeof given === 'string' && /^[a-z-]{1,30}\/[\w.-]{1,30}$/.test(given) ? given : undefined;
}

/** The request id that the client sent, if it is 1-64 of `A-Za-z0-9._-`, else a new one. */
export function requestId(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && /^[A-Za-z0-9._-]{1,64}$/.test(given) ? given : randomUUID();
}

/** Logs one line per request. Health checks and scrapes that succeed are at `debug`. */
export const requestLogPlugin = fastifyPlugin(async (app: FastifyInstance) => {
  app.addHook('onResponse', (request, reply, done) => {
    const isProbe = request.routeOptions.config?.probe && reply.statusCode < 400;
    request.log[isProbe ? 'debug' : 'info'](
      {
        method: request.method,
        path: loggedPath(request),
        status: reply.statusCode,
        milliseconds: Math.round(reply.elapsedTime),
        address: request.clientIp,
        userId: claimedUserId(request),
        client: clientInfo(request),
      },
      'request',
    );
    done();
  });
});
