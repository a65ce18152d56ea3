import type { Command } from 'commander';
import { type AuditOptions, addCommand, addLimit, type Invocation, table, wholeNumber } from './command.ts';

/** `dure audit`. */
export function addAuditCommand(program: Command, invocation: Invocation): void {
  const audit = addCommand(program, 'audit', {
    summary: 'list what operators did, newest first',
    details:
      'Entries are of admins of the API (`admin:<user id>`) and of operators with this command (`cli:<name>`), looks at this list included. They are kept for a year.',
    examples: ['dure audit', 'dure audit --limit 200 --json', 'dure audit --user 12'],
    isAudited: true,
  });
  addLimit(audit, 1000, 20)
    .option(
      '--user <id>',
      'only what was done to this account, which may be deleted',
      wholeNumber(1, 2 ** 31 - 1),
    )
    .action(async ({ limit, user, operator }: AuditOptions & { limit: number; user?: number }) => {
      const { listAuditEntries } = await import('../domains/admin/index.ts');
      const { withAudit } = await import('./services.ts');
      const subject = user === undefined ? undefined : ({ kind: 'user', id: user } as const);
      const items = await withAudit(invocation, { action: 'audit_listed', subject, operator }, (tx) =>
        listAuditEntries(tx, { limit, userId: user }),
      );
      invocation.output.result({ items }, () => {
        const rows = items.map(({ subject_kind: kind, subject_id: id, ...entry }) => {
          return { ...entry, subject: kind && `${kind} ${id}` };
        });
        const columns = ['created_at', 'operator', 'action', 'subject', 'reason', 'address'] as const;
        return table(rows, columns, 'no audit entries');
      });
    });
}
