import type { FastifyInstance, FastifyRequest } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { findClientIp } from '../client-ip.ts';

/**
 * Finds the address of the client of every request; limits, counters, sessions and the log read `request.clientIp` and nothing
 * else. It is found at the start, because a socket that has disconnected has no address.
 */
export const clientIpPlugin = fastifyPlugin(async (app: FastifyInstance) => {
  let isWarned = false;
  app.decorateRequest('clientIp', '');
  app.addHook('onRequest', (request, _reply, done) => {
    request.clientIp = findClientIp(request);
    // Once, because every client can send the header.
    if (!isWarned && isForwardedByStranger(request)) {
      isWarned = true;
      request.log.warn(
        { peer: request.clientIp },
        'X-Forwarded-For is ignored: TRUST_PROXY does not name the peer that sent it. Behind a proxy, all clients share one limit until it does',
      );
    }
    done();
  });
});

/** The list of addresses has the peer alone when it is not trusted. */
function isForwardedByStranger({ headers, ips }: FastifyRequest): boolean {
  return Boolean(headers['x-forwarded-for']) && (ips?.length ?? 0) <= 1;
}
