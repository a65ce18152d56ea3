import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { ApiError, httpErrors } from '../errors.ts';
import { refuseConnection } from './client-errors.ts';

/** A name or an address, and a port (RFC 3986, section 3.2.2). */
const authority = /^([\w.~!$&'()*+,;=%-]*|\[[\da-f:.]+\])(:\d*)?$/i;

/**
 * Refuses what Node's parser lets through and RFC 9112 does not: what two servers in a row may read differently must not be
 * read at all. Such a connection is not used any further, nor is anything done that came on it behind such a request.
 */
export const messageFramingPlugin = fastifyPlugin(async (app: FastifyInstance) => {
  const refused = new WeakSet<Socket>();
  app.addHook('onRequest', async ({ raw }, reply) => {
    const fault = refused.has(raw.socket) ? 'behind a refused request' : faultOf(raw);
    if (fault === undefined) return;
    refused.add(raw.socket);
    reply.headers({ connection: 'close', 'cache-control': 'no-store' });
    throw new ApiError(httpErrors.malformedRequest, { cause: new Error(fault) });
  });
  // Node would pass over all headers after the two thousandth; their size is limited in any case.
  app.server.maxHeadersCount = 0;
  // Nothing here is a tunnel; Node alone would close the connection without a word.
  app.server.on('connect', (_request, socket) => refuseConnection(app, socket, new Error('a tunnel')));
});

/** What is wrong with the head of a request by sections 2.3, 3.2 and 6.1 of RFC 9112. */
function faultOf({ httpVersion, rawHeaders, headers, socket }: IncomingMessage): string | undefined {
  // Nobody is there to be answered, and nobody could say any more from which address it came.
  if (socket.remoteAddress === undefined) return 'the client is gone';
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return 'another version of HTTP';
  const hosts = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host').length;
  if (hosts > 1 || (hosts === 0 && httpVersion === '1.1')) return `${hosts} Host headers`;
  if (!authority.test(headers.host ?? '')) return 'a Host header that names no host';
  const coding = headers['transfer-encoding'];
  return coding === undefined || /^chunked$/i.test(coding)
    ? undefined
    : 'another transfer coding than chunked';
}
