import type { Command } from 'commander';
import { leaf } from './command.ts';
import type { Invocation } from './invocation.ts';

/** `dure stats`. */
export function addStatsCommand(program: Command, invocation: Invocation): void {
  leaf(program, 'stats', {
    summary: 'count users, stores, requests and mails; size of the database',
    description:
      'Counts users, sessions, stores, posts, partner requests, pictures, mails and open reports, and measures the database. It reads whole tables, which takes seconds where they have millions of rows: nothing for a loop. `/metrics` is for that.',
    examples: ['dure stats', "dure stats --json | jq '.mails.failed'"],
  }).action(async () => {
    const { showStats } = await import('./stats/action.ts');
    await showStats(invocation);
  });
}
