import { normalizeIP } from '@fastify/rate-limit';
import type { FastifyRequest } from 'fastify';

/** The length of the longest IP address in text. A proxy may pass on anything, so addresses are cut to it. */
const maxAddressLength = 45;

/** The client's IP address, or an empty text when the client has disconnected: then the socket has none any more. */
export function ipOf(request: FastifyRequest): string {
  return (request.ip ?? '').slice(0, maxAddressLength);
}

/** The address by which a client is counted: IPv4 as it is, IPv6 by its /64, which is what one customer gets. */
export function clientAddress(request: FastifyRequest): string {
  return normalizeIP(ipOf(request), 64);
}
