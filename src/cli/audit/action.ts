import { createAudit } from '../../admin/audit.ts';
import { listAuditEntries } from '../../admin/audit-entries.ts';
import { withDatabase } from '../connection.ts';
import type { Invocation } from '../invocation.ts';
import { createOperator } from '../operator.ts';
import { table } from '../output.ts';

/** `dure audit`. */
export async function listAudit(
  invocation: Invocation,
  options: { limit: number; user?: number; operator?: string },
): Promise<void> {
  const { environment, output } = invocation;
  const operator = createOperator(invocation, options);
  const { limit, user } = options;
  const subject = user === undefined ? undefined : ({ kind: 'user', id: user } as const);
  const entries = await withDatabase(environment, (database) =>
    createAudit(database).audited(operator, { action: 'audit_listed', subject }, (tx) =>
      listAuditEntries(tx, { limit, userId: user }),
    ),
  );
  output.result({ items: entries }, () =>
    table(
      ['created_at', 'operator', 'action', 'subject', 'reason', 'address'],
      entries.map((entry) => [
        entry.created_at,
        entry.operator,
        entry.action,
        entry.subject_kind === null ? null : `${entry.subject_kind} ${entry.subject_id}`,
        entry.reason,
        entry.address,
      ]),
      'no audit entries',
    ),
  );
}
