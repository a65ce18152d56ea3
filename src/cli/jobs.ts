import { type Command, Option } from 'commander';
import type { Job, listJobs, unlockJobs } from '../infrastructure/jobs/jobs.ts';
import {
  type AuditOptions,
  addCommand,
  addGroup,
  addLimit,
  CommandError,
  type Invocation,
  table,
} from './command.ts';

type ListOptions = Parameters<typeof listJobs>[1];
type UnlockOptions = AuditOptions & Parameters<typeof unlockJobs>[1];

/** `dure jobs`. */
export function addJobCommands(program: Command, invocation: Invocation): void {
  const jobs = addGroup(program, 'jobs', 'The queue of emails, push messages and the clean-up');

  const list = addCommand(jobs, 'list', {
    summary: 'list the jobs that wait or run',
    details:
      'The next one comes first. An email that failed permanently is no job any more: see `dure mails failed`.',
    examples: ['dure jobs list', 'dure jobs list --failed --json', 'dure jobs list --locked'],
  })
    .option('--failed', 'only those whose last attempt failed')
    .option('--locked', 'only those that a worker has taken');
  addLimit(list, 1000, 50).action(async (options: ListOptions) => {
    const { listJobs } = await import('../infrastructure/jobs/jobs.ts');
    const { withDatabase } = await import('./connection.ts');
    const { environment, output } = invocation;
    const { jobs, total } = await withDatabase(environment, (database) => listJobs(database, options));
    output.result({ items: jobs, total }, () => jobTable(jobs));
    if (total > jobs.length) output.note(`${jobs.length} of ${total} jobs`);
  });

  addCommand(jobs, 'unlock', {
    summary: 'release the jobs of workers that died',
    details:
      'Running instances do this by themselves, 45 seconds after a worker took a job, so it is of use when no instance runs. Only a clean-up is released after four hours, and nothing waits for it, because a new one is added every five minutes. Without an option only those that were taken more than 45 seconds ago are released: no living worker has them.',
    examples: ['dure jobs unlock', 'dure jobs unlock --worker worker-0a1b2c3d', 'dure jobs unlock --all'],
    exitCodes: ['4  nothing to unlock'],
    isAudited: true,
  })
    .option('--worker <id>', 'all jobs of this worker, which must be dead (LOCKED_BY of `dure jobs list`)')
    .addOption(
      new Option(
        '--all',
        'all jobs that are taken; only while no instance runs, because a job runs twice otherwise',
      ).conflicts('worker'),
    )
    .action((options: UnlockOptions) => unlockQueue(invocation, options));
}

/** @throws {CommandError} `nothing_to_unlock` */
async function unlockQueue(invocation: Invocation, options: UnlockOptions): Promise<void> {
  const { unlockJobs } = await import('../infrastructure/jobs/jobs.ts');
  const { withAudit } = await import('./services.ts');
  const { output } = invocation;
  const { worker, all } = options;
  if (all) output.note('all locks are released: a job that a worker still runs will run twice');
  const kind = all ? 'all' : worker === undefined ? 'stale' : 'worker';
  const entry = { action: 'jobs_unlocked', reason: worker ?? kind, operator: options.operator } as const;
  const jobs = await withAudit(invocation, entry, async (tx) => {
    const unlocked = await unlockJobs(tx, options);
    if (unlocked.length > 0) return unlocked;
    throw new CommandError('nothing_to_unlock', nothingToUnlock[kind]);
  });
  output.result({ items: jobs }, () => jobTable(jobs));
}

const nothingToUnlock = {
  stale:
    'nothing to unlock: no email or push message was taken more than 45 seconds ago; see `dure jobs list --locked` for other jobs',
  worker: 'nothing to unlock: this worker has no job; see LOCKED_BY of `dure jobs list --locked`',
  all: 'nothing to unlock: no job is locked',
};

function jobTable(jobs: readonly Job[]): string {
  return table(
    jobs.map((job) => ({ ...job, attempts: `${job.attempts}/${job.max_attempts}` })),
    ['id', 'task', 'kind', 'user_id', 'attempts', 'run_at', 'locked_at', 'locked_by', 'last_error'],
    'no jobs',
  );
}
