import { isIP } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError, defineError } from '../http/errors.ts';
import { withoutPort } from '../http/request-context.ts';

const misdirectedRequest = defineError(421, 'misdirected_request', {
  ko: '개발용 화면은 localhost나 IP 주소로만 열 수 있습니다.',
  en: 'Pages for development open at localhost or at an IP address only.',
});

/** For pages of development. @throws {ApiError} for another host name than `localhost`: an attacker's may point here (DNS rebinding) */
export async function requireOwnHost(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  reply.header('cache-control', 'no-store');
  const { host = '' } = request.headers;
  if (/^localhost(:\d{1,5})?$/i.test(host) || isIP(withoutPort(host)) !== 0) return;
  throw new ApiError(misdirectedRequest);
}
