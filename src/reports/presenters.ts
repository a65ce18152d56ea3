import type { ReportRow } from './repository.ts';
import type { Report } from './schemas.ts';

/** A report as admins see it. */
export function toReport(row: ReportRow): Report {
  return {
    ...row,
    target: row.post === null ? 'store' : 'post',
    status: row.closed_at === null ? 'open' : 'closed',
    created_at: row.created_at.toISOString(),
    closed_at: row.closed_at?.toISOString() ?? null,
  };
}
