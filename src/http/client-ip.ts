import { isIP } from 'node:net';
import { compile } from '@fastify/proxy-addr';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import fastifyPlugin from 'fastify-plugin';

declare module 'fastify' {
  interface FastifyRequest {
    /** The address of the client, without port and zone: of the peer, or as trusted proxies forward it. */
    clientIp: string;
  }
}

/** The most proxies between a client and the service. A client can send a longer list, which costs time to follow. */
const maxHops = 16;

/**
 * Fastify's `trustProxy` for a list of proxies, which may add ports to the addresses that they forward.
 *
 * @param proxies addresses, CIDR ranges and names of ranges, as `loadConfig` has checked them
 */
export function trustedProxies(proxies: readonly string[]): (address: string, hop: number) => boolean {
  const isTrusted = compile([...proxies]);
  return (address, hop) => hop < maxHops && isTrusted(withoutPort(address), 0);
}

/**
 * The address of a client: the last one that a trusted proxy sent. What is no address counts for the proxy that sent it; it has no
 * counter of its own, otherwise each made-up value would have one.
 */
function findClientIp({ ips, socket }: FastifyRequest): string {
  // Without trusted proxies there is no list.
  const addresses = ips ?? [socket.remoteAddress ?? ''];
  return addresses.map(withoutPort).findLast((address) => isIP(address) !== 0) ?? '';
}

/** An address without brackets, port and zone, which some proxies add: `203.0.113.8:1234`, `[2001:db8::1]:5`. */
export function withoutPort(text: string): string {
  const [, ipv6, ipv4] = /^\[([^\]]*)\](?::\d{1,5})?$|^([\d.]+):\d{1,5}$/.exec(text) ?? [];
  return (ipv6 ?? ipv4 ?? text).replace(/%.*$/, '');
}

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

/** The list of addresses has the peer alone when it is not trusted, or when the header is only commas. */
function isForwardedByStranger({ headers, ips }: FastifyRequest): boolean {
  return /[^\s,]/.test(String(headers['x-forwarded-for'] ?? '')) && (ips?.length ?? 0) <= 1;
}
