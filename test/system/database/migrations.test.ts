import pg from 'pg';
import t, { type Test } from 'tap';
import { migrate, pendingMigrations } from '../../../src/infrastructure/database/migrations.ts';
import { committed, connect, writeMigrations } from '../../database/migration-folders.ts';
import { createTestDatabase } from '../../support/database.ts';
import { until } from '../../support/until.ts';

const tables = "SELECT tablename AS value FROM pg_tables WHERE schemaname = 'public' ORDER BY 1";
/** The connections of runs. */
const runs =
  "SELECT pid AS value FROM pg_stat_activity WHERE application_name = 'dure-migrate' AND datname = current_database()";

/** Asserts that a run fails with a message. */
const fails = (t: Test, run: Promise<unknown>, message: string | RegExp) =>
  t.rejects(run, { name: 'MigrationError', message });

t.test('an empty database gets all migrations and the worker schema, a second run nothing', async (t) => {
  const { url, client, values } = await connect(t);
  t.same(await pendingMigrations(client), committed);

  t.same(await migrate(url), committed);
  t.same(await pendingMigrations(client), []);
  t.same(await migrate(url), []);

  t.same(await values('SELECT migration_name AS value FROM _prisma_migrations ORDER BY 1'), committed);
  t.same(await values("SELECT to_regclass('users') IS NOT NULL AS value"), [true]);
  t.same(await values("SELECT (graphile_worker.add_job('x')).attempts AS value"), [0]);
});

t.test('readiness takes one query on a migrated database', async (t) => {
  const { client } = await connect(t, createTestDatabase);
  const query = t.capture(client, 'query', client.query);
  t.same(await pendingMigrations(client), []);
  t.equal(query().length, 1);
});

t.test('a missing worker schema is created by the next run', async (t) => {
  const { url, client, values } = await connect(t, createTestDatabase);
  await client.query('DROP SCHEMA graphile_worker CASCADE');
  await migrate(url);
  t.same(await values("SELECT (graphile_worker.add_job('x')).attempts AS value"), [0]);
});

t.test('a run waits for the lock until its timeout, or until the lock holder dies', async (t) => {
  const { url, client, values } = await connect(t);
  const holder = new pg.Client({ connectionString: url });
  holder.on('error', () => undefined);
  await holder.connect();
  const locked = await holder.query('SELECT pg_advisory_lock(72707369), pg_backend_pid() AS pid');
  const message = 'a concurrent migration did not finish within 0.1 s';
  await fails(t, migrate(url, { patience: 100 }), message);

  const migrating = migrate(url);
  await until('the run waits for the lock', async () => (await values(runs)).length > 0);
  t.same(await pendingMigrations(client), committed);
  await client.query('SELECT pg_terminate_backend($1)', [locked.rows[0]?.pid]);
  t.same(await migrating, committed);
});

t.test('a migration has a lock timeout and no statement timeout', async (t) => {
  const { url, client, values } = await connect(t);
  const [database] = await values('SELECT current_database() AS value');
  await client.query(`ALTER DATABASE ${database} SET statement_timeout = '5s'`);
  const { folder } = await writeMigrations(t, {
    '20260101000000_settings': `CREATE TABLE settings AS SELECT name || ' ' || setting AS value
      FROM pg_settings WHERE name IN ('lock_timeout', 'statement_timeout');`,
  });
  await migrate(url, { folder });
  t.same(await values('SELECT value FROM settings ORDER BY 1'), ['lock_timeout 1000', 'statement_timeout 0']);
});

t.test('a failed migration is named, is rolled back and is retried', async (t) => {
  const { url, client, values } = await connect(t);
  const { folder, write } = await writeMigrations(t, {
    '20260101000000_first': 'CREATE TABLE first (id int);',
    '20260102000000_broken': 'CREATE TABLE partial (id int);\nCREATE TABLE other (\n  id integger\n);',
    '20260103000000_last': 'CREATE TABLE last (id int);',
  });
  const message = 'migration 20260102000000_broken failed: type "integger" does not exist';
  await fails(t, migrate(url, { folder }), message);
  t.same(await values(tables), ['_prisma_migrations', 'first']);
  t.same(await pendingMigrations(client, folder), ['20260102000000_broken', '20260103000000_last']);

  await write('20260102000000_broken', 'CREATE TABLE fixed (id int);');
  t.same(await migrate(url, { folder }), ['20260102000000_broken', '20260103000000_last']);
  t.same(await values(tables), ['_prisma_migrations', 'first', 'fixed', 'last']);
});

t.test('a migration is rolled back when its row cannot be inserted', async (t) => {
  const { url, values } = await connect(t);
  const { folder } = await writeMigrations(t, {
    '20260101000000_first':
      "CREATE TABLE first (id int); ALTER TABLE _prisma_migrations ADD CHECK (checksum = '');",
  });
  await fails(t, migrate(url, { folder }), /^migration 20260101000000_first failed: .*check constraint/);
  t.same(await values(tables), ['_prisma_migrations']);
});

t.test('a migration whose connection is lost is rolled back and retried', async (t) => {
  const { url, client, values } = await connect(t);
  const { folder, write } = await writeMigrations(t, {
    '20260101000000_slow': 'CREATE TABLE slow (id int); SELECT pg_sleep(600);',
  });
  const failing = fails(t, migrate(url, { folder }), /_slow failed/);
  const sleeping =
    "SELECT pid AS value FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()";
  await until('the migration runs', async () => (await values(sleeping)).length > 0);
  await client.query(`SELECT pg_terminate_backend(value) FROM (${sleeping}) AS sleeping`);
  await failing;
  t.same(await values(tables), ['_prisma_migrations']);

  await write('20260101000000_slow', 'CREATE TABLE slow (id int);');
  t.same(await migrate(url, { folder }), ['20260101000000_slow']);
});

t.test('a failure of the worker schema is reported with its name', async (t) => {
  const { url, client } = await connect(t);
  await client.query('CREATE SCHEMA graphile_worker; CREATE TABLE graphile_worker.jobs (id int)');
  await fails(t, migrate(url), /^migration graphile_worker failed: /);
});

t.test('a migration recorded as started but not finished stops the run', async (t) => {
  const { url, client } = await connect(t, createTestDatabase);
  await client.query('UPDATE _prisma_migrations SET finished_at = NULL');
  t.same(await pendingMigrations(client), committed);
  await fails(t, migrate(url), /^migration \d{14}_\w+ was started and not/);
  await client.query('UPDATE _prisma_migrations SET finished_at = now()');
  t.same(await migrate(url), []);
});

t.test('a migration edited after it was applied stops the run; other line endings are no edit', async (t) => {
  const { url, values } = await connect(t);
  const { folder, write } = await writeMigrations(t, { '20260101000000_first': '-- 1\nSELECT 1;\n' });
  await migrate(url, { folder });
  await write('20260101000000_first', '-- 1\r\nSELECT 1;\r\n');
  t.same(await migrate(url, { folder }), []);

  await write('20260101000000_first', '-- 1\nSELECT 2;\n');
  await write('20260102000000_second', 'CREATE TABLE second (id int);');
  const message = /^migration 20260101000000_first was edited after it was applied/;
  await fails(t, migrate(url, { folder }), message);
  t.same(await values(tables), ['_prisma_migrations']);
});

t.test('migrations of a newer release in the database are allowed', async (t) => {
  const { url, client } = await connect(t, createTestDatabase);
  const { folder } = await writeMigrations(t, {});
  t.same(await pendingMigrations(client, folder), []);
  t.same(await migrate(url, { folder }), []);
});

/* What migrations wait for, and what waits for them. */

const alteration = '20260102000000_alteration';
const index = '20260102000000_index';
const table = {
  '20260101000000_table': 'CREATE TABLE notes (id int); INSERT INTO notes SELECT generate_series(1, 9);',
};

/** Opens a transaction that has read the table, and so has a lock and a snapshot. */
async function openTransaction(t: Test, url: string) {
  const client = new pg.Client({ connectionString: url, application_name: 'report' });
  await client.connect();
  t.teardown(() => client.end());
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM notes');
  return {
    pid: Number((await client.query('SELECT pg_backend_pid() AS pid')).rows[0]?.pid),
    end: () => client.query('COMMIT'),
  };
}

t.test('a migration that waits for its lock lets readers pass and tries again', async (t) => {
  const { url, client, values } = await connect(t);
  const { folder, write } = await writeMigrations(t, table);
  await migrate(url, { folder });
  await write(alteration, 'ALTER TABLE notes ADD COLUMN text text;');
  const transaction = await openTransaction(t, url);
  const waiting = "SELECT pid AS value FROM pg_locks WHERE relation = 'notes'::regclass AND NOT granted";

  const message = new RegExp(
    `^migration ${alteration} failed: canceling statement due to lock timeout, repeatedly for 0 s\\. Nothing was changed; run it again\\. Open transactions by process id: ${transaction.pid} \\(report\\), open for \\d+ s$`,
  );
  await fails(t, migrate(url, { folder, patience: 0 }), message);
  t.same(await pendingMigrations(client, folder), [alteration]);

  const migrating = migrate(url, { folder });
  await until('the migration waits', async () => (await values(waiting)).length > 0);
  // As long as the statements of the service wait for a lock.
  await client.query("SET lock_timeout = '3s'");
  t.same(await values('SELECT count(*)::int AS value FROM notes'), [9], 'behind the migration in the queue');
  await until('an attempt waits', async () => (await values(waiting)).length > 0);
  await until('the first attempt is over', async () => (await values(waiting)).length === 0);
  await transaction.end();
  t.same(await migrating, [alteration], 'by another attempt of the same run');
});

t.test('an index is created concurrently, and again where a run was interrupted', async (t) => {
  const { url, client, values } = await connect(t);
  const { folder, write } = await writeMigrations(t, table);
  await migrate(url, { folder });
  await write(
    index,
    '-- Outside a transaction\nCREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "notes_id_key" ON "notes" ("id");\n',
  );
  const transaction = await openTransaction(t, url);
  const builders = "SELECT pid AS value FROM pg_locks WHERE locktype = 'virtualxid' AND NOT granted";
  const valid = "SELECT indisvalid AS value FROM pg_index WHERE indexrelid = to_regclass('notes_id_key')";

  const interrupted = fails(t, migrate(url, { folder }), new RegExp(`^migration ${index} failed: `));
  const builder = await until('the index is built', async () => (await values(builders))[0]);
  await client.query('INSERT INTO notes VALUES (10)');
  await client.query('SELECT pg_terminate_backend($1)', [builder]);
  await interrupted;
  t.same(await values(valid), [false]);
  t.same(await pendingMigrations(client, folder), [index]);

  const both = [1, 2].map(() => migrate(url, { folder }));
  await until('the index is built again, while the other run waits', async () => {
    const [running, building] = [await values(runs), await values(builders)];
    return running.length === 2 && building.length === 1;
  });
  await transaction.end();
  t.same((await Promise.all(both)).flat(), [index]);
  t.same(await values(valid), [true]);
});
