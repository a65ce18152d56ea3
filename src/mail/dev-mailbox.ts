// brings `schema.hide`

import { isIP } from 'node:net';
import type {} from '@fastify/swagger';
import type { FastifyPluginAsync } from 'fastify';
import { withoutPort } from '../http/client-ip.ts';
import { ApiError, type ErrorDefinition } from '../http/errors.ts';
import { negotiateLanguage } from '../http/language.ts';
import { contentSecurityPolicy, renderMailboxPage, type StoredMail } from './dev-mailbox-page.ts';
import type { MailTransport } from './transport.ts';

/** Keeps mails in development instead of sending them. */
export interface DevMailbox extends MailTransport {
  /** The newest 200 mails, newest first. */
  list(): StoredMail[];
}

const capacity = 200;

const misdirectedRequest: ErrorDefinition = {
  code: 'misdirected_request',
  status: 421,
  text: {
    ko: '개발용 메일함은 localhost나 IP 주소로만 열 수 있습니다.',
    en: 'The dev mailbox opens at localhost or at an IP address only.',
  },
};

/** A mailbox in memory: mails contain codes and links, so they are not stored on disk or in the database. */
export function createDevMailbox(): DevMailbox {
  // By idempotency key, oldest first.
  const mails = new Map<string, StoredMail>();
  let lastId = 0;

  return {
    async send({ to, subject, text, html, idempotencyKey }) {
      if (mails.has(idempotencyKey)) return;
      const created_at = new Date().toISOString();
      mails.set(idempotencyKey, { id: ++lastId, to, subject, text, html, created_at });
      for (const key of mails.keys()) if (mails.size > capacity) mails.delete(key);
    },
    list: () => [...mails.values()].reverse(),
  };
}

/**
 * Whether a `Host` names the machine itself. Any other name may be one that an attacker's page points to this machine, to read
 * the mails in a developer's browser (DNS rebinding).
 */
function isOwnHost(host = ''): boolean {
  return /^localhost(:\d{1,5})?$/i.test(host) || isIP(withoutPort(host)) !== 0;
}

/**
 * `GET /dev/mailbox/`: a page with the mails, or with `Accept: application/json` `{ items: StoredMail[] }`. Register it
 * outside production only: the mails are enough to take over any account.
 */
export const devMailboxRoutes: FastifyPluginAsync<{ mailbox: DevMailbox }> = async (app, { mailbox }) => {
  // The open page polls, so its requests are not logged.
  app.get('/dev/mailbox/', { schema: { hide: true }, logLevel: 'warn' }, async (request, reply) => {
    reply.header('cache-control', 'no-store');
    const { host, accept, 'accept-language': acceptLanguage } = request.headers;
    if (!isOwnHost(host)) throw new ApiError(misdirectedRequest);
    if (accept?.includes('application/json')) return { items: mailbox.list() };
    return reply
      .header('content-security-policy', contentSecurityPolicy)
      .type('text/html; charset=utf-8')
      .send(renderMailboxPage(mailbox.list(), negotiateLanguage(acceptLanguage)));
  });
};
