import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { TestApp } from '../support/app.ts';

/** A transaction of the test's own that holds locks, so that a request of the app waits at a place that the test chooses. */
export interface Hold {
  /** Waits until so many statements of the app wait for a lock. @returns their backends' ids, oldest first */
  waiting(count: number): Promise<number[]>;
  release(): Promise<void>;
}

/** Runs a statement in a transaction that stays open until it is released. */
export async function hold(app: TestApp, statement: string, values: unknown[] = []): Promise<Hold> {
  const client: pg.PoolClient = await app.pool.connect();
  await client.query('BEGIN');
  await client.query(statement, values);
  return {
    waiting: (count) => waitingBackends(app, count),
    async release() {
      await client.query('ROLLBACK');
      client.release();
    },
  };
}

async function waitingBackends({ pool }: TestApp, count: number): Promise<number[]> {
  for (let waited = 0; waited < 2_500; waited += 10) {
    const { rows } = await pool.query(`
      SELECT pid FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock' AND application_name = 'dure'
      ORDER BY xact_start`);
    if (rows.length >= count) return rows.map(({ pid }) => pid);
    await sleep(10);
  }
  throw new Error(`fewer than ${count} statements wait`);
}
