import type { Queryable } from '../../database/client.ts';
import type { PageRequest } from '../../database/keyset.ts';
import { empty, sql } from '../../database/sql.ts';
import type { MailPayload } from '../../mail/queue.ts';
import type { FailedMail } from '../schemas.ts';

export interface FailedMailRow extends Omit<FailedMail, 'created_at'> {
  created_at: Date;
}

/** Mails that failed for good, as operators see them. */
export const failedMails = {
  /** Newest first. What a mail is made from is not read: operators need its kind and its reason. */
  async list(tx: Queryable, { after, limit }: PageRequest): Promise<FailedMailRow[]> {
    const older = after === undefined ? empty : sql`WHERE id < ${Number(after.id)}::int`;
    return tx.query<FailedMailRow>(sql`
      SELECT id::int, user_id, kind, reason, attempts::int, created_at FROM failed_mails ${older}
      ORDER BY failed_mails.id DESC LIMIT ${limit}`);
  },

  /** Deletes a failed mail. Of concurrent calls one gets it. @returns what the mail is made from */
  async take(tx: Queryable, id: number): Promise<{ kind: string; payload: MailPayload } | undefined> {
    const [mail] = await tx.query<{ kind: string; payload: MailPayload }>(sql`
      DELETE FROM failed_mails WHERE id = ${id}::bigint RETURNING kind, payload`);
    return mail;
  },
};
