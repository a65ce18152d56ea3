import type { ExpiredRows } from '../database/clean-up.ts';
import type { Database, Queryable, Tx } from '../database/client.ts';
import { sql } from '../database/sql.ts';
import type { Operator } from './operator.ts';

/** What operators do. The log has them as `admin_<action>`. */
export type AuditAction =
  | 'users_listed'
  | 'user_shown'
  | 'user_suspended'
  | 'user_reactivated'
  | 'user_deleted'
  | 'user_made_admin'
  | 'user_made_user'
  | 'sessions_listed'
  | 'sessions_ended'
  | 'failed_mails_listed'
  | 'failed_mail_retried'
  | 'failed_mail_dropped'
  | 'reports_listed'
  | 'report_closed_none'
  | 'report_closed_hide'
  | 'jobs_unlocked'
  | 'audit_listed';

/** An action, what it was done to, and why. */
export interface AuditedAction {
  action: AuditAction;
  /** Undefined for lists, except a list of one account. */
  subject?: { kind: 'user' | 'failed_mail' | 'report'; id: number } | undefined;
  /** In the words of the operator. */
  reason?: string | undefined;
}

/** Audit entries are kept for a year. */
export const expiredAuditEntries: ExpiredRows = {
  table: 'audit_entries',
  condition: sql`created_at < now() - interval '1 year'`,
};

export type Audit = ReturnType<typeof createAudit>;

/** Work of operators, none of which happens without an audit entry. */
export function createAudit(database: Database) {
  /**
   * Does an operator's work and writes its audit entry in one transaction, then a line of the log. The entry has ids and the
   * reason; the line has no reason, because that may be about a person.
   *
   * @param entry or a function of the result
   */
  async function audited<Result>(
    operator: Operator,
    entry: AuditedAction | ((result: Result) => AuditedAction),
    work: (tx: Tx) => Promise<Result>,
  ): Promise<Result> {
    const { result, action, subject } = await database.runInTransaction(async (tx) => {
      const result = await work(tx);
      const recorded = typeof entry === 'function' ? entry(result) : entry;
      await record(tx, operator, recorded);
      return { result, ...recorded };
    });
    const event = `admin_${action}`;
    const { name, request, log } = operator;
    log.info({ event, operator: name, subject, address: request?.address }, `security event: ${event}`);
    return result;
  }

  return { audited };
}

async function record(
  tx: Queryable,
  { name, request }: Operator,
  { action, subject, reason }: AuditedAction,
): Promise<void> {
  await tx.execute(sql`
    INSERT INTO audit_entries (operator, action, subject_kind, subject_id, reason, request_id, address)
    VALUES (${name}, ${action}, ${subject?.kind ?? null}, ${subject?.id ?? null}::bigint, ${reason ?? null},
      ${request?.id ?? null}, ${request?.address ?? null})`);
}
