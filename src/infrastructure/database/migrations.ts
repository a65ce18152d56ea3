import { createHash, randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import { withClient } from './connection.ts';
import { hasCode } from './errors.ts';
import { advisoryLocks } from './locks.ts';

/** The schema is not up to date. The message names the migration and says what to do, or PostgreSQL's error. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError';
}

/** A file of prisma/migrations. */
interface Migration {
  name: string;
  sql: string;
  checksum: string;
}

/** A row of `_prisma_migrations`. */
interface RecordedMigration extends Omit<Migration, 'sql'> {
  finished_at: Date | null;
}

/** A migration that was applied now. */
export interface AppliedMigration {
  name: string;
  milliseconds: number;
}

const migrationsFolder = fileURLToPath(import.meta.resolve('#package/prisma/migrations'));

/** Milliseconds between two attempts to get the advisory lock. */
const lockInterval = 200;

/** As in Prisma's schema engine. */
const createTable = `CREATE TABLE IF NOT EXISTS _prisma_migrations (
  id VARCHAR(36) PRIMARY KEY NOT NULL,
  checksum VARCHAR(64) NOT NULL,
  finished_at TIMESTAMPTZ,
  migration_name VARCHAR(255) NOT NULL,
  logs TEXT,
  rolled_back_at TIMESTAMPTZ,
  started_at TIMESTAMPTZ NOT NULL DEFAULT now(),
  applied_steps_count INTEGER NOT NULL DEFAULT 0
)`;
const selectRecorded = `SELECT migration_name AS name, checksum, finished_at
  FROM _prisma_migrations WHERE rolled_back_at IS NULL`;

interface MigrateOptions {
  folder?: string;
  patience?: number;
  onApplied?(migration: AppliedMigration): void;
}

/**
 * Applies the pending migrations of graphile-worker, then those of prisma/migrations. Each is one transaction together with its row
 * in `_prisma_migrations`, which is filled as Prisma's CLI does it: a failed one leaves nothing behind, and the next run applies it
 * again. Those that begin with `-- Outside a transaction` are the exception. Concurrent runs wait for each other.
 *
 * @param connectionString needs a session: a direct connection or a session pooler, not a transaction pooler
 * @returns names of the migrations of prisma/migrations that were applied now
 * @throws {MigrationError} when one fails, did not finish or was edited after it was applied, or a concurrent run takes too long
 */
export async function migrate(
  connectionString: string,
  { folder = migrationsFolder, patience = 60_000, onApplied }: MigrateOptions = {},
): Promise<string[]> {
  const settings = { application_name: 'dure-migrate', connectionTimeoutMillis: 15_000 };
  return withClient({ connectionString, ...settings }, async (client) => {
    await lock(client, patience);
    // First, so that a database without pending migrations has the worker's schema, too.
    await withName('graphile_worker', migrateWorker(connectionString));
    const migrations = await readMigrations(folder);
    const recorded = await readRecorded(client);
    for (const { name, state } of compare(migrations, recorded)) {
      const problem = problems[state];
      if (problem !== undefined) throw new MigrationError(`migration ${name} ${problem}`);
    }
    const pending = migrations.filter(({ name }) => !recorded.some((row) => row.name === name));
    if (pending.length > 0) await client.query(createTable);
    for (const migration of pending) {
      const startedAt = performance.now();
      await withName(migration.name, applyMigration(client, migration, patience));
      onApplied?.({ name: migration.name, milliseconds: Math.round(performance.now() - startedAt) });
    }
    return pending.map(({ name }) => name);
  });
}

/** Names of the migrations in prisma/migrations that are not applied, for readiness. One query. */
export async function pendingMigrations(
  database: pg.Pool | pg.Client,
  folder = migrationsFolder,
): Promise<string[]> {
  const recorded = await readRecorded(database);
  const finished = new Set(recorded.filter((row) => row.finished_at !== null).map(({ name }) => name));
  return (await migrationNames(folder)).filter((name) => !finished.has(name));
}

/** Polls: one who waits for the lock has a snapshot, for which an index that is created concurrently would wait in turn. */
async function lock(client: pg.Client, timeout: number): Promise<void> {
  // The role or the database may limit statements to what the service needs; a migration may take longer.
  await client.query('SET statement_timeout = 0');
  for (const end = Date.now() + timeout; ; await sleep(lockInterval)) {
    const { rows } = await client.query<{ locked: boolean }>(
      `SELECT pg_try_advisory_lock(${advisoryLocks.migrations}) AS locked`,
    );
    if (rows[0]?.locked) return;
    if (Date.now() > end)
      throw new MigrationError(`a concurrent migration did not finish within ${timeout / 1000} s`);
  }
}

/** The migrations that the database has, also those of a newer release; those that were rolled back by hand excepted. */
async function readRecorded(database: pg.Pool | pg.Client): Promise<RecordedMigration[]> {
  try {
    return (await database.query<RecordedMigration>(selectRecorded)).rows;
  } catch (error) {
    if (hasCode(error, '42P01')) return []; // undefined table
    throw error;
  }
}

/** Loads the worker only here: the start of the service needs this file to see what is pending. */
async function migrateWorker(connectionString: string): Promise<void> {
  const { runMigrations } = await import('graphile-worker');
  await runMigrations({ connectionString });
}

async function withName(name: string, migration: Promise<void>): Promise<void> {
  await migration.catch((cause: Error) => {
    throw new MigrationError(`migration ${name} failed: ${cause.message}`, { cause });
  });
}

async function migrationNames(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => /^\d{14}_/.test(name)).sort();
}

/** The migrations of this release, oldest first. */
async function readMigrations(folder: string): Promise<Migration[]> {
  const names = await migrationNames(folder);
  return Promise.all(
    names.map(async (name) => {
      // Git may check the file out with CRLF. Prisma's CLI accepts the checksum of either line ending.
      const sql = (await readFile(join(folder, name, 'migration.sql'), 'utf8')).replaceAll('\r\n', '\n');
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}

/**
 * - `applied`: the database has it.
 * - `pending`: `migrate` will apply it.
 * - `edited`: its SQL is another one than that which was applied; `migrate` stops.
 * - `unfinished`: it failed halfway outside a transaction; `migrate` stops.
 * - `newer`: only the database knows it, from a newer release.
 */
type MigrationState = 'applied' | 'pending' | 'edited' | 'unfinished' | 'newer';

/** With which `migrate` stops. It is stricter than `prisma migrate deploy`, which only warns of an edit. */
const problems: Partial<Record<MigrationState, string>> = {
  unfinished:
    'was started and not finished: complete or undo it by hand, then set finished_at or rolled_back_at of its row in _prisma_migrations',
  edited: 'was edited after it was applied: restore its migration.sql and write a new migration',
};

/** Compares the migrations of this release with those of the database, oldest first. Changes nothing. */
export async function migrationStatus(database: pg.Pool | pg.Client) {
  return compare(await readMigrations(migrationsFolder), await readRecorded(database));
}

function compare(migrations: Migration[], recorded: RecordedMigration[]) {
  const names = new Set([...migrations, ...recorded].map(({ name }) => name));
  return [...names].sort().map((name) => {
    const migration = migrations.find((one) => one.name === name);
    const row = recorded.find((one) => one.name === name);
    return { name, state: stateOf(migration, row), appliedAt: row?.finished_at ?? null };
  });
}

function stateOf(migration: Migration | undefined, row: RecordedMigration | undefined): MigrationState {
  if (row === undefined) return 'pending';
  if (row.finished_at === null) return 'unfinished';
  if (migration === undefined) return 'newer';
  return row.checksum === migration.checksum ? 'applied' : 'edited';
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
async function applyMigration(client: pg.Client, migration: Migration, patience: number): Promise<void> {
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
