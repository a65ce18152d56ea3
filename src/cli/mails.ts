import type { Command } from 'commander';
import { group, leaf, wholeNumber, withOperator } from './command.ts';
import type { Invocation } from './invocation.ts';

interface Options {
  operator?: string;
}

/** `dure mails`. */
export function addMailCommands(program: Command, invocation: Invocation): void {
  const mails = group(program, 'mails', 'Mails that failed for good');
  const load = () => import('./mails/actions.ts');
  const notFound = '3  there is no such failed mail; those that exist were still dealt with';

  withOperator(
    leaf(mails, 'failed', {
      summary: 'list the mails that failed for good',
      description:
        'Lists the mails that are not tried again by themselves, newest first, with the reason. They are kept for 90 days. Mails that are still tried are jobs: see `dure jobs list --failed`.',
      examples: ['dure mails failed', 'dure mails failed --limit 100 --json'],
    })
      .option('--limit <number>', 'at most so many', wholeNumber(1, 100), 20)
      .option('--cursor <text>', 'continue the list, as the one before says'),
  ).action(async (options: Options & { limit: number; cursor?: string }) =>
    (await load()).listFailedMails(invocation, options),
  );

  withOperator(
    leaf(mails, 'retry [ids...]', {
      summary: 'put failed mails back into the queue',
      description:
        'Puts failed mails back into the queue. A mail is made anew when it is sent, so one that has become obsolete is dropped then. Remove the reason first: what the provider refused once it will refuse again.',
      examples: ['dure mails retry 17 18', 'dure mails retry --all'],
      exitCodes: [notFound],
    }).option('--all', 'all that are failed now; none is no failure'),
  ).action(async (ids: string[], options: Options & { all?: true }) =>
    (await load()).retryMails(invocation, ids, options),
  );

  withOperator(
    leaf(mails, 'drop <ids...>', {
      summary: 'delete failed mails that are not worth another attempt',
      description: 'Deletes failed mails for good.',
      examples: ['dure mails drop 17 18'],
      exitCodes: [notFound],
    }),
  ).action(async (ids: string[], options: Options) => (await load()).dropMails(invocation, ids, options));
}
