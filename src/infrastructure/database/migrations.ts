import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import { applyMigration, type Migration } from './apply-migration.ts';
import { withClient } from './connection.ts';
import { hasCode } from './errors.ts';
import { advisoryLocks } from './locks.ts';

/** The schema is not up to date. The message names the migration and says what to do, or PostgreSQL's error. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError';
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
