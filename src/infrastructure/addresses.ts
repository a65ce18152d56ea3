import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** The host of a URL, without the brackets of IPv6. */
export const hostOf = ({ hostname }: URL) => hostname.replace(/^\[|\]$/g, '').toLowerCase();

/** Names that mean this machine (RFC 6761, section 6.3), and its addresses. */
export function isLoopback(host: string): boolean {
  return isIP(host) ? ipaddr.process(host).range() === 'loopback' : /(^|\.)localhost$/.test(host);
}

/** IPv6 that is given to the internet (RFC 4291, section 2.4). */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');

/** Whether an IP address is public unicast. IPv6 with IPv4 in it counts as that (mapped) or is not public (6to4, NAT64, Teredo). */
export function isPublic(address: string): boolean {
  // The library reads more, such as octal numbers.
  if (isIP(address) === 0) return false;
  const parsed = ipaddr.process(address);
  const isGiven = parsed instanceof ipaddr.IPv4 || parsed.match(globalUnicast);
  return isGiven && parsed.range() === 'unicast';
}
