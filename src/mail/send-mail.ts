import type { FastifyBaseLogger } from 'fastify';
import type { Task } from 'graphile-worker';
import type { Database } from '../database/client.ts';
import { keepFailedMail, type MailPayload, readQueuedMail, reasonOf } from './queue.ts';
import { type Language, type Mail, type RenderedMail, renderMail } from './templates.ts';
import { MailRejectedError, type MailTransport } from './transport.ts';

/** A mail with all that its text depends on, and where it goes. */
export interface ComposedMail {
  to: string;
  language: Language;
  mail: Mail;
}

/**
 * By kind, looks up what the mail needs at the time it is sent; null when there is nothing to send any more, because
 * the code was superseded or the account is gone. What a composer throws is taken for temporary.
 */
export type MailComposers = Record<string, (payload: MailPayload) => Promise<ComposedMail | null>>;

/** What composing, sending and reporting a mail takes. */
export interface SendMailOptions {
  transport: MailTransport;
  composers: MailComposers;
  database: Pick<Database, 'client'>;
  logger: FastifyBaseLogger;
}

/** The task that makes one try to send a queued mail: composed and written anew each time, under the same key. */
export function createSendMail({ transport, composers, database, logger }: SendMailOptions): Task {
  return async (input, { job: { id, attempts, max_attempts } }) => {
    const { kind, payload, idempotencyKey } = readQueuedMail(input);
    const compose = Object.hasOwn(composers, kind) ? composers[kind] : undefined;
    let rendered: RenderedMail | undefined;
    try {
      if (compose === undefined) throw new MailRejectedError('There is no such kind of mail');
      const composed = await compose(payload);
      if (composed === null) {
        logger.info({ job: id, kind }, 'A mail was not sent because it is out of date');
        return;
      }
      rendered = renderMail(composed.mail, composed.language);
      await transport.send({ to: composed.to, ...rendered, idempotencyKey });
      logger.info({ job: id, kind, attempts, idempotencyKey }, 'A mail was sent');
    } catch (error) {
      const reason = withoutMailText(reasonOf(error), rendered);
      const report = { job: id, kind, payload, attempts, idempotencyKey, reason };
      if (!(error instanceof MailRejectedError)) {
        logger.warn({ ...report, triesLeft: max_attempts - attempts }, 'A mail was not sent');
        // graphile-worker keeps the message with the job, and plans the next try.
        throw new Error(reason);
      }
      logger.error(report, 'A mail was rejected and is not tried again');
      await keepFailedMail(database, { kind, payload, reason, attempts });
    }
  };
}

/** Takes out of an error what it may quote of the mail: whole lines, codes, and the parts of links. */
function withoutMailText(reason: string, mail: RenderedMail | undefined): string {
  if (mail === undefined) return reason.slice(0, 500);
  const lines = [mail.subject, ...mail.text.split('\n')]
    .map((line) => line.trim())
    .filter((line) => line.length > 9);
  const words = mail.text.split(/[\s?&=<>"']+/).filter((word) => /^(?=.*\d).{4,}|^.{16,}/.test(word));
  return [...lines, ...words]
    .sort((one, other) => other.length - one.length)
    .reduce((text, quoted) => text.replaceAll(quoted, '[...]'), reason)
    .slice(0, 500);
}
