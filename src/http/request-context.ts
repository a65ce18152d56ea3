import { normalizeIP } from '@fastify/rate-limit';
import type { FastifyRequest } from 'fastify';
import type { Language } from './language.ts';

/** The security events of the service, by name: each domain adds its own (`declare module`). */
// biome-ignore lint/suspicious/noEmptyInterface: see above
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
