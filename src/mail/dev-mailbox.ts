import { randomBytes, randomUUID } from 'node:crypto';
// brings `schema.hide`
import type {} from '@fastify/swagger';
import type { FastifyPluginAsync } from 'fastify';
import Negotiator from 'negotiator';
import { negotiateLanguage } from '../http/language.ts';
import { renderMailboxPage, type StoredMail } from './dev-mailbox-page.ts';
import type { MailTransport } from './transport.ts';

export type { StoredMail } from './dev-mailbox-page.ts';

/** Takes the mails that nobody sends while developing, and shows them. */
export interface DevMailbox extends MailTransport {
  /** The mails, newest first; at most the newest 200. */
  list(): StoredMail[];
}

const capacity = 200;

/**
 * A mailbox in the memory of this process: nothing of it reaches a disk or the database, because mails hold codes and
 * links. It is empty after a restart and not shared with other instances.
 */
export function createDevMailbox(): DevMailbox {
  // in the order of arrival; a Map keeps it, and the key finds a mail that was sent before
  const mails = new Map<string, StoredMail>();
  let lastId = 0;

  return {
    async send({ to, subject, text, html, idempotencyKey }) {
      if (mails.has(idempotencyKey)) return;
      lastId += 1;
      mails.set(idempotencyKey, {
        id: lastId,
        to,
        subject,
        text,
        html,
        created_at: new Date().toISOString(),
      });
      if (mails.size > capacity) {
        const [oldest] = mails.keys();
        if (oldest !== undefined) mails.delete(oldest);
      }
    },
    list: () => [...mails.values()].reverse(),
  };
}

/**
 * Scripts run with the page's nonce only, so none of a mail's can. Mails are drawn in a frame that inherits this policy
 * and are styled inline, hence `unsafe-inline` for styles.
 */
function contentSecurityPolicy(nonce: string): string {
  return [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    "style-src 'unsafe-inline'",
    "connect-src 'self'",
    "frame-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
}

/** Adds to a `Vary` that may be there already. */
function varyBy(existing: string | number | string[] | undefined, ...names: string[]): string {
  const fields = [existing ?? []].flat().flatMap((field) => String(field).split(/\s*,\s*/));
  const missing = names.filter((name) => !fields.some((field) => field.toLowerCase() === name.toLowerCase()));
  return [...fields, ...missing].join(', ');
}

/**
 * `GET /dev/mailbox/`: a page with the mails, or with `Accept: application/json` `{ items: StoredMail[] }`. To be
 * registered outside production only: who reads it can take over any account.
 */
export const devMailboxRoutes: FastifyPluginAsync<{ mailbox: DevMailbox }> = async (app, { mailbox }) => {
  // ids start again with the process, so they alone do not tell an open page what it has shown already
  const instance = randomUUID();

  // the open page asks every few seconds, which is no news for the log
  app.get('/dev/mailbox/', { schema: { hide: true }, logLevel: 'warn' }, async (request, reply) => {
    const mails = mailbox.list();
    reply.headers({
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      vary: varyBy(reply.getHeader('vary'), 'Accept', 'Accept-Language'),
    });
    // of two that are equally welcome (a browser's or curl's */*) the first is the answer
    const type = new Negotiator(request.raw).mediaType(['text/html', 'application/json']);
    if (type === 'application/json') return { items: mails };

    const language = negotiateLanguage(request.headers['accept-language']);
    const version = `W/"${language}-${instance}-${mails[0]?.id ?? 0}"`;
    reply.header('etag', version);
    if (request.headers['if-none-match'] === version) return reply.code(304).send();

    const nonce = randomBytes(16).toString('base64');
    return reply
      .headers({ 'content-security-policy': contentSecurityPolicy(nonce), 'content-language': language })
      .type('text/html; charset=utf-8')
      .send(renderMailboxPage({ mails, language, nonce, version, instance }));
  });
};
