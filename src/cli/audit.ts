import type { Command } from 'commander';
import { leaf, wholeNumber, withOperator } from './command.ts';
import type { Invocation } from './invocation.ts';

/** `dure audit`. */
export function addAuditCommand(program: Command, invocation: Invocation): void {
  withOperator(
    leaf(program, 'audit', {
      summary: 'list what operators did, newest first',
      description:
        'Lists the newest audit entries: what admins did through the API (`admin:<user id>`) and operators with this command (`cli:<name>`), looks at this list included. They are kept for a year.',
      examples: ['dure audit', 'dure audit --limit 200 --json', 'dure audit --user 12'],
    })
      .option('--limit <number>', 'at most so many', wholeNumber(1, 1000), 20)
      .option(
        '--user <id>',
        'only what was done to this account, which may be deleted',
        wholeNumber(1, 2 ** 31 - 1),
      ),
  ).action(async (options: { limit: number; user?: number; operator?: string }) => {
    const { listAudit } = await import('./audit/action.ts');
    await listAudit(invocation, options);
  });
}
