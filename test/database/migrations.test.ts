import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import t, { type Test } from 'tap';
import { migrate, pendingMigrations } from '../../src/database/migrations.ts';
import { createEmptyDatabase, createTestDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';

const committed = (await readdir(new URL(import.meta.resolve('#package/prisma/migrations'))))
  .filter((name) => name !== 'migration_lock.toml')
  .sort();
const tables = "SELECT tablename AS value FROM pg_tables WHERE schemaname = 'public' ORDER BY 1";

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

/** Writes a folder in place of prisma/migrations. */
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
    JWT_SECRET: 'wQ3v9-eLk2_xRt7y.hB6nPz4s-Jd8uMc0a',
  };
  return (await promisify(execFile)(process.execPath, [script], { env })).stdout;
}

t.test(
  'an empty database gets all migrations and the worker schema, and a second run does nothing',
  async (t) => {
    const { url, client, values } = await connect(t);
    t.same(await pendingMigrations(client), committed);

    t.same(await migrate(url), committed);
    t.same(await pendingMigrations(client), []);
    t.same(await migrate(url), []);

    t.same(await values('SELECT migration_name AS value FROM _prisma_migrations ORDER BY 1'), committed);
    t.same(await values("SELECT to_regclass('users') IS NOT NULL AS value"), [true]);
    t.same(await values("SELECT (graphile_worker.add_job('x')).attempts AS value"), [0]);
  },
);

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

t.test('a role that owns only its database can migrate it', async (t) => {
  const { url, client, values } = await connect(t);
  const [database] = await values('SELECT current_database() AS value');
  const role = `${database}_owner`;
  await client.query(
    `CREATE ROLE ${role} LOGIN PASSWORD 'owner'; ALTER DATABASE ${database} OWNER TO ${role}`,
  );
  t.teardown(() => client.query(`REASSIGN OWNED BY ${role} TO CURRENT_USER; DROP ROLE ${role}`));
  const ownerUrl = new URL(url);
  ownerUrl.username = role;
  ownerUrl.password = 'owner';
  t.same(await migrate(ownerUrl.href), committed);
});

t.test('of concurrent processes one applies the migrations and all succeed', async (t) => {
  const { url, values } = await connect(t);
  const outputs = await Promise.all(Array.from({ length: 2 }, () => runMigrateProcess(url)));
  const applied = committed.map((name) => `applied ${name}\n`).join('');
  t.same(outputs.sort(), [applied, 'nothing to apply\n']);
  t.same(await values('SELECT migration_name AS value FROM _prisma_migrations ORDER BY 1'), committed);
});

t.test('a run waits for the lock until its timeout, or until the lock holder dies', async (t) => {
  const { url, client, values } = await connect(t);
  const holder = new pg.Client({ connectionString: url });
  holder.on('error', () => undefined);
  await holder.connect();
  const locked = await holder.query('SELECT pg_advisory_lock(72707369), pg_backend_pid() AS pid');
  await t.rejects(migrate(url, { lockTimeout: 100 }), {
    name: 'MigrationError',
    message: 'a concurrent migration did not finish within 0.1 s',
  });

  const migrating = migrate(url);
  const waiting = "SELECT 1 AS value FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";
  await until('the run waits for the lock', async () => (await values(waiting)).length > 0);
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
  t.same(await values('SELECT value FROM settings ORDER BY 1'), [
    'lock_timeout 10000',
    'statement_timeout 0',
  ]);
});

t.test('a failed migration is named, is rolled back and is retried', async (t) => {
  const { url, client, values } = await connect(t);
  const { folder, write } = await writeMigrations(t, {
    '20260101000000_first': 'CREATE TABLE first (id int);',
    '20260102000000_broken': 'CREATE TABLE partial (id int);\nCREATE TABLE other (\n  id integger\n);',
    '20260103000000_last': 'CREATE TABLE last (id int);',
  });
  await t.rejects(migrate(url, { folder }), {
    name: 'MigrationError',
    message: 'migration 20260102000000_broken failed: type "integger" does not exist',
  });
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
  await t.rejects(migrate(url, { folder }), {
    message: /^migration 20260101000000_first failed: .*check constraint/,
  });
  t.same(await values(tables), ['_prisma_migrations']);
});

t.test('a migration whose connection is lost is rolled back and retried', async (t) => {
  const { url, client, values } = await connect(t);
  const { folder, write } = await writeMigrations(t, {
    '20260101000000_slow': 'CREATE TABLE slow (id int); SELECT pg_sleep(30);',
  });
  const failing = t.rejects(migrate(url, { folder }), { name: 'MigrationError', message: /_slow failed/ });
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
  await t.rejects(migrate(url), { name: 'MigrationError', message: /^migration graphile_worker failed: / });
});

t.test('a migration recorded as started but not finished stops the run', async (t) => {
  const { url, client } = await connect(t, createTestDatabase);
  await client.query('UPDATE _prisma_migrations SET finished_at = NULL');
  t.same(await pendingMigrations(client), committed);
  await t.rejects(migrate(url), {
    name: 'MigrationError',
    message: /^migration \d{14}_\w+ was started and not/,
  });
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
  await t.rejects(migrate(url, { folder }), {
    name: 'MigrationError',
    message: /^migration 20260101000000_first was edited after it was applied/,
  });
  t.same(await values(tables), ['_prisma_migrations']);
});

t.test('migrations of a newer release in the database are allowed', async (t) => {
  const { url, client } = await connect(t, createTestDatabase);
  const { folder } = await writeMigrations(t, {});
  t.same(await pendingMigrations(client, folder), []);
  t.same(await migrate(url, { folder }), []);
});

/** Applies the migrations before one to an empty database, as an earlier release did. */
async function migrateUntil(t: Test, before: string) {
  const database = await connect(t);
  const { folder } = await writeMigrations(t, {});
  const source = fileURLToPath(import.meta.resolve('#package/prisma/migrations'));
  for (const name of committed.filter((one) => one < before))
    await cp(join(source, name), join(folder, name), { recursive: true });
  await migrate(database.url, { folder });
  return database;
}

const twoStores = `
  INSERT INTO users (id, username, email, name, password_hash)
    SELECT n, 'user' || n, n || '@example.com', '이름', 'x' FROM generate_series(1, 3) n;
  INSERT INTO stores (id, owner_id, name, address) VALUES (1, 1, '두레 카페', '와우산로 1'), (2, 2, '둘', '');
  INSERT INTO store_category_links (store_id, category_id, position) VALUES (1, 1, 1), (2, 1, 1);
  INSERT INTO posts (id, store_id, title, content, images)
    VALUES (1, 1, '글 하나', '함께 해요', '{https://example.com/1.jpg}')`;

t.test('notifications from before the counts are counted', async (t) => {
  const { url, client, values } = await migrateUntil(t, '20261122030000');
  await client.query(`
    ${twoStores};
    INSERT INTO partner_requests (id, post_id, sender_store_id, receiver_store_id, message) VALUES (1, 1, 2, 1, '함께');
    INSERT INTO notifications (user_id, kind, partner_request_id, is_read)
      SELECT n % 2 + 1, 'partner_request_received', 1, n % 3 = 0 FROM generate_series(1, 9) n`);
  await migrate(url);
  t.same(await values('SELECT unread AS value FROM notification_counts ORDER BY user_id'), [3, 3, 0]);
});

t.test('partnerships of deleted accounts end, and kept answers get the fields of later ones', async (t) => {
  const { url, client, values } = await migrateUntil(t, '20261123020000');
  await client.query(`
    INSERT INTO users (id, username, email, name, password_hash)
      SELECT n, 'user' || n, n || '@example.com', '이름', 'x' FROM generate_series(1, 2) n;
    INSERT INTO stores (id, owner_id, name, closed_at) VALUES (1, 1, '하나', NULL), (2, 2, '둘', NULL), (3, NULL, '셋', '2026-01-01');
    INSERT INTO store_category_links (store_id, category_id, position) VALUES (1, 1, 1), (2, 1, 1);
    INSERT INTO posts (id, store_id, title, content, images) VALUES (1, 1, '글', '함께', '{https://example.com/1.jpg}');
    INSERT INTO partner_requests (id, post_id, sender_store_id, receiver_store_id, status, message)
      VALUES (1, 1, 2, 1, 'accepted', '함께'), (2, 1, 3, 1, 'accepted', '함께'), (3, 1, 3, 1, 'declined', '함께');
    INSERT INTO idempotency_keys (scope, key, request_hash, body) VALUES
      ('1:createPost', 'a', 'x', '{"data": {"id": 1, "content": "함께"}, "language": "ko"}'),
      ('2:createPartnerRequest', 'b', 'x', '{"data": {"id": 1, "created_at": "2026-01-31T09:30:00.000Z"}, "language": "ko"}'),
      ('2:createStore', 'c', 'x', '{"data": {"id": 1}, "language": "ko"}')`);
  await migrate(url);
  t.same(await values('SELECT status AS value FROM partner_requests ORDER BY id'), [
    'accepted',
    'ended',
    'declined',
  ]);
  const time = '2026-01-31T09:30:00.000Z';
  t.same(await values("SELECT body -> 'data' AS value FROM idempotency_keys ORDER BY key"), [
    { id: 1, content: '함께', is_mine: true, my_request_status: null },
    { id: 1, post_title: '글', receiver_store_id: 1, created_at: time, updated_at: time },
    { id: 1 },
  ]);
  const transition = (id: number, to: string) =>
    client.query(`UPDATE partner_requests SET status = '${to}' WHERE id = ${id}`);
  await t.rejects(transition(1, 'declined'), {
    message: 'a partner request cannot go from accepted to declined',
  });
  await t.rejects(transition(2, 'accepted'), {
    message: 'a partner request cannot go from ended to accepted',
  });
  await t.rejects(transition(3, 'ended'), { message: 'a partner request cannot go from declined to ended' });
  await transition(1, 'ended');
});

t.test(
  'rows from before the search without spaces are found, and statements from before still run',
  async (t) => {
    const { url, client, values } = await migrateUntil(t, '20261123030001');
    await client.query(twoStores);
    await migrate(url);
    t.same(await values('SELECT search_text AS value FROM stores ORDER BY id'), [
      '두레카페\n와우산로1\n',
      '둘\n\n',
    ]);
    t.same(await values('SELECT search_text AS value FROM posts'), ['글하나\n함께해요']);
    const search = (table: string, text: string, q: string) =>
      values(`
        SELECT id AS value FROM ${table} item
        WHERE (search_grams(${text}) COLLATE "C") @> search_grams(search_fold('${q}'))
          AND position(search_fold('${q}') IN ${text}) > 0`);
    t.same(await search('stores', 'search_fold(item.name)', '레 카'), [1]);
    t.same(await search('posts', 'item.search_text', '함께'), [1]);
    const indexed = await values(
      `SELECT indexdef AS value FROM pg_indexes WHERE indexname ~ '^(posts|stores)_search_idx' ORDER BY indexname`,
    );
    t.match(indexed, [/search_grams\(search_text\)/, /search_grams\(search_fold\(\(name\)::text\)\)/]);
    t.same(
      await values(
        `SELECT reloptions::text AS value FROM pg_class WHERE relname ~ 'search.*_idx$' GROUP BY 1`,
      ),
      ['{fastupdate=off}'],
      'no search reads entries that wait',
    );
  },
);

t.test('a migration outside a transaction is repeated where a run was interrupted', async (t) => {
  const { url, values } = await connect(t);
  const fill = (id: string) => `-- Outside a transaction
    DO $$ BEGIN
      FOR n IN 1..3 LOOP
        INSERT INTO filled SELECT n WHERE NOT EXISTS (SELECT FROM filled WHERE id = n);
        COMMIT;
        PERFORM 1 / (${id} - n);
      END LOOP;
    END $$;`;
  const { folder, write } = await writeMigrations(t, {
    '20260101000000_table': 'CREATE TABLE filled (id int);',
    '20260102000000_rows': fill('2'),
  });
  await t.rejects(migrate(url, { folder }), { message: /_rows failed: division by zero/ });
  t.same(await values('SELECT id AS value FROM filled ORDER BY 1'), [1, 2], 'what was committed stays');
  await write('20260102000000_rows', fill('9'));
  t.same(await migrate(url, { folder }), ['20260102000000_rows']);
  t.same(await values('SELECT id AS value FROM filled ORDER BY 1'), [1, 2, 3]);
});
