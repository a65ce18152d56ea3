import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';

/** An address that must not be called, because it is not public. */
export class RefusedAddressError extends Error {
  override name = 'RefusedAddressError';
}

/** Which URLs may be called. */
export interface CallableUrls {
  /** Outside production: addresses of this machine, with `http` and any port, too. */
  allowsLoopback: boolean;
  /** Hosts, as `push.example.com`, `*.example.com` or `*`, which is the default. */
  hosts?: readonly string[];
}

interface GuardedRequest extends CallableUrls {
  headers: Record<string, string | number>;
  body: Buffer;
  /** Milliseconds for everything, from the resolution of the name to the headers of the response. */
  timeout: number;
  /** What a name stands for, as IP addresses. @throws when it cannot be resolved */
  resolve?: (name: string, signal: AbortSignal) => Promise<string[]>;
}

/**
 * Whether a URL may be called, as far as it says by itself: `https` on its usual port, without credentials, at a listed host, and no
 * address that is not public.
 */
export function isCallable(url: URL, { allowsLoopback, hosts = ['*'] }: CallableUrls): boolean {
  const { protocol, hostname, port, username, password } = url;
  const host = hostname.replace(/^\[|\]$/g, '').toLowerCase();
  if (`${username}${password}` !== '') return false;
  if (allowsLoopback && isLoopback(host)) return /^https?:$/.test(protocol);
  const isListed = hosts.some(
    (one) => one === '*' || one === host || (one.startsWith('*.') && host.endsWith(one.slice(1))),
  );
  const isHttps = protocol === 'https:' && port === '';
  return isHttps && isListed && (isIP(host) === 0 ? !isLoopback(host) : isPublic(host));
}

/** Names that mean this machine (RFC 6761, section 6.3), and its addresses. */
function isLoopback(host: string): boolean {
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

/**
 * Posts to a URL that a user gave, so that it cannot reach what only this machine can: the name is resolved once, by the connection,
 * and all its addresses must be public. Redirects and proxies are not followed, the body of the response is not read.
 *
 * @throws {RefusedAddressError} before anything is sent; any other error when there is no response in time
 */
export async function guardedFetch(
  url: URL,
  { headers, body, timeout, resolve = resolveName, ...callable }: GuardedRequest,
): Promise<{ status: number; headers: IncomingHttpHeaders }> {
  if (!isCallable(url, callable)) throw new RefusedAddressError(`${url.host} must not be called`);
  const signal = AbortSignal.timeout(timeout);
  /** Of a name; connections to an address have no lookup. */
  async function findAddresses(name: string): Promise<LookupAddress[]> {
    if (callable.allowsLoopback && isLoopback(name)) return [{ address: '127.0.0.1', family: 4 }];
    const addresses = await resolve(name, signal);
    if (addresses.length > 0 && addresses.every(isPublic))
      return addresses.map((address) => ({ address, family: isIP(address) }));
    throw new RefusedAddressError(`${name} has an address that must not be called`);
  }
  const lookup: LookupFunction = (name, { all }, callback) => {
    findAddresses(name).then(
      (found) => (all ? callback(null, found) : callback(null, found[0]?.address ?? '', found[0]?.family)),
      (error) => callback(error, []),
    );
  };
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((done, fail) => {
    // Without an agent, the connection is closed after the response, and the environment names no proxy.
    send(url, { method: 'POST', headers, signal, agent: false, lookup })
      .on('response', (response) => {
        response.on('error', () => undefined).destroy();
        done({ status: response.statusCode ?? 0, headers: response.headers });
      })
      .on('error', fail)
      .end(body);
  });
}

/** Asks the name servers. Unlike `dns.lookup` that blocks no thread of the pool, and it reads no names of the local network. */
async function resolveName(name: string, signal: AbortSignal): Promise<string[]> {
  const resolver = new Resolver();
  signal.addEventListener('abort', () => resolver.cancel());
  const results = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  const addresses = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
  const [failed] = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
  if (addresses.length === 0) throw failed;
  return addresses;
}
