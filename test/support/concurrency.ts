import type { Test } from 'tap';
import type { TestApp } from './app.ts';
import { until } from './until.ts';

/** Starts `count` calls at once and returns their results in order. */
export function inParallel<Result>(
  count: number,
  request: (index: number) => Promise<Result>,
): Promise<Result[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => request(index)));
}

/** A promise that a test fulfils. */
export function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

/**
 * Runs a locking statement in a transaction that stays open until it is released or the test ends, so that requests of the app wait
 * at a known place.
 */
export async function lockRows(t: Test, app: TestApp, statement: string, values: unknown[] = []) {
  const client = await app.pool.connect();
  await client.query('BEGIN');
  await client.query(statement, values);
  let isOpen = true;
  async function release(end: 'COMMIT' | 'ROLLBACK' = 'ROLLBACK'): Promise<void> {
    if (!isOpen) return;
    isOpen = false;
    await client.query(end);
    client.release();
  }
  t.teardown(() => release());
  /** Waits until `count` statements of the app wait for a lock. @returns their backend ids, oldest first */
  const waiters = (count: number) => waitForLockWait(app, count);
  /** Runs another statement in the transaction. */
  const run = (text: string, others: unknown[]) => client.query(text, others);
  /** Starts a call that waits for the transaction, and ends that. @returns what the call returns */
  async function during<Result>(call: () => Promise<Result>, end: 'COMMIT' | 'ROLLBACK' = 'COMMIT') {
    const result = call();
    await waiters(1);
    await release(end);
    return result;
  }
  /** Starts two calls, the second one while the first one waits, and releases once both wait. @returns what they return */
  async function queue<A, B>(
    first: () => Promise<A>,
    second: () => Promise<B>,
    end?: 'COMMIT',
  ): Promise<[A, B]> {
    const one = first();
    await waiters(1);
    const other = second();
    await waiters(2);
    await release(end);
    return Promise.all([one, other]);
  }
  return { waiters, run, release, during, queue };
}

/** Starts a call that waits for the rows of a statement until its transaction ends. @returns what the call returns */
export async function during<Result>(
  t: Test,
  app: TestApp,
  [statement, ...values]: [string, ...unknown[]],
  call: () => Promise<Result>,
  end: 'COMMIT' | 'ROLLBACK' = 'COMMIT',
): Promise<Result> {
  return (await lockRows(t, app, statement, values)).during(call, end);
}

/**
 * Waits until `count` statements wait for rows, tables or advisory locks. There are other waits that end by themselves: the commits
 * of all databases wait for each other while they notify.
 *
 * @returns their backend ids, oldest first
 */
function waitForLockWait({ pool }: TestApp, count: number): Promise<number[]> {
  return until(`${count} statements that wait for a lock`, async () => {
    const { rows } = await pool.query(
      `SELECT pid FROM pg_stat_activity
       WHERE datname = current_database() AND wait_event_type = 'Lock'
         AND wait_event IN ('relation', 'transactionid', 'tuple', 'advisory')
       ORDER BY xact_start`,
    );
    return rows.length >= count ? rows.map(({ pid }) => Number(pid)) : undefined;
  });
}
