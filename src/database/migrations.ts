import { createHash, randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runMigrations as runWorkerMigrations } from 'graphile-worker';
import { migrations as workerMigrations } from 'graphile-worker/dist/generated/sql.js';
import pg from 'pg';

/** The schema is not up to date. The message names the migration and says what to do, or PostgreSQL's error. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError';
}

interface Migration {
  sql: string;
  checksum: string;
}

interface RecordedMigration {
  name: string;
  checksum: string;
  applied: boolean;
}

const migrationsFolder = fileURLToPath(import.meta.resolve('#package/prisma/migrations'));

/** Stands for graphile-worker's schema among the names of migrations. */
const worker = 'graphile_worker';
const workerRevision = Math.max(...Object.keys(workerMigrations).map((file) => Number.parseInt(file, 10)));

/** The advisory lock that Prisma's CLI takes, so that the two exclude each other. */
const lockKey = 72707369;

/** Milliseconds. Queries queue up behind a migration that waits for a table lock, so it fails soon instead. */
const tableLockTimeout = 10_000;

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
const insertApplied = `INSERT INTO _prisma_migrations
  (id, migration_name, checksum, finished_at, applied_steps_count) VALUES ($1, $2, $3, clock_timestamp(), 1)`;
const selectRecorded = `SELECT migration_name AS name, checksum, finished_at IS NOT NULL AS applied
  FROM _prisma_migrations WHERE rolled_back_at IS NULL`;
const selectWorker = `SELECT '${worker}', '', true FROM ${worker}.migrations WHERE id = ${workerRevision}`;

/**
 * Applies the pending migrations of prisma/migrations, then graphile-worker's own. `_prisma_migrations` is filled as
 * Prisma's CLI does it, so `prisma migrate status` agrees. Each migration is one transaction together with its row: a
 * failed one leaves nothing behind and is retried by the next run. Concurrent runs wait for an advisory lock.
 *
 * @param connectionString needs a session: a direct connection or a session pooler, not a transaction pooler
 * @param options.folder of the migrations
 * @param options.lockTimeout milliseconds to wait for a concurrent run
 * @returns names of the migrations applied now, `graphile_worker` for the worker's schema
 * @throws MigrationError when a migration fails, did not finish earlier or was edited after it was applied, and when
 *   a concurrent run takes too long
 */
export async function migrate(
  connectionString: string,
  { folder = migrationsFolder, lockTimeout = 60_000 } = {},
): Promise<string[]> {
  const migrations = await readMigrations(folder);
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 15_000 });
  // An unhandled error event would end the process; the next query reports a lost connection.
  client.on('error', () => undefined);
  await client.connect();
  try {
    if ((await checkHistory(client, migrations)).length === 0) return [];
    await lock(client, lockTimeout);
    const pending = await checkHistory(client, migrations);
    await client.query(createTable);
    for (const name of pending) {
      const migration = migrations.get(name);
      try {
        await (migration ? apply(client, name, migration) : runWorkerMigrations({ connectionString }));
      } catch (error) {
        throw new MigrationError(`migration ${name} failed: ${describe(error, migration?.sql)}`, {
          cause: error,
        });
      }
    }
    return pending;
  } finally {
    await client.end();
  }
}

/**
 * Names of the migrations that are not applied, for readiness; `graphile_worker` when the worker's schema is missing
 * or older than the installed package. One query on a migrated database.
 */
export async function pendingMigrations(
  database: pg.Pool | pg.Client,
  folder = migrationsFolder,
): Promise<string[]> {
  return pendingOf(await migrationNames(folder), await readRecorded(database));
}

function pendingOf(names: Iterable<string>, recorded: RecordedMigration[]): string[] {
  const applied = new Set(recorded.filter((row) => row.applied).map((row) => row.name));
  return [...names, worker].filter((name) => !applied.has(name));
}

/**
 * Stricter than `prisma migrate deploy`, which only warns of an edit: databases migrated before and after it differ.
 * Migrations that only the database knows are allowed: they belong to a newer release.
 */
async function checkHistory(client: pg.Client, migrations: Map<string, Migration>): Promise<string[]> {
  const recorded = await readRecorded(client);
  for (const { name, checksum, applied } of recorded) {
    if (!applied) {
      throw new MigrationError(
        `migration ${name} was started and not finished: complete or undo it by hand, then set finished_at or rolled_back_at of its row in _prisma_migrations`,
      );
    }
    const expected = migrations.get(name)?.checksum ?? checksum;
    if (checksum !== expected) {
      throw new MigrationError(
        `migration ${name} was edited after it was applied: restore its migration.sql and write a new migration`,
      );
    }
  }
  return pendingOf(migrations.keys(), recorded);
}

async function readRecorded(database: pg.Pool | pg.Client): Promise<RecordedMigration[]> {
  for (const text of [`${selectRecorded} UNION ALL ${selectWorker}`, selectRecorded]) {
    try {
      return (await database.query<RecordedMigration>(text)).rows;
    } catch (error) {
      if (!hasCode(error, '42P01')) throw error; // undefined table
    }
  }
  return [];
}

async function lock(client: pg.Client, timeout: number): Promise<void> {
  // The role or the database may limit statements to what the service needs; a migration may take longer.
  await client.query(`SET statement_timeout = 0; SET lock_timeout = ${timeout}`);
  try {
    await client.query(`SELECT pg_advisory_lock(${lockKey})`);
  } catch (error) {
    if (!hasCode(error, '55P03')) throw error; // lock timeout
    throw new MigrationError(`a concurrent migration did not finish within ${timeout / 1000} s`);
  }
  await client.query(`SET lock_timeout = ${tableLockTimeout}`);
}

/** A failure needs no ROLLBACK: `migrate` ends the connection. */
async function apply(client: pg.Client, name: string, { sql, checksum }: Migration): Promise<void> {
  await client.query('BEGIN');
  await client.query(sql);
  await client.query(insertApplied, [randomUUID(), name, checksum]);
  await client.query('COMMIT');
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof pg.DatabaseError && error.code === code;
}

/** PostgreSQL's message, its code and, when it reports a position in the script, the line. */
function describe(error: unknown, sql = ''): string {
  if (!(error instanceof pg.DatabaseError)) return error instanceof Error ? error.message : String(error);
  const line = error.position && `, line ${sql.slice(0, Number(error.position)).split('\n').length}`;
  return `${error.message} (${error.code}${line ?? ''})`;
}

async function migrationNames(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => /^\d{14}_/.test(name)).sort();
}

async function readMigrations(folder: string): Promise<Map<string, Migration>> {
  const migrations = new Map<string, Migration>();
  for (const name of await migrationNames(folder)) {
    // Git may check the file out with CRLF. Prisma's CLI accepts the checksum of either line ending.
    const sql = (await readFile(join(folder, name, 'migration.sql'), 'utf8')).replaceAll('\r\n', '\n');
    migrations.set(name, { sql, checksum: createHash('sha256').update(sql).digest('hex') });
  }
  return migrations;
}
