import type { Queryable } from '../database/client.ts';
import { empty, type Sql, sql } from '../database/sql.ts';
import { staleLock } from './job-recovery.ts';
import { sendMailTask } from './queue.ts';

/** A job of the queue, without its payload. */
export interface Job {
  id: string;
  /** `send_mail` or `clean_up`. */
  task: string;
  /** Of a mail. */
  kind: string | null;
  /** The account that a mail is for. */
  user_id: number | null;
  attempts: number;
  max_attempts: number;
  run_at: Date;
  locked_at: Date | null;
  /** The worker that has taken it. */
  locked_by: string | null;
  last_error: string | null;
}

interface JobFilter {
  /** Only those whose last attempt failed. */
  failed: boolean;
  /** Only those that a worker has taken. */
  locked: boolean;
  limit: number;
}

const columns = sql`
  j.id::text AS id, j.task_identifier AS task, p.payload->>'kind' AS kind, (p.payload->>'user_id')::int AS user_id,
  j.attempts, j.max_attempts, j.run_at, j.locked_at, j.locked_by, j.last_error`;

/** The view has no payloads. */
const jobs = sql`graphile_worker.jobs j JOIN graphile_worker._private_jobs p ON p.id = j.id`;

/** Those that are due, in the order in which workers take them, then the others. */
const order = sql`
  j.run_at > now(), CASE WHEN j.run_at <= now() THEN j.priority END, j.run_at, j.id`;

/** Lists jobs, the next one first. */
export async function listJobs(
  database: Queryable,
  { failed, locked, limit }: JobFilter,
): Promise<{ jobs: Job[]; total: number }> {
  const condition = sql`
    ${failed ? sql`j.last_error IS NOT NULL` : sql`true`} ${locked ? sql`AND j.locked_at IS NOT NULL` : empty}`;
  const rows = await database.query<Job>(sql`
    SELECT ${columns} FROM ${jobs} WHERE ${condition} ORDER BY ${order} LIMIT ${limit}`);
  const [count] = await database.query<{ total: number }>(sql`
    SELECT count(*)::int AS total FROM graphile_worker.jobs j WHERE ${condition}`);
  return { jobs: rows, total: count?.total ?? rows.length };
}

/** `stale`: of workers that are certain to be dead. */
export type UnlockSelection = 'stale' | 'all' | { worker: string };

/** Runs of the command wait for each other, so that each job is reported once. */
const lockKey = 5_820_411;

/**
 * Releases the jobs of workers, with everything that these workers have taken.
 *
 * @param tx a transaction
 * @returns the jobs as they were
 */
export async function unlockJobs(tx: Queryable, selection: UnlockSelection): Promise<Job[]> {
  await tx.execute(sql`SELECT pg_advisory_xact_lock(${lockKey}::bigint)`);
  const locked = await tx.query<Job>(sql`
    SELECT ${columns} FROM ${jobs}
    WHERE j.locked_by IN (SELECT s.locked_by FROM graphile_worker.jobs s WHERE ${selected(selection)})
    ORDER BY j.id`);
  const workers = [...new Set(locked.map((job) => job.locked_by))];
  await tx.execute(sql`SELECT graphile_worker.force_unlock_workers(${workers}::text[])`);
  return locked;
}

function selected(selection: UnlockSelection): Sql {
  if (selection === 'all') return sql`s.locked_by IS NOT NULL`;
  if (selection !== 'stale') return sql`s.locked_by = ${selection.worker}`;
  return sql`
    s.task_identifier = ${sendMailTask} AND s.locked_at < now() - ${staleLock} * interval '1 millisecond'`;
}
