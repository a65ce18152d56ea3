import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Tx } from '../database/client.ts';
import { sql } from '../database/sql.ts';

/**
 * The task and the key of the one job that stands for a pause of emails, and is due when that ends; it never runs. It is in the queue,
 * because the provider counts the requests of all instances together.
 */
export const mailPauseTask = 'mail_pause';

/** Milliseconds after which a worker looks whether the pause has changed. */
const lookInterval = 5_000;

/** Part of the pause by which workers come back apart from each other. */
const spread = 0.02;

/** Begins a pause, or replaces the one there is. */
export async function pauseMails(database: Tx, seconds: number): Promise<void> {
  await database.query(sql`
    SELECT FROM graphile_worker.add_job(${mailPauseTask}, job_key => ${mailPauseTask},
      run_at => now() + ${seconds} * interval '1 second')`);
}

/** In milliseconds; deletes a pause that has ended. */
const timeLeft = {
  name: 'mail-pause',
  text: `WITH ended AS (DELETE FROM graphile_worker._private_jobs WHERE key = $1 AND run_at <= now())
    SELECT 1000 * extract(epoch FROM run_at - now())::float8 AS left
    FROM graphile_worker._private_jobs WHERE key = $1 AND run_at > now()`,
  values: [mailPauseTask],
};

/** Waits until emails may be sent, or for the signal. */
export async function endOfMailPause(pool: pg.Pool, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const { rows } = await pool.query<{ left: number }>(timeLeft);
    const pause = rows[0];
    if (pause === undefined) return;
    const wait = Math.min(pause.left * (1 + spread * Math.random()), lookInterval);
    await sleep(wait, undefined, { signal, ref: false }).catch(() => undefined);
  }
}
