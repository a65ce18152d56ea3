import { Type } from '@sinclair/typebox';
import type { FastifyPluginAsync } from 'fastify';
import type { OutgoingMail } from '../../infrastructure/mail/transport.ts';
import { requireOwnHost } from '../own-host.ts';
import { type StoredMail, sendMailboxPage } from './page.ts';

type DevMailbox = ReturnType<typeof createDevMailbox>;

/** Keeps emails in development instead of sending them: in memory only, because they contain codes and links. */
export function createDevMailbox() {
  // By idempotency key, oldest first.
  const mails = new Map<string, StoredMail>();
  let lastId = 0;

  return {
    async send({ to, language, subject, text, html, idempotencyKey }: OutgoingMail): Promise<void> {
      if (mails.has(idempotencyKey)) return;
      const created_at = new Date().toISOString();
      mails.set(idempotencyKey, { id: ++lastId, to, language, subject, text, html, created_at });
      for (const key of mails.keys()) if (mails.size > 200) mails.delete(key);
    },
    /** The newest 200 emails, newest first: to one address, in any case, or to all. */
    list(to?: string): StoredMail[] {
      const newestFirst = [...mails.values()].reverse();
      return to ? newestFirst.filter((mail) => mail.to.toLowerCase() === to.toLowerCase()) : newestFirst;
    },
  };
}

/**
 * `GET /dev/mailbox/`: a page with the emails, or with `Accept: application/json` `{ items: StoredMail[] }`; `?to=` leaves those
 * to one address. Register it outside production only: the emails are enough to take over any account.
 */
export const devMailboxRoutes: FastifyPluginAsync<{ mailbox: DevMailbox }> = async (app, { mailbox }) => {
  const schema = { hide: true, querystring: Type.Object({ to: Type.Optional(Type.String()) }) };
  app.get<{ Querystring: { to?: string } }>(
    '/dev/mailbox/',
    // The open page polls, so its requests are not logged.
    { schema, logLevel: 'warn', onRequest: requireOwnHost },
    async ({ query, headers, language }, reply) => {
      // A plus sign that is not encoded arrives as a space, which no address has.
      const to = query.to?.trim().replaceAll(' ', '+');
      const mails = mailbox.list(to);
      if (headers.accept?.includes('application/json')) return { items: mails };
      return sendMailboxPage(reply, mails, language, to);
    },
  );
};
