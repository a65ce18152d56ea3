import type { FastifyBaseLogger } from 'fastify';
import type { ExpiredRows } from '../database/clean-up.ts';
import type { Tx } from '../database/client.ts';
import { reasonOf } from '../database/errors.ts';
import { empty, sql } from '../database/sql.ts';
import type { MailMetrics } from '../mail/send-mail.ts';
import { sendMailTask } from './outbox.ts';

/* Jobs that are listed, released or given up, in SQL: graphile-worker's tables are not in Prisma's schema. */

/**
 * Milliseconds after which a lock belongs to a dead worker: taking a job takes 5 s at most, an attempt 30 s, writing its outcome
 * 10 s. If the worker is only suspended, the idempotency key prevents a second email.
 */
export const staleLock = 45_000;

export const cleanUpTask = 'clean_up';

/**
 * Locks of workers that are certain to be dead. graphile-worker itself would release them after four hours. A clean-up may take longer,
 * and there is another one soon.
 */
const staleLocks = (milliseconds: number) => sql`
  task_identifier <> ${cleanUpTask} AND locked_at < now() - ${milliseconds} * interval '1 millisecond'`;

/**
 * graphile-worker keeps a job without an attempt left for ever; the last attempt may have ended with its process. One to a deleted
 * account is not kept: it waits for a deletion that is in progress. Users are locked in the order of their ids.
 */
const moveExhaustedJobs = sql`
  WITH exhausted AS MATERIALIZED (
    SELECT payload::jsonb AS payload, last_error, attempts FROM graphile_worker.complete_jobs(ARRAY(
      SELECT id FROM graphile_worker.jobs
      WHERE task_identifier = ${sendMailTask} AND attempts >= max_attempts AND locked_at IS NULL LIMIT 1000))
  ), failed AS (
    SELECT (payload->>'user_id')::int AS user_id, left(coalesce(payload->>'kind', 'unknown'), 50) AS kind,
      payload - 'kind' - 'idempotency_key' - 'traceparent' AS payload,
      coalesce(last_error, 'the process ended during the last attempt') AS reason, attempts
    FROM exhausted ORDER BY user_id
  )
  INSERT INTO failed_mails (user_id, kind, payload, reason, attempts)
  SELECT user_id, kind, payload, reason, attempts FROM failed
  WHERE user_id IS NULL OR EXISTS (SELECT FROM users WHERE id = failed.user_id FOR KEY SHARE)
  RETURNING kind, payload, reason, attempts`;

/** Other jobs, such as push messages, are not kept. */
const deleteExhaustedJobs = sql`
  SELECT FROM graphile_worker.complete_jobs(ARRAY(
    SELECT id FROM graphile_worker.jobs
    WHERE task_identifier <> ${sendMailTask} AND attempts >= max_attempts AND locked_at IS NULL LIMIT 1000))`;

/**
 * Releases the jobs of dead workers, moves emails without an attempt left to the failed ones and deletes other such jobs. It logs
 * errors of the database; the next run does the rest.
 */
export async function recoverJobs(
  { database, mailMetrics, logger }: { database: Tx; mailMetrics: MailMetrics; logger: FastifyBaseLogger },
  lockAge: number,
): Promise<void> {
  try {
    const released = await database.query<{ jobs: number }>(sql`
      SELECT count(*)::int AS jobs, graphile_worker.force_unlock_workers(array_agg(DISTINCT locked_by))
      FROM graphile_worker.jobs WHERE ${staleLocks(lockAge)} HAVING count(*) > 0`);
    for (const { jobs } of released) logger.warn({ jobs }, 'jobs of dead workers released');
    const failed = await database.query<{ kind: string; payload: object; reason: string; attempts: number }>(
      moveExhaustedJobs,
    );
    await database.execute(deleteExhaustedJobs);
    for (const mail of failed) {
      mailMetrics.countMail(mail.kind, 'failed');
      logger.error(mail, 'mail failed after its last attempt');
    }
  } catch (error) {
    logger.warn({ reason: reasonOf(error) }, 'recovery of jobs failed');
  }
}

/** Failed emails are kept for 90 days, so that an operator can look at them, or until their account is deleted. */
export const expiredFailedMails: ExpiredRows = {
  table: 'failed_mails',
  condition: sql`created_at < now() - interval '90 days'`,
};

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

/**
 * Lists jobs, the next one first: those that are due, in the order in which workers take them, then the others.
 *
 * @param filter only jobs whose last attempt failed, that a worker has taken
 */
export async function listJobs(
  database: Tx,
  { failed, locked, limit }: { failed: boolean; locked: boolean; limit: number },
): Promise<{ jobs: Job[]; total: number }> {
  const rows = await database.query<Job & { total: number }>(sql`
    SELECT ${columns}, count(*) OVER ()::int AS total FROM ${jobs}
    WHERE ${failed ? sql`j.last_error IS NOT NULL` : sql`true`} ${locked ? sql`AND j.locked_at IS NOT NULL` : empty}
    ORDER BY j.run_at > now(), CASE WHEN j.run_at <= now() THEN j.priority END, j.run_at, j.id LIMIT ${limit}`);
  return { jobs: rows.map(({ total, ...job }) => job), total: rows[0]?.total ?? 0 };
}

/**
 * Releases all jobs of a worker, of all workers, or without a selection of workers that are certain to be dead, in a transaction.
 * Concurrent runs wait at the rows of the jobs, so that each is reported once.
 *
 * @returns the jobs as they were
 */
export async function unlockJobs(tx: Tx, { worker, all }: { worker?: string; all?: true }): Promise<Job[]> {
  const ofWorker = worker === undefined ? staleLocks(staleLock) : sql`locked_by = ${worker}`;
  const locked = await tx.query<Job>(sql`
    SELECT ${columns} FROM ${jobs}
    WHERE j.locked_by IN (
      SELECT locked_by FROM graphile_worker.jobs WHERE ${all ? sql`locked_by IS NOT NULL` : ofWorker})
    ORDER BY j.id FOR UPDATE OF j`);
  const workers = [...new Set(locked.map((job) => job.locked_by))];
  await tx.execute(sql`SELECT graphile_worker.force_unlock_workers(${workers}::text[])`);
  return locked;
}
