import type { FastifyInstance } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { findClientIp } from '../client-ip.ts';

/**
 * Finds the address of the client of every request; limits, counters, sessions and the log read `request.clientIp` and nothing
 * else. It is found at the start, because a socket that has disconnected has no address.
 */
export const clientIpPlugin = fastifyPlugin(async (app: FastifyInstance) => {
  let isWarned = false;
  app.decorateRequest('clientIp', '');
  app.addHook('onRequest', async (request) => {
    request.clientIp = findClientIp(request);
    const isForwarded = Boolean(request.headers['x-forwarded-for']);
    // The list has the peer alone when it is not trusted.
    if (!isForwarded || isWarned || (request.ips?.length ?? 0) > 1) return;
    // Once, because every client can send the header.
    isWarned = true;
    request.log.warn(
      { peer: request.clientIp },
      'X-Forwarded-For is ignored: TRUST_PROXY does not name the peer that sent it. Behind a proxy, all clients share one limit until it does',
    );
  });
});
