import { type Command, Option } from 'commander';
import { group, leaf, wholeNumber, withOperator } from './command.ts';
import type { Invocation } from './invocation.ts';

/** `dure jobs`. */
export function addJobCommands(program: Command, invocation: Invocation): void {
  const jobs = group(program, 'jobs', 'The queue of mails and of the clean-up');

  leaf(jobs, 'list', {
    summary: 'list the jobs that wait or run',
    description:
      'Lists the jobs of the queue, the next one first: mails that wait to be sent or to be tried again, and the clean-up. A mail that failed for good is no job any more: see `dure mails failed`.',
    examples: ['dure jobs list', 'dure jobs list --failed --json', 'dure jobs list --locked'],
  })
    .option('--failed', 'only those whose last attempt failed')
    .option('--locked', 'only those that a worker has taken')
    .option('--limit <number>', 'at most so many', wholeNumber(1, 1000), 50)
    .action(async (options: { failed?: true; locked?: true; limit: number }) => {
      const { listQueue } = await import('./jobs/actions.ts');
      await listQueue(invocation, options);
    });

  const unlock = leaf(jobs, 'unlock', {
    summary: 'release the jobs of workers that died',
    description:
      'Releases jobs that a worker took and did not finish. Running instances do this for mails by themselves, 45 seconds after a worker took a job. So it is of use when no instance runs, or for the clean-up, which would wait for four hours. Without an option only mails that were taken more than 45 seconds ago are released: no living worker has them.',
    examples: ['dure jobs unlock', 'dure jobs unlock --worker worker-0a1b2c3d', 'dure jobs unlock --all'],
    exitCodes: ['4  nothing to unlock'],
  });
  withOperator(unlock)
    .option('--worker <id>', 'all jobs of this worker, which must be dead (LOCKED_BY of `dure jobs list`)')
    .addOption(
      new Option(
        '--all',
        'all jobs that are taken; only while no instance runs, because a job runs twice otherwise',
      ).conflicts('worker'),
    )
    .action(async (options: { worker?: string; all?: true; operator?: string }) => {
      const { unlockQueue } = await import('./jobs/actions.ts');
      await unlockQueue(invocation, options);
    });
}
