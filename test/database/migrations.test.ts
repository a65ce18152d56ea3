import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import t, { type Test } from 'tap';
import { differenceSql } from '../../scripts/new-migration.ts';
import { migrate, pendingMigrations } from '../../src/database/migrations.ts';
import { createEmptyDatabase, createTestDatabase } from '../support/database.ts';

const WORKER = 'graphile_worker';
const committed = (
  await readdir(new URL(import.meta.resolve('#package/prisma/migrations')), { withFileTypes: true })
)
  .filter((entry) => entry.isDirectory())
  .map((entry) => entry.name)
  .sort();

async function connect(t: Test, create = createEmptyDatabase) {
  const { url, drop } = await create();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  t.teardown(async () => {
    await client.end();
    await drop();
  });
  const values = async (text: string) =>
    (await client.query<{ value: unknown }>(text)).rows.map(({ value }) => value);
  return { url, client, values };
}

/** A folder in place of prisma/migrations. */
async function writeMigrations(t: Test, scripts: Record<string, string>) {
  const folder = await mkdtemp(join(tmpdir(), 'dure-migrations-'));
  t.teardown(() => rm(folder, { recursive: true }));
  const write = async (name: string, sql: string) => {
    await mkdir(join(folder, name), { recursive: true });
    await writeFile(join(folder, name, 'migration.sql'), sql);
  };
  for (const [name, sql] of Object.entries(scripts)) await write(name, sql);
  return { folder, write };
}

async function runMigrateProcess(url: string): Promise<string> {
  const script = fileURLToPath(new URL('../../src/migrate.js', import.meta.url));
  const env = {
    ...process.env,
    NODE_ENV: 'test',
    DATABASE_URL: url,
    JWT_SECRET: 'wQ3v9-eLk2_xRt7y'.repeat(3),
  };
  return (await promisify(execFile)(process.execPath, [script], { env })).stdout;
}

async function waitUntil(condition: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 10_000; !(await condition()); await sleep(20)) {
    if (Date.now() > deadline) throw new Error('waited in vain for 10 seconds');
  }
}

t.test('a new database gets every migration and the schema of the job queue, once', async (t) => {
  const { url, client, values } = await connect(t);
  t.same(await pendingMigrations(client), [...committed, WORKER]);

  t.same(await migrate(url), [...committed, WORKER]);
  t.same(await pendingMigrations(client), []);
  t.same(await migrate(url), []);

  t.same(await values('SELECT migration_name AS value FROM _prisma_migrations ORDER BY 1'), committed);
  t.same(
    await values(`SELECT DISTINCT finished_at IS NOT NULL AND rolled_back_at IS NULL AND logs IS NULL
      AND applied_steps_count = 1 AND length(checksum) = 64 AS value FROM _prisma_migrations`),
    [true],
  );
  t.same(await values("SELECT to_regclass('users') IS NOT NULL AS value"), [true]);
  t.same(await values("SELECT (graphile_worker.add_job('x')).attempts AS value"), [0]);
});

t.test('the worker schema alone is pending when it is missing or of an older package', async (t) => {
  const { url, client } = await connect(t, createTestDatabase);
  await client.query(
    'DELETE FROM graphile_worker.migrations WHERE id = (SELECT max(id) FROM graphile_worker.migrations)',
  );
  t.same(await pendingMigrations(client), [WORKER]);
  await client.query('DROP SCHEMA graphile_worker CASCADE');
  t.same(await pendingMigrations(client), [WORKER]);
  t.same(await migrate(url), [WORKER]);
});

t.test('of processes that start together one migrates, and all succeed', async (t) => {
  const { url, values } = await connect(t);
  const outputs = await Promise.all(Array.from({ length: 5 }, () => runMigrateProcess(url)));
  const applied = [...committed, WORKER].map((name) => `applied ${name}\n`).join('');
  t.same(outputs.sort(), [applied, ...Array(4).fill('nothing to apply\n')]);
  t.same(await values('SELECT migration_name AS value FROM _prisma_migrations ORDER BY 1'), committed);
});

t.test('calls within one process share the engine and do not disturb each other', async (t) => {
  const databases = [await connect(t), await connect(t)];
  const results = await Promise.all([...databases, ...databases].map(({ url }) => migrate(url)));
  t.same(results.map((names) => names.length).sort(), [0, 0, committed.length + 1, committed.length + 1]);
});

t.test('a migration waits for another one, and goes on when that one dies', async (t) => {
  const { url, client, values } = await connect(t);
  const other = new pg.Client({ connectionString: url });
  other.on('error', () => undefined);
  await other.connect();
  const locked = await other.query('SELECT pg_advisory_lock(72707369), pg_backend_pid() AS pid');

  const migrating = migrate(url);
  const waiting = "SELECT 1 AS value FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";
  await waitUntil(async () => (await values(waiting)).length > 0);
  t.same(await pendingMigrations(client), [...committed, WORKER]);

  await client.query('SELECT pg_terminate_backend($1)', [locked.rows[0]?.pid]);
  t.same(await migrating, [...committed, WORKER]);
});

t.test('a broken migration is named, leaves nothing behind and is applied once it is mended', async (t) => {
  const { url, client, values } = await connect(t);
  const { folder, write } = await writeMigrations(t, {
    '20260101000000_good': 'CREATE TABLE good (id int);',
    '20260102000000_broken': 'CREATE TABLE half (id int);\nCREATE TABLE other (\n  id integger\n);',
    '20260103000000_later': 'CREATE TABLE later (id int);',
  });

  await t.rejects(migrate(url, folder), {
    name: 'MigrationError',
    migration: '20260102000000_broken',
    message: 'migration 20260102000000_broken failed: type "integger" does not exist (42704, line 3)',
  });
  const tables = "SELECT tablename AS value FROM pg_tables WHERE schemaname = 'public' ORDER BY 1";
  t.same(await values(tables), ['_prisma_migrations', 'good']);
  t.same(await pendingMigrations(client, folder), ['20260102000000_broken', '20260103000000_later', WORKER]);

  await write('20260102000000_broken', 'CREATE TABLE mended (id int);');
  t.same(await migrate(url, folder), ['20260102000000_broken', '20260103000000_later', WORKER]);
  t.same(await values(tables), ['_prisma_migrations', 'good', 'later', 'mended']);
});

t.test('a migration whose connection is lost is undone and applied by the next run', async (t) => {
  const { url, client, values } = await connect(t);
  const { folder, write } = await writeMigrations(t, {
    '20260101000000_slow': 'CREATE TABLE slow (id int); SELECT pg_sleep(30);',
  });
  const migrating = t.rejects(migrate(url, folder), {
    name: 'MigrationError',
    migration: '20260101000000_slow',
  });
  const sleeping =
    "SELECT pid AS value FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()";
  await waitUntil(async () => (await values(sleeping)).length > 0);
  await client.query(`SELECT pg_terminate_backend(value) FROM (${sleeping}) AS sleeping`);
  await migrating;

  await write('20260101000000_slow', 'CREATE TABLE slow (id int);');
  t.same(await migrate(url, folder), ['20260101000000_slow', WORKER]);
});

t.test('a script may hold functions, comments and texts with semicolons', async (t) => {
  const { url, values } = await connect(t);
  const { folder } = await writeMigrations(t, {
    '20260101000000_function': `-- not; here
      CREATE FUNCTION answer() RETURNS text LANGUAGE plpgsql AS $$
      BEGIN
        RETURN 'a;b';
      END $$;`,
  });
  await migrate(url, folder);
  t.same(await values('SELECT answer() AS value'), ['a;b']);
});

t.test('a migration that another tool left half-way is pending and needs a decision', async (t) => {
  const { url, client } = await connect(t, createTestDatabase);
  await client.query('UPDATE _prisma_migrations SET finished_at = NULL');
  t.same(await pendingMigrations(client), committed);
  await t.rejects(migrate(url), { migration: committed[0], message: /half-way/ });
  await client.query('UPDATE _prisma_migrations SET finished_at = now()');
  t.same(await pendingMigrations(client), []);
});

t.test('migrations that only the database knows do not matter: a newer release was here', async (t) => {
  const { url, client } = await connect(t);
  const { folder } = await writeMigrations(t, {});
  await migrate(url);
  t.same(await pendingMigrations(client, folder), []);
  t.same(await migrate(url, folder), []);
});

t.test('the migrations lead to schema.prisma', async (t) => {
  const { url } = await connect(t, createTestDatabase);
  t.equal(await differenceSql(url), '');
});

t.test('what schema.prisma cannot say is not dropped by the next migration; a plain index is', async (t) => {
  const { url, client } = await connect(t, createTestDatabase);
  await client.query(`
    ALTER TABLE users ADD CONSTRAINT test_check CHECK (name <> '');
    CREATE INDEX test_partial ON users (name) WHERE is_verified;
    CREATE INDEX test_expression ON users USING gin (to_tsvector('simple', name));
    CREATE FUNCTION test_function() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$;
    CREATE TRIGGER test_trigger BEFORE INSERT ON users FOR EACH ROW EXECUTE FUNCTION test_function();`);
  t.equal(await differenceSql(url), '');
  await client.query('CREATE INDEX test_plain ON users (name)');
  t.match(await differenceSql(url), 'DROP INDEX "test_plain"');
});
