import type { Tx } from '../../database/client.ts';
import { ApiError, httpErrors } from '../../http/errors.ts';
import { paginate } from '../../http/pagination.ts';
import { isId } from '../../http/path-ids.ts';
import type { MailQueue } from '../../mail/queue.ts';
import type { Audit } from '../audit.ts';
import type { Operator } from '../operator.ts';
import { toFailedMail } from '../presenters.ts';
import { failedMails } from '../repository/failed-mails.ts';
import type { PageQuery } from './users.ts';

interface FailedMailAdministrationOptions {
  audit: Audit;
  mailQueue: MailQueue;
}

export type FailedMailAdministration = ReturnType<typeof createFailedMailAdministration>;

/** What operators do with mails that failed for good, through the API and through the command. */
export function createFailedMailAdministration({ audit, mailQueue }: FailedMailAdministrationOptions) {
  const { audited } = audit;

  /** Newest first. @throws {ApiError} `invalid_cursor` */
  function list(operator: Operator, query: PageQuery) {
    return audited(operator, { action: 'failed_mails_listed' }, (tx) =>
      paginate(query, { isId, find: (page) => failedMails.list(tx, page), present: toFailedMail }),
    );
  }

  /** Puts a mail back into the queue: it leaves the failed ones in the same transaction. @throws {ApiError} `not_found` */
  function retry(operator: Operator, id: number): Promise<void> {
    return audited(operator, { action: 'failed_mail_retried', subject: subjectOf(id) }, async (tx) => {
      const { kind, payload } = await take(tx, id);
      await mailQueue.add(tx, kind, payload);
    });
  }

  /** Deletes a mail that is not worth another attempt. @throws {ApiError} `not_found` */
  function drop(operator: Operator, id: number): Promise<void> {
    return audited(operator, { action: 'failed_mail_dropped', subject: subjectOf(id) }, async (tx) => {
      await take(tx, id);
    });
  }

  return { list, retry, drop };
}

const subjectOf = (id: number) => ({ kind: 'failed_mail', id }) as const;

async function take(tx: Tx, id: number) {
  const mail = await failedMails.take(tx, id);
  if (mail === undefined) throw new ApiError(httpErrors.notFound);
  return mail;
}
