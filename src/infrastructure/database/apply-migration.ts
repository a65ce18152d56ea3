import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { hasCode } from './errors.ts';

/** A file of prisma/migrations. */
export interface Migration {
  name: string;
  sql: string;
  checksum: string;
}

/**
 * Begins a migration that is one statement outside a transaction: a `DO` block that commits as it goes, an index that is created
 * or dropped `CONCURRENTLY`, or the validation of a constraint. It keeps no reader and no writer waiting. It is repeated where a
 * run was interrupted, so what is done already must do no harm.
 */
const outsideTransaction = '-- Outside a transaction';

/** In milliseconds. */
const lockTimes = {
  /**
   * Every query on a table queues up behind a migration that waits for its lock. Statements of the service wait three seconds for
   * a lock before they fail, so the migration gives up earlier, lets them pass, and tries again.
   */
  wait: 1_000,
  pause: 1_500,
  /** Nothing queues up behind a migration outside a transaction; an index waits for every transaction that is open. */
  waitOutsideTransaction: 300_000,
};

const insertApplied = `INSERT INTO _prisma_migrations
  (id, migration_name, checksum, finished_at, applied_steps_count) VALUES ($1, $2, $3, clock_timestamp(), 1)`;

/** The transactions that are open for longest, which are those that a migration waits for. */
const selectOpenTransactions = `SELECT
    pid || coalesce(' (' || nullif(application_name, '') || ')', '') || ', open for '
      || round(extract(epoch FROM clock_timestamp() - xact_start)) || ' s' AS description
  FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid() AND clock_timestamp() - xact_start > interval '1 second'
  ORDER BY xact_start LIMIT 3`;

/** The index that the only statement of a file creates. */
const createdIndex = /^\s*CREATE\s+(?:UNIQUE\s+)?INDEX\s+CONCURRENTLY\s+IF\s+NOT\s+EXISTS\s+"?(\w+)"?/im;

/**
 * Applies a migration and records it. A transaction that does not get its locks is repeated, until `patience` milliseconds are over.
 *
 * @throws PostgreSQL's error; when the locks were not to be had, one that names the transactions that are open
 */
export async function applyMigration(
  client: pg.Client,
  migration: Migration,
  patience: number,
): Promise<void> {
  if (migration.sql.startsWith(outsideTransaction)) return applyOutsideTransaction(client, migration);
  await client.query(`SET lock_timeout = ${lockTimes.wait}`);
  for (const end = Date.now() + patience; ; ) {
    try {
      return await applyInTransaction(client, migration);
    } catch (error) {
      // Of a deadlock with a request, either side may be the one that PostgreSQL ends.
      if (!hasCode(error, '55P03', '40P01')) throw error;
      await client.query('ROLLBACK');
      if (Date.now() + lockTimes.pause > end) throw await describeWait(client, error, patience);
    }
    await sleep(lockTimes.pause);
  }
}

/** Any error but that of a lock needs no ROLLBACK: `migrate` ends the connection. */
async function applyInTransaction(client: pg.Client, migration: Migration): Promise<void> {
  await client.query('BEGIN');
  await client.query(migration.sql);
  await record(client, migration);
  await client.query('COMMIT');
}

async function applyOutsideTransaction(client: pg.Client, migration: Migration): Promise<void> {
  await client.query(`SET lock_timeout = ${lockTimes.waitOutsideTransaction}`);
  const index = createdIndex.exec(migration.sql)?.[1];
  if (index !== undefined) await dropInvalidIndex(client, index);
  await client.query(migration.sql);
  await record(client, migration);
}

/** An interrupted run leaves an index that is written to and never read, and that `IF NOT EXISTS` takes for the finished one. */
async function dropInvalidIndex(client: pg.Client, name: string): Promise<void> {
  const invalid = 'SELECT FROM pg_index WHERE indexrelid = to_regclass($1) AND NOT indisvalid';
  const { rowCount } = await client.query(invalid, [`"${name}"`]);
  if (rowCount !== 0) await client.query(`DROP INDEX CONCURRENTLY IF EXISTS "${name}"`);
}

async function record(client: pg.Client, { name, checksum }: Migration): Promise<void> {
  await client.query(insertApplied, [randomUUID(), name, checksum]);
}

async function describeWait(client: pg.Client, cause: Error, patience: number): Promise<Error> {
  const { rows } = await client.query<{ description: string }>(selectOpenTransactions);
  const open = rows.map(({ description }) => description).join('; ') || 'none any more';
  return new Error(
    `${cause.message}, repeatedly for ${patience / 1000} s. Nothing was changed; run it again. Open transactions by process id: ${open}`,
    { cause },
  );
}
