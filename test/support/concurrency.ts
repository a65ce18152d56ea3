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
  return { waiters, run, release };
}

type Statement = [text: string, ...values: unknown[]];

/** A statement that locks a row. */
export const rowOf = (table: string, { id }: { id: number }): Statement => [
  `SELECT FROM ${table} WHERE id = $1 FOR UPDATE`,
  id,
];

/** Runs PL/pgSQL before inserts into a table, of some rows or of all, until the test ends. @returns ends it earlier */
export async function onInsert(t: Test, { pool }: TestApp, table: string, code: string, which = 'true') {
  await pool.query(`
    CREATE FUNCTION on_insert() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${code}; RETURN NEW; END $$;
    CREATE TRIGGER on_insert BEFORE INSERT ON ${table} FOR EACH ROW WHEN (${which}) EXECUTE FUNCTION on_insert()`);
  const end = () => pool.query('DROP FUNCTION IF EXISTS on_insert CASCADE');
  t.teardown(end);
  return end;
}

/** Makes inserts into a table, of some rows or of all, wait for a statement, until the test ends. @returns the statement */
export async function pauseInserts(t: Test, app: TestApp, table: string, which?: string): Promise<Statement> {
  await onInsert(t, app, table, 'PERFORM pg_advisory_xact_lock(1)', which);
  return ['SELECT pg_advisory_xact_lock(1)'];
}

/** Starts a call that waits for the rows of a statement until its transaction ends. @returns what the call returns */
export async function during<Result>(
  t: Test,
  app: TestApp,
  [statement, ...values]: Statement,
  call: () => Promise<Result>,
  end: 'COMMIT' | 'ROLLBACK' = 'COMMIT',
): Promise<Result> {
  const lock = await lockRows(t, app, statement, values);
  const result = call();
  await lock.waiters(1);
  await lock.release(end);
  return result;
}

/** Starts two calls that wait for the rows of a statement, or for an account, and get them in this order. @returns what they return */
export async function inOrder<First, Second>(
  t: Test,
  app: TestApp,
  locked: Statement | { id: number },
  first: () => Promise<First>,
  second: () => Promise<Second>,
  end?: 'COMMIT',
): Promise<[First, Second]> {
  const [statement, ...values] = Array.isArray(locked) ? locked : rowOf('users', locked);
  const lock = await lockRows(t, app, statement, values);
  const one = first();
  await lock.waiters(1);
  const other = second();
  await lock.waiters(2);
  await lock.release(end);
  return Promise.all([one, other]);
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
