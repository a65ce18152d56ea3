import type { ExpiredRows } from '../database/clean-up.ts';
import { type Sql, sql } from '../database/sql.ts';

/** Failed mails are kept for 90 days, so that an operator can look at them, or until their account is deleted. */
export const expiredFailedMails: ExpiredRows = {
  table: 'failed_mails',
  condition: sql`created_at < now() - interval '90 days'`,
};

/**
 * A statement that keeps failed mails, those to a deleted account excepted; it waits for a deletion that is in progress, and
 * locks users in the order of the rows. It returns what it kept.
 *
 * @param mails SQL of rows with `user_id`, `kind`, `payload`, `reason` and `attempts`
 */
export function keepFailedMails(mails: Sql): Sql {
  return sql`
    INSERT INTO failed_mails (user_id, kind, payload, reason, attempts)
    SELECT user_id, kind, payload, reason, attempts FROM (${mails}) failed
    WHERE user_id IS NULL OR EXISTS (SELECT FROM users WHERE id = failed.user_id FOR KEY SHARE)
    RETURNING kind, payload, reason, attempts`;
}
