import { normalizeIP } from '@fastify/rate-limit';
import type { FastifyRequest } from 'fastify';

/** The length of the longest IP address in text. A proxy may pass on anything, so addresses are cut to it. */
export const maxAddressLength = 45;

/** The address by which a client is counted: IPv4 as it is, IPv6 by its /64, which is what one customer gets. */
export function clientAddress(request: FastifyRequest): string {
  // The socket has no address any more once the client has disconnected.
  return normalizeIP(request.ip ?? '', 64).slice(0, maxAddressLength);
}
