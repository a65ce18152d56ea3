import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { withoutPort } from '../http/client-ip.ts';
import { ApiError, type ErrorDefinition } from '../http/errors.ts';

const misdirectedRequest: ErrorDefinition = {
  code: 'misdirected_request',
  status: 421,
  text: {
    ko: '개발용 화면은 localhost나 IP 주소로만 열 수 있습니다.',
    en: 'Pages for development open at localhost or at an IP address only.',
  },
};

/** @throws {ApiError} when `Host` is another name than `localhost`: it may be an attacker's that points here (DNS rebinding) */
export function requireOwnHost({ headers: { host = '' } }: FastifyRequest): void {
  if (/^localhost(:\d{1,5})?$/i.test(host) || isIP(withoutPort(host)) !== 0) return;
  throw new ApiError(misdirectedRequest);
}
