import { BlockList, isIP } from 'node:net';

declare module 'fastify' {
  interface FastifyRequest {
    /** The address of the client, without port and zone: of the peer, or as trusted proxies forward it. */
    clientIp: string;
  }
}

/** Names for ranges in `TRUST_PROXY`. */
const namedRanges: Record<string, readonly string[]> = {
  loopback: ['127.0.0.0/8', '::1'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
};

const family = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

/**
 * Whether an address is one of the trusted proxies. An IPv6 address that maps an IPv4 address is trusted as the latter.
 *
 * @param proxies addresses, CIDR ranges and names of ranges, as `loadConfig` has checked them
 */
export function trustedProxies(proxies: readonly string[]): (address: string) => boolean {
  const trusted = new BlockList();
  for (const range of proxies.flatMap((proxy) => namedRanges[proxy] ?? [proxy])) {
    const [address = '', bits] = range.split('/');
    if (bits === undefined) trusted.addAddress(address, family(address));
    else trusted.addSubnet(address, Number(bits), family(address));
  }
  return (address) => isIP(address) !== 0 && trusted.check(address, family(address));
}

/**
 * The address of a client behind proxies: the entries of `X-Forwarded-For` from the last to the first, for as long as the
 * sender of an entry is trusted. An entry that is not an address ends the search at the proxy that sent it. Such entries have
 * no counter of their own, otherwise each made-up value would have one.
 *
 * @param peer the other end of the connection
 */
export function forwardedClient(
  peer: string,
  forwardedFor: string,
  isTrusted: (address: string) => boolean,
): string {
  let client = withoutPort(peer);
  for (const entry of forwardedFor.split(',').reverse()) {
    const address = withoutPort(entry.trim());
    if (!isTrusted(client) || isIP(address) === 0) break;
    client = address;
  }
  return client;
}

/** An address without brackets, port and zone, which some proxies add: `203.0.113.8:1234`, `[2001:db8::1]:5`. */
export function withoutPort(text: string): string {
  const [, ipv6, ipv4] = /^\[([^\]]*)\](?::\d{1,5})?$|^([\d.]+):\d{1,5}$/.exec(text) ?? [];
  return (ipv6 ?? ipv4 ?? text).replace(/%.*$/, '');
}
