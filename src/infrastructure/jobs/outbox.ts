import type { FastifyBaseLogger } from 'fastify';
import PQueue from 'p-queue';
import type { Database, Tx } from '../database/client.ts';
import { reasonOf } from '../database/errors.ts';
import { join, raw, type Sql, sql } from '../database/sql.ts';

/** The PostgreSQL channel that names, as a JSON array of ids, users for whom there are changes. */
export const wakeUpChannel = 'wake_ups';

/** Attempts of a job, within four days. */
export const maxAttempts = 25;

/** Seconds after so many failed attempts, as graphile-worker waits: 3 after the first, six hours at most. */
export const retryDelay = (attempts: number) => Math.exp(Math.min(attempts, 10));

/**
 * The seconds of a `Retry-After` header, which has seconds or a date (RFC 9110, section 10.2.3); 0 where it cannot be read.
 *
 * @param longest a server cannot ask for a longer pause
 */
export function retryAfterSeconds(header: string | undefined, longest: number): number {
  const seconds = /^\d+$/.test(header ?? '')
    ? Number(header)
    : (Date.parse(header ?? '') - Date.now()) / 1_000;
  return Math.min(longest, Math.max(0, seconds || 0));
}

/** Rows that the relay takes at once. The payload of a notification is limited to 8,000 bytes, an id has at most 10 digits. */
const batchSize = 500;

/** Milliseconds: for which a wake-up waits for others, and between two looks for rows that were left, as by a killed instance. */
const times = { batch: 25, poll: 2_500 };

/**
 * Takes rows that no other instance is taking, adds their jobs and wakes up their users. It does not wait for the disk or a standby:
 * if a crash undoes it, the rows are still there, and jobs run again. `NOTIFY` locks the whole database until its transaction ends,
 * so no other transaction sends any.
 */
const takeBatch = (jobs: Sql[]) => sql`/* outbox.take */
  WITH taken AS (
    DELETE FROM outbox WHERE id = ANY (ARRAY(
      SELECT id FROM outbox WHERE set_config('synchronous_commit', 'off', true) IS NOT NULL
      ORDER BY id LIMIT ${raw(String(batchSize))} FOR UPDATE SKIP LOCKED))
    RETURNING *
  ), messages AS (
    ${join(jobs, ' UNION ALL ')}
    UNION ALL
    SELECT id, job::json FROM taken WHERE job IS NOT NULL
  ), jobs AS (
    SELECT job.id FROM (SELECT json_agg(spec ORDER BY id) AS specs FROM messages HAVING count(*) > 0) m,
      graphile_worker.add_jobs(
        ARRAY(SELECT spec FROM json_populate_recordset(NULL::graphile_worker.job_spec, specs) spec)) job
  ), woken AS (
    SELECT pg_notify(${wakeUpChannel}, json_agg(DISTINCT user_id)::text) FROM taken
    WHERE user_id IS NOT NULL HAVING count(*) > 0
  )
  SELECT count(*)::int AS taken, (SELECT count(*)::int FROM jobs) AS jobs, (SELECT count(*)::int FROM woken) AS woken FROM taken`;

export type Outbox = ReturnType<typeof createOutbox>;

/**
 * What follows a change: jobs to be queued, and users to be woken up. A change writes rows of `outbox` in its own transaction and
 * calls `tx.afterCommit(outbox.wake)`; the relay of any instance takes them.
 *
 * @param jobs queries of `taken`, for the `id` of a row and its job as the `spec` of `graphile_worker.add_jobs`
 */
export function createOutbox(database: Database, logger: FastifyBaseLogger, jobs: Sql[]) {
  const take = takeBatch(jobs);
  let timers: { poll: NodeJS.Timeout; batch: NodeJS.Timeout } | undefined;
  let isWaiting = false;
  const runs = new PQueue({ concurrency: 1 });

  async function takeRows(): Promise<void> {
    try {
      const [row] = await database.query<{ taken: number; jobs: number; woken: number }>(take);
      if (row?.taken === batchSize) run();
    } catch (error) {
      logger.warn({ reason: reasonOf(error) }, 'the outbox could not be read, will retry');
    }
  }

  /** Any number of calls during a run cause one more. */
  function run(): void {
    isWaiting = false;
    if (runs.size === 0) void runs.add(takeRows);
  }

  /** Takes the rows that were committed; does nothing before `start`, as in a command: an instance takes them within 3 s. */
  function wake(): void {
    if (timers === undefined || isWaiting) return;
    isWaiting = true;
    // Not a new timer, which would run in the trace of the request.
    timers.batch.refresh();
  }

  return {
    wake,
    /** Queues a job of graphile-worker after the commit of the transaction; its turn is before jobs that are added later. */
    async add(tx: Tx, job: { identifier: string; payload: object }): Promise<void> {
      await tx.execute(sql`/* outbox.addJob */
        INSERT INTO outbox (job) VALUES (${JSON.stringify(job)}::jsonb)`);
      tx.afterCommit(wake);
    },
    start(): void {
      timers = { poll: setInterval(run, times.poll).unref(), batch: setTimeout(run, times.batch) };
    },
    async stop(): Promise<void> {
      clearInterval(timers?.poll);
      clearTimeout(timers?.batch);
      timers = undefined;
      if (isWaiting) run();
      await runs.onIdle();
    },
  };
}
