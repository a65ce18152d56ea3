import { createAudit } from '../../admin/audit.ts';
import { type Job, listJobs, type UnlockSelection, unlockJobs } from '../../mail/jobs.ts';
import { CommandError } from '../command-error.ts';
import { withDatabase } from '../connection.ts';
import type { Invocation } from '../invocation.ts';
import { createOperator } from '../operator.ts';
import { table } from '../output.ts';

interface ListOptions {
  failed?: true;
  locked?: true;
  limit: number;
}

/** `dure jobs list`. */
export async function listQueue(invocation: Invocation, options: ListOptions): Promise<void> {
  const { jobs, total } = await withDatabase(invocation.environment, (database) =>
    listJobs(database, {
      failed: options.failed === true,
      locked: options.locked === true,
      limit: options.limit,
    }),
  );
  invocation.output.result({ items: jobs, total }, () => jobTable(jobs));
  if (total > jobs.length) invocation.output.note(`${jobs.length} of ${total} jobs`);
}

interface UnlockOptions {
  worker?: string;
  all?: true;
  operator?: string;
}

/** `dure jobs unlock`. @throws {CommandError} `nothing_to_unlock` */
export async function unlockQueue(invocation: Invocation, options: UnlockOptions): Promise<void> {
  const { environment, output } = invocation;
  if (options.all) output.note('all locks are released: a job that a worker still runs will run twice');
  const selection = options.all ? 'all' : options.worker === undefined ? 'stale' : { worker: options.worker };
  const reason = typeof selection === 'string' ? selection : selection.worker;
  const operator = createOperator(invocation, options);
  const jobs = await withDatabase(environment, (database) =>
    createAudit(database).audited(operator, { action: 'jobs_unlocked', reason }, async (tx) => {
      const unlocked = await unlockJobs(tx, selection);
      if (unlocked.length > 0) return unlocked;
      throw new CommandError('nothing_to_unlock', nothingToUnlock[kindOf(selection)]);
    }),
  );
  output.result({ items: jobs }, () => jobTable(jobs));
}

const nothingToUnlock = {
  stale:
    'nothing to unlock: no mail was taken more than 45 seconds ago; see `dure jobs list --locked` for other jobs',
  worker: 'nothing to unlock: this worker has no job; see LOCKED_BY of `dure jobs list --locked`',
  all: 'nothing to unlock: no job is locked',
};

function kindOf(selection: UnlockSelection): keyof typeof nothingToUnlock {
  return typeof selection === 'string' ? selection : 'worker';
}

function jobTable(jobs: readonly Job[]): string {
  const columns = [
    'id',
    'task',
    'kind',
    'user_id',
    'attempts',
    'run_at',
    'locked_at',
    'locked_by',
    'last_error',
  ];
  return table(
    columns,
    jobs.map((job) => [
      job.id,
      job.task,
      job.kind,
      job.user_id,
      `${job.attempts}/${job.max_attempts}`,
      job.run_at,
      job.locked_at,
      job.locked_by,
      job.last_error,
    ]),
    'no jobs',
  );
}
