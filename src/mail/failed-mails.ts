import type { ExpiredRows } from '../database/clean-up.ts';
import { sql } from '../database/sql.ts';

/** Failed mails that operators had time to look at. */
export const expiredFailedMails: ExpiredRows = {
  table: 'failed_mails',
  condition: sql`created_at < now() - interval '90 days'`,
};
