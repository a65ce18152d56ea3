import type { Queryable } from '../database/client.ts';
import { empty, sql } from '../database/sql.ts';

/** What an operator did. */
interface AuditEntry {
  id: number;
  created_at: Date;
  operator: string;
  action: string;
  subject_kind: string | null;
  subject_id: number | null;
  reason: string | null;
  request_id: string | null;
  address: string | null;
}

/** The newest entries, all or those about one account. */
export async function listAuditEntries(
  tx: Queryable,
  { limit, userId }: { limit: number; userId: number | undefined },
): Promise<AuditEntry[]> {
  const about =
    userId === undefined ? empty : sql`WHERE subject_kind = 'user' AND subject_id = ${userId}::bigint`;
  return tx.query<AuditEntry>(sql`
    SELECT id::float8 AS id, created_at, operator, action, subject_kind, subject_id::float8 AS subject_id, reason,
      request_id, address
    FROM audit_entries ${about} ORDER BY created_at DESC, audit_entries.id DESC LIMIT ${limit}`);
}
