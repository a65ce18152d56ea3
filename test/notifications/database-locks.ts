import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Test } from 'tap';
import type { TestApp } from '../support/app.ts';

/** A transaction of the test's own that holds locks, so that a request of the app waits at a place that the test chooses. */
export interface Hold {
  /** Waits until so many statements of the app wait for a lock. @returns their backends' ids, oldest first */
  waiting(count: number): Promise<number[]>;
  release(): Promise<void>;
}

/** Runs a statement in a transaction that stays open until it is released, or the test is over. */
export async function hold(t: Test, app: TestApp, statement: string, values: unknown[] = []): Promise<Hold> {
  const client: pg.PoolClient = await app.pool.connect();
  await client.query('BEGIN');
  await client.query(statement, values);
  let isHeld = true;
  async function release() {
    if (!isHeld) return;
    isHeld = false;
    await client.query('ROLLBACK');
    client.release();
  }
  t.teardown(release);
  return { waiting: (count) => waitingBackends(app, count), release };
}

async function waitingBackends(app: TestApp, count: number): Promise<number[]> {
  return backends(app, "wait_event_type = 'Lock' AND application_name = 'dure'", count);
}

/** Waits until a statement of the app pauses in `pg_sleep`. */
export async function pausing(app: TestApp): Promise<void> {
  await backends(app, "wait_event = 'PgSleep'", 1);
}

async function backends({ pool }: TestApp, condition: string, count: number): Promise<number[]> {
  for (let waited = 0; waited < 2_500; waited += 10) {
    const { rows } = await pool.query(
      `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND ${condition} ORDER BY xact_start`,
    );
    if (rows.length >= count) return rows.map(({ pid }) => pid);
    await sleep(10);
  }
  throw new Error(`fewer than ${count} statements where ${condition}`);
}
