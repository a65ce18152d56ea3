import type { FastifyBaseLogger } from 'fastify';
import type { Tx } from '../database/client.ts';
import { reasonOf } from '../database/errors.ts';
import { empty, sql } from '../database/sql.ts';
import type { Lane } from './worker.ts';

/* Jobs that are listed, released or given up, in SQL: graphile-worker's tables are not in Prisma's schema. */

/**
 * Milliseconds after which a lock belongs to a dead worker: taking a job takes 5 s at most, an attempt 30 s, writing its outcome
 * 10 s. If the worker is only suspended, an email is not sent twice, because both attempts have its idempotency key.
 */
export const staleLock = 45_000;

export const cleanUpTask = 'clean_up';

/** Locks of workers that are certain to be dead, which graphile-worker would release after four hours. A clean-up may take longer. */
const staleLocks = (milliseconds: number) => sql`
  task_identifier <> ${cleanUpTask} AND locked_at < now() - ${milliseconds} * interval '1 millisecond'`;

/**
 * Releases the jobs of dead workers, and deletes those without an attempt left, which graphile-worker keeps for ever. A lane may keep
 * its own. It logs errors of the database; the next run does the rest.
 */
export async function recoverJobs(options: {
  database: Tx;
  lanes: Lane[];
  logger: FastifyBaseLogger;
  lockAge: number;
}): Promise<void> {
  const { database, lanes, logger, lockAge } = options;
  try {
    const released = await database.query<{ jobs: number }>(sql`/* jobs.release */
      SELECT count(*)::int AS jobs, graphile_worker.force_unlock_workers(array_agg(DISTINCT locked_by))
      FROM graphile_worker.jobs WHERE ${staleLocks(lockAge)} HAVING count(*) > 0`);
    for (const { jobs } of released) logger.warn({ jobs }, 'jobs of dead workers released');
    const keeping = lanes.filter(({ keepExhausted }) => keepExhausted !== undefined);
    for (const { keepExhausted } of keeping) await keepExhausted?.();
    const kept = keeping.flatMap(({ tasks }) => Object.keys(tasks));
    await database.execute(sql`/* jobs.completeExhausted */
      SELECT FROM graphile_worker.complete_jobs(ARRAY(
        SELECT id FROM graphile_worker.jobs
        WHERE task_identifier <> ALL (${kept}) AND attempts >= max_attempts AND locked_at IS NULL LIMIT 1000))`);
  } catch (error) {
    logger.warn({ reason: reasonOf(error) }, 'recovery of jobs failed');
  }
}

/** A job of the queue, without its payload. */
export interface Job {
  id: string;
  /** As `send_mail`. */
  task: string;
  /** Of an email, like the account that it is for. */
  kind: string | null;
  user_id: number | null;
  attempts: number;
  max_attempts: number;
  run_at: Date;
  locked_at: Date | null;
  /** The worker that has taken it. */
  locked_by: string | null;
  last_error: string | null;
}

const columns = sql`
  j.id::text AS id, t.identifier AS task, j.payload->>'kind' AS kind, (j.payload->>'user_id')::int AS user_id,
  j.attempts, j.max_attempts, j.run_at, j.locked_at, j.locked_by, j.last_error`;

/** The tables below the view `jobs`, which has no payloads. */
const jobs = sql`graphile_worker._private_jobs j JOIN graphile_worker._private_tasks t ON t.id = j.task_id`;

/** Lists jobs, the next one first: those that are due, in the order in which workers take them, then the others. */
export async function listJobs(
  database: Tx,
  { failed, locked, limit }: { failed?: boolean; locked?: boolean; limit: number },
): Promise<{ jobs: Job[]; total: number }> {
  const rows = await database.query<Job & { total: number }>(sql`/* jobs.list */
    SELECT ${columns}, count(*) OVER ()::int AS total FROM ${jobs}
    WHERE ${failed ? sql`j.last_error IS NOT NULL` : sql`true`} ${locked ? sql`AND j.locked_at IS NOT NULL` : empty}
    ORDER BY j.run_at > now(), CASE WHEN j.run_at <= now() THEN j.priority END, j.run_at, j.id LIMIT ${limit}`);
  return { jobs: rows.map(({ total, ...job }) => job), total: rows[0]?.total ?? 0 };
}

/**
 * Releases all jobs of a worker, of all workers, or without a selection of dead ones. Concurrent runs wait for each other, so that
 * each job is reported once.
 *
 * @returns the jobs as they were
 */
export async function unlockJobs(tx: Tx, { worker, all }: { worker?: string; all?: true }): Promise<Job[]> {
  const ofWorker = worker === undefined ? staleLocks(staleLock) : sql`locked_by = ${worker}`;
  const locked = await tx.query<Job>(sql`/* jobs.findLocked */
    SELECT ${columns} FROM ${jobs}
    WHERE j.locked_by IN (
      SELECT locked_by FROM graphile_worker.jobs WHERE ${all ? sql`locked_by IS NOT NULL` : ofWorker})
    ORDER BY j.id FOR UPDATE OF j`);
  const workers = [...new Set(locked.map((job) => job.locked_by))];
  await tx.execute(sql`/* jobs.unlock */ SELECT graphile_worker.force_unlock_workers(${workers}::text[])`);
  return locked;
}
