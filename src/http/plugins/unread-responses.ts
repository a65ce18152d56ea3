import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { claimedUserId } from '../authentication.ts';
import { clientAddress } from '../request-context.ts';

/** Bytes of responses that wait in memory for their clients: of one user, or one address without a user, of one address, and of all. */
const limits = { client: 8 * 1024 * 1024, address: 24 * 1024 * 1024, all: 64 * 1024 * 1024 };

/** Bytes of a response that is not counted, because the buffers of the system take it. */
const uncounted = 16 * 1024;

/** The most bytes of a file that are read ahead of its client. */
const readAhead = 128 * 1024;

interface Unread {
  client: string;
  address: string;
  bytes: number;
  /** Ends the watch of the connection. */
  forget(): void;
}

/**
 * Bounds the memory of responses that clients do not read: beyond a limit, the connection that has been sending the longest is closed.
 * The server's `connectionTimeout` closes one whose client reads nothing. Event streams have limits of their own.
 */
export const unreadResponsesPlugin = fastifyPlugin(async (app: FastifyInstance) => {
  // The one that has been sending the longest comes first.
  const sending = new Map<Socket, Unread>();

  function watch(request: FastifyRequest, client: string): Unread {
    const { socket, log, clientIp } = request;
    const one = { client, address: clientAddress(request), bytes: 0, forget };
    function forget(): void {
      sending.delete(socket);
      socket.off('close', report);
    }
    // The line about the request does not say that its response was cut.
    function report(): void {
      forget();
      log.info({ address: clientIp, bytes: one.bytes }, 'connection closed during a response');
    }
    socket.once('close', report);
    sending.set(socket, one);
    return one;
  }

  function closeBeyond(limit: number, isCounted: (one: Unread) => boolean): void {
    const counted = [...sending].filter(([socket, one]) => !socket.destroyed && isCounted(one));
    let total = counted.reduce((sum, [, { bytes }]) => sum + bytes, 0);
    for (const [socket, { bytes }] of counted) {
      if (total <= limit) return;
      total -= bytes;
      socket.destroy();
    }
  }

  app.addHook('onSend', (request, reply, payload: unknown, done) => {
    done(null, payload);
    const bytes = bufferedBytes(payload, reply);
    if (bytes <= uncounted || request.socket.destroyed) return;
    const client = String(claimedUserId(request) ?? clientAddress(request));
    // A client that sends requests without reading has several responses on one connection.
    const unread = sending.get(request.socket) ?? watch(request, client);
    unread.bytes += bytes;
    reply.raw.once('finish', () => {
      // Also emitted by Node when the connection is closed.
      if (request.socket.destroyed) return;
      unread.bytes -= bytes;
      if (unread.bytes === 0) unread.forget();
    });
    closeBeyond(limits.client, (one) => one.client === client);
    closeBeyond(limits.address, (one) => one.address === unread.address);
    closeBeyond(limits.all, () => true);
  });
});

/** The most bytes of a response that are in memory at a time. */
function bufferedBytes(payload: unknown, reply: FastifyReply): number {
  if (typeof payload === 'string') return payload.length > uncounted / 3 ? Buffer.byteLength(payload) : 0;
  if (Buffer.isBuffer(payload)) return payload.length;
  const length = reply.getHeader('content-length');
  if (length === undefined) return reply.request.routeOptions.config.readAhead ?? 0;
  return Math.min(Number(length), readAhead);
}
