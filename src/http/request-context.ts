import { isIP } from 'node:net';
import { compile } from '@fastify/proxy-addr';
import { normalizeIP } from '@fastify/rate-limit';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { defaultLanguage, type Language, negotiateLanguage } from './language.ts';

/** The security events of the service, by name: each domain adds its own (`declare module`). */
// biome-ignore lint/suspicious/noEmptyInterface: domains add its members
export interface SecurityEvents {}

/** The account and the session of a security event. */
export interface EventSubject {
  id: number | undefined;
  sessionId?: string;
}

/** What services know of the request they work for. */
export interface RequestContext {
  language: Language;
  /** The client's address, for people. */
  ip: string;
  /** The client's address as limits and counters use it: IPv6 by its /64. */
  clientAddress: string;
  /** The same with IPv6 by its /48. */
  clientNetwork: string;
  /** The `User-Agent` without control characters, at most 400 characters. */
  userAgent: string;
  /** Logs a security event with the request's id, and counts it. Must not get anything secret. */
  logSecurityEvent(event: keyof SecurityEvents, subject: EventSubject): void;
}

/** The context of a request. */
export function requestContext(request: FastifyRequest): RequestContext {
  return {
    language: request.language,
    ip: request.clientIp,
    clientAddress: clientAddress(request),
    clientNetwork: clientAddress(request, 48),
    userAgent: (request.headers['user-agent'] ?? '').replace(/\p{Cc}/gu, '').slice(0, 400),
    logSecurityEvent(event, { id: userId, sessionId }) {
      request.server.countSecurityEvent(event);
      request.log.info({ event, userId, sessionId, address: request.clientIp }, `security event: ${event}`);
    },
  };
}

/** Addresses by client, because to parse an IPv6 address costs a third of a cheap request. */
const knownAddresses = new Map<string, string>();
const maxKnownAddresses = 10_000;

/** The address by which a client is counted: IPv4 as it is, IPv6 by its /64 or its /48, the least and the most that customers get. */
export function clientAddress({ clientIp }: FastifyRequest, prefix: 64 | 48 = 64): string {
  const key = `${clientIp}/${prefix}`;
  const known = knownAddresses.get(key);
  if (known !== undefined) return known;
  if (knownAddresses.size === maxKnownAddresses) knownAddresses.clear();
  const address = normalizeIP(clientIp, prefix);
  knownAddresses.set(key, address);
  return address;
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Counts a security event. */
    countSecurityEvent(event: string): void;
  }
  interface FastifyRequest {
    /** The address of the client, without port and zone: of the peer, or as trusted proxies forward it. */
    clientIp: string;
    /** The language of the response: negotiated from `Accept-Language`, or that of a stored response. */
    language: Language;
  }
}

/** The most proxies between a client and the service. A client can send a longer list, which costs time to follow. */
const maxHops = 16;

/** Fastify's `trustProxy` for a checked list of proxies, which may add ports to the addresses that they forward. */
export function trustedProxies(proxies: readonly string[]): (address: string, hop: number) => boolean {
  const isTrusted = compile([...proxies]);
  return (address, hop) => hop < maxHops && isTrusted(withoutPort(address), 0);
}

/** The address of a client: the last one that a trusted proxy sent. What is no address counts for that proxy, not by itself. */
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
 * Finds the address of the client, for limits, sessions and the log, and the language, at the start: a closed socket has no address.
 * Sends the id and the language.
 */
export const requestContextPlugin = fastifyPlugin(async (app: FastifyInstance) => {
  let isWarned = false;
  app.decorateRequest('clientIp', '');
  app.decorateRequest('language', defaultLanguage);
  app.addHook('onRequest', (request, reply, done) => {
    request.clientIp = findClientIp(request);
    request.language = negotiateLanguage(request.headers['accept-language']);
    reply.headers({
      'x-request-id': request.id,
      'content-language': request.language,
      vary: 'Accept-Language',
    });
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
