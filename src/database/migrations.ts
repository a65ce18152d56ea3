import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { MigrationList } from '@prisma/schema-engine-wasm/schema_engine_bg';
import { runMigrations as runWorkerMigrations } from 'graphile-worker';
import { migrations as workerMigrations } from 'graphile-worker/dist/generated/sql.js';
import pg from 'pg';
import { createSchemaEngine } from '../../scripts/schema-engine.ts';

/** What the functions here need of a pool or a client. */
export interface Queryable {
  query(text: string): Promise<{ rows: Array<Record<string, unknown>> }>;
}

/** A migration that could not be applied. What it had done up to there is undone. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError';
  /** The migration's folder name, or `graphile_worker`. */
  readonly migration: string;

  constructor(migration: string, reason: string, cause?: unknown) {
    super(`migration ${migration} failed: ${reason}`, { cause });
    this.migration = migration;
  }
}

const UNFINISHED =
  'it stopped half-way in an earlier run; complete or undo it by hand, then set finished_at or rolled_back_at of its row in _prisma_migrations';

const MIGRATIONS_FOLDER = fileURLToPath(import.meta.resolve('#package/prisma/migrations'));

/** graphile-worker's schema among the names of migrations. */
const WORKER = 'graphile_worker';
const WORKER_REVISION = Math.max(...Object.keys(workerMigrations).map((file) => Number.parseInt(file, 10)));

/** The key that Prisma's own `migrate deploy` locks, so that the two exclude each other. */
const LOCK_KEY = 72707369;
const LOCK_WAIT = '60s';

/** A migration that waits for a table holds up every later query of that table: rather fail and be started again. */
const TABLE_LOCK_WAIT = '10s';

const RECORDED = `SELECT migration_name AS name, finished_at IS NOT NULL AS applied
  FROM _prisma_migrations WHERE rolled_back_at IS NULL`;
const WORKER_RECORDED = `SELECT '${WORKER}' AS name, true AS applied
  FROM ${WORKER}.migrations WHERE id = ${WORKER_REVISION}`;

/**
 * Applies what is missing of prisma/migrations, then graphile-worker's own schema. Each migration is one transaction
 * together with the row that records it: one that fails, or whose process dies, leaves nothing behind and is tried
 * again by the next run. Instances that start together wait for the first one, for up to 60 seconds.
 *
 * @param connectionString must lead to a session of its own: not through a pooler in transaction mode
 * @param folder where the migrations are
 * @returns the names applied now; `graphile_worker` for the worker's schema
 * @throws MigrationError with the migration's name and PostgreSQL's message
 */
export async function migrate(connectionString: string, folder = MIGRATIONS_FOLDER): Promise<string[]> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 15_000 });
  // Without a listener a connection lost between two queries would end the process; the next query reports it.
  client.on('error', () => undefined);
  await client.connect();
  try {
    if ((await pendingMigrations(client, folder)).length === 0) return [];
    await lock(client);
    const { missing, unfinished } = await readState(client, folder);
    for (const name of unfinished) throw new MigrationError(name, UNFINISHED);
    const scripts = missing.filter((name) => name !== WORKER);
    if (scripts.length > 0) await applyScripts(client, scripts, await readMigrations(folder));
    if (missing.includes(WORKER)) await migrateWorker(connectionString);
    return missing;
  } finally {
    await client.end();
  }
}

/**
 * Names of migrations that the database does not have, or of which it says that they failed half-way;
 * `graphile_worker` stands for the worker's schema when that is missing or older than the installed package.
 * One query on a migrated database.
 */
export async function pendingMigrations(database: Queryable, folder = MIGRATIONS_FOLDER): Promise<string[]> {
  const { missing, unfinished } = await readState(database, folder);
  return [...unfinished, ...missing];
}

/** Unfinished are those of another tool, or with a COMMIT of their own: here a failure leaves no row. */
async function readState(database: Queryable, folder: string) {
  const rows = (await rowsOfExisting(database, `${RECORDED} UNION ALL ${WORKER_RECORDED}`)) ?? [
    // One of the two tables does not exist yet.
    ...((await rowsOfExisting(database, RECORDED)) ?? []),
    ...((await rowsOfExisting(database, WORKER_RECORDED)) ?? []),
  ];
  const recorded = new Set(rows.map((row) => String(row.name)));
  const applied = new Set(rows.filter((row) => row.applied === true).map((row) => String(row.name)));
  return {
    missing: [...(await migrationNames(folder)), WORKER].filter((name) => !recorded.has(name)),
    unfinished: [...recorded].filter((name) => !applied.has(name)),
  };
}

/** @returns undefined when a table of the query does not exist */
async function rowsOfExisting(database: Queryable, text: string) {
  try {
    return (await database.query(text)).rows;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === '42P01') return undefined;
    throw error;
  }
}

async function lock(client: pg.Client): Promise<void> {
  await client.query(`
    SET lock_timeout = '${LOCK_WAIT}';
    -- Limits that the role or the database may have for the service's queries.
    SET statement_timeout = 0;
    SET idle_in_transaction_session_timeout = 0;
    -- The server shall notice within half a minute when the host that holds the lock is gone.
    SET tcp_keepalives_idle = 15;
    SET tcp_keepalives_interval = 5;
    SET tcp_keepalives_count = 3`);
  try {
    await client.query(`SELECT pg_advisory_lock(${LOCK_KEY})`);
  } catch (error) {
    const timedOut = error instanceof pg.DatabaseError && error.code === '55P03';
    throw timedOut ? new Error(`another migration of this database runs for over ${LOCK_WAIT}`) : error;
  }
  await client.query(`SET lock_timeout = '${TABLE_LOCK_WAIT}'`);
}

async function applyScripts(client: pg.Client, names: string[], list: MigrationList): Promise<void> {
  let scriptError: unknown;
  const engine = await createSchemaEngine(client, async (script) => {
    try {
      await client.query(script);
    } catch (error) {
      // Kept here, because of the errors of its connection the engine passes on a number only.
      scriptError = error instanceof pg.DatabaseError ? located(error, script) : error;
      throw error;
    }
  });
  for (const name of names) {
    const end = list.migrationDirectories.findIndex(({ path }) => path === name) + 1;
    const migrationsList = { ...list, migrationDirectories: list.migrationDirectories.slice(0, end) };
    await client.query('BEGIN');
    try {
      await engine.applyMigrations({ migrationsList, filters: { externalTables: [], externalEnums: [] } });
      await client.query('COMMIT');
    } catch (error) {
      // Fails where the connection is lost: then the server has rolled back by itself.
      await client.query('ROLLBACK').catch(() => undefined);
      throw new MigrationError(name, reasonOf(scriptError ?? error), scriptError ?? error);
    }
  }
}

async function migrateWorker(connectionString: string): Promise<void> {
  const pgPool = new pg.Pool({ connectionString, max: 1 });
  // graphile-worker warns on the console about a pool without these two; the queries themselves report the error.
  pgPool.on('error', () => undefined);
  pgPool.on('connect', (client) => client.on('error', () => undefined));
  try {
    await runWorkerMigrations({ pgPool });
  } catch (error) {
    throw new MigrationError(WORKER, reasonOf(error), error);
  } finally {
    await pgPool.end();
  }
}

async function migrationNames(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
}

async function readMigrations(folder: string): Promise<MigrationList> {
  const migrationDirectories = (await migrationNames(folder)).map(async (path) => {
    const value = await readFile(join(folder, path, 'migration.sql'), 'utf8');
    return { path, migrationFile: { path: 'migration.sql', content: { tag: 'ok' as const, value } } };
  });
  return {
    baseDir: folder,
    lockfile: { path: 'migration_lock.toml', content: 'provider = "postgresql"' },
    shadowDbInitScript: '',
    migrationDirectories: await Promise.all(migrationDirectories),
  };
}

/** With the code, and the line where PostgreSQL tells the place. */
function located(error: pg.DatabaseError, script: string): Error {
  const line = error.position && `, line ${script.slice(0, Number(error.position)).split('\n').length}`;
  return new Error(`${error.message} (${error.code}${line ?? ''})`, { cause: error });
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
