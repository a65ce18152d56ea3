import type { FastifyInstance } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import type { Config } from '../../config/config.ts';
import { forwardedClient, trustedProxies } from '../client-ip.ts';

/**
 * Finds the address of the client of every request; limits, counters, sessions and the log read `request.clientIp` and nothing
 * else. It is found at the start, because a socket that has disconnected has no address.
 */
export const clientIpPlugin = fastifyPlugin(async (app: FastifyInstance, { config }: { config: Config }) => {
  const isTrusted = trustedProxies(config.trustProxy || []);
  let isWarned = false;
  app.decorateRequest('clientIp', '');
  app.addHook('onRequest', async (request) => {
    const peer = request.socket.remoteAddress ?? '';
    // Node joins repeated headers of this name.
    const forwardedFor = String(request.headers['x-forwarded-for'] ?? '');
    request.clientIp = forwardedClient(peer, forwardedFor, isTrusted);
    if (forwardedFor === '' || isWarned || isTrusted(peer)) return;
    // Once, because every client can send the header.
    isWarned = true;
    request.log.warn(
      { peer },
      'X-Forwarded-For is ignored: TRUST_PROXY does not name the peer that sent it. Behind a proxy, all clients share one limit until it does',
    );
  });
});
