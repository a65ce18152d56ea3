import type { FastifyBaseLogger } from 'fastify';
import type { Queryable } from '../database/client.ts';
import { sql } from '../database/sql.ts';
import { keepFailedMails } from './failed-mails.ts';
import type { MailMetrics } from './mail-metrics.ts';
import { sendMailTask } from './queue.ts';
import { reasonOf } from './send-mail.ts';

/**
 * In milliseconds. Taking a job takes 5 s at most, an attempt 30 s and writing its outcome 10 s, so an older lock belongs to a dead
 * worker. If that is only suspended, the idempotency key prevents a second mail.
 */
export const staleLock = 45_000;

/** graphile-worker locks a job under the id of its worker's pool, and would release it after four hours. */
const releaseStaleLocks = (milliseconds: number) => sql`
  SELECT count(*)::int AS jobs, graphile_worker.force_unlock_workers(array_agg(DISTINCT locked_by))
  FROM graphile_worker.jobs
  WHERE task_identifier = ${sendMailTask} AND locked_at < now() - ${milliseconds} * interval '1 millisecond'
  HAVING count(*) > 0`;

/** graphile-worker keeps a job without an attempt left for ever. The last attempt may have ended with its process. */
const exhaustedJobs = sql`
  SELECT payload::jsonb AS payload, last_error, attempts FROM graphile_worker.complete_jobs(ARRAY(
    SELECT id FROM graphile_worker.jobs
    WHERE task_identifier = ${sendMailTask} AND attempts >= max_attempts AND locked_at IS NULL LIMIT 1000
  ))`;

const moveExhaustedJobs = sql`
  WITH exhausted AS MATERIALIZED (${exhaustedJobs})
  ${keepFailedMails(sql`
    SELECT
      (payload->>'user_id')::int AS user_id,
      left(coalesce(payload->>'kind', 'unknown'), 50) AS kind,
      payload - 'kind' - 'idempotency_key' - 'traceparent' AS payload,
      coalesce(last_error, 'the process ended during the last attempt') AS reason,
      attempts
    FROM exhausted ORDER BY user_id`)}`;

interface RecoveryOptions {
  database: Queryable;
  mailMetrics: MailMetrics;
  logger: FastifyBaseLogger;
}

interface FailedMail {
  kind: string;
  payload: unknown;
  reason: string;
  attempts: number;
}

/**
 * Releases the jobs of dead workers and moves jobs without an attempt left to the failed mails. Logs what it did, and
 * failures of the database too: the next run makes up for them.
 *
 * @param lockAge age in milliseconds from which a lock belongs to a dead worker
 */
export async function recoverJobs(
  { database, mailMetrics, logger }: RecoveryOptions,
  lockAge: number,
): Promise<void> {
  try {
    const released = await database.query<{ jobs: number }>(releaseStaleLocks(lockAge));
    for (const { jobs } of released) logger.warn({ jobs }, 'jobs of dead workers released');
    const failed = await database.query<FailedMail>(moveExhaustedJobs);
    for (const mail of failed) {
      mailMetrics.countMail(mail.kind, 'failed');
      logger.error(mail, 'mail failed after its last attempt');
    }
  } catch (error) {
    logger.warn({ reason: reasonOf(error) }, 'recovery of jobs failed');
  }
}
