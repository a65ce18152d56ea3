import pg from 'pg';
import t from 'tap';
import { expiredRows } from '../../src/domains/index.ts';
import { cleanUp, pagesOfRun } from '../../src/infrastructure/database/clean-up.ts';
import { sql } from '../../src/infrastructure/database/sql.ts';
import { createTestDatabase, openTestDatabase } from '../support/database.ts';

const url = await createTestDatabase();
const database = openTestDatabase(t, url);
const query = async (sql: string) => (await database.pool.query(sql)).rows;
const run = async () => (await cleanUp(database, expiredRows)).deleted;

await query(`INSERT INTO users (id, username, email, name, password_hash)
  VALUES (1, 'mina', 'mina@example.com', 'Mina', ''), (2, 'jisu', 'jisu@example.com', 'Jisu', '')`);
await query(`INSERT INTO stores (id, owner_id, name) VALUES (1, 1, 'Mina'), (2, NULL, 'Hidden');
  INSERT INTO store_category_links (store_id, category_id, position) VALUES (1, 1, 1), (2, 1, 1);
  UPDATE stores SET hidden_at = now() WHERE id = 2`);

/** Per table, the columns and values of a row that expires AT. */
const rows: Record<string, string> = {
  sessions: "(id, user_id, user_agent, ip, expires_at) VALUES (gen_random_uuid(), 1, '', '', AT)",
  login_flows: "(id, kind, key_id, expires_at) VALUES (gen_random_uuid(), 'sign_up', '', AT)",
  email_codes: "(email, id, key_id, expires_at) VALUES (gen_random_uuid(), gen_random_uuid(), '', AT)",
  email_proofs: "(id, email, key_id, expires_at) VALUES (gen_random_uuid(), '', '', AT)",
  password_resets: "(email, id, key_id, expires_at) VALUES (gen_random_uuid(), gen_random_uuid(), '', AT)",
  email_changes:
    "(id, user_id, old_email, new_email, key_id, expires_at) VALUES (gen_random_uuid(), 1, '', '', '', AT)",
  idempotency_keys:
    "(scope, key, request_hash, created_at) VALUES ('', gen_random_uuid(), '', AT - interval '24 hours')",
  mail_sends: "(purpose, email, updated_at) VALUES ('find_id', gen_random_uuid(), AT - interval '1 hour')",
  login_failures: "(key, updated_at) VALUES (gen_random_uuid(), AT - interval '1 hour')",
  known_addresses: "(user_id, address, last_used_at) VALUES (1, gen_random_uuid(), AT - interval '30 days')",
  failed_mails:
    "(kind, payload, reason, attempts, created_at) VALUES ('', '{}', '', 1, AT - interval '90 days')",
  audit_entries: "(operator, action, created_at) VALUES ('', '', AT - interval '1 year')",
  daily_counts:
    "(kind, owner_id, since) VALUES ('post', (SELECT count(*) + 1 FROM daily_counts), AT - interval '24 hours')",
  post_alerts:
    "(post_id, after_user_id, created_at) VALUES ((SELECT count(*) + 1 FROM post_alerts), 1, AT - interval '30 days')",
  reports:
    "(store_id, reason, action, closed_by, closed_at) VALUES (1, 'spam', 'none', '', AT - interval '1 year')",
};
const insert = (table: string, age: string) =>
  query(`INSERT INTO ${table} ${rows[table]?.replace('AT', `now() - interval '${age}'`)}`);

t.test('expired rows of each table are deleted, and no others', async (t) => {
  const found = await query(`SELECT table_name FROM information_schema.columns
    WHERE table_schema = 'public' AND column_name = 'expires_at'`);
  const forgotten = found.filter(({ table_name: table }) => !(table in rows));
  t.strictSame(forgotten, [], 'an expires_at without clean-up');
  // The first has just expired, the second is about to.
  for (const table of Object.keys(rows))
    for (const age of ['5 seconds', '-60 seconds']) await insert(table, age);
  await query(`INSERT INTO login_failures (key, updated_at, locked_until)
    VALUES ('locked', now() - interval '2 hours', now() + interval '1 minute'),
      ('not locked any more', now() - interval '2 hours', now() - interval '1 minute')`);
  const tables = Object.keys(rows);
  t.same(await run(), { ...Object.fromEntries(tables.map((table) => [table, 1])), login_failures: 2 });
  for (const table of tables) {
    const left = await query(`SELECT * FROM ${table}`);
    t.equal(left.length, table === 'login_failures' ? 2 : 1, table);
  }
  t.same(await query(`SELECT key FROM login_failures WHERE key LIKE '%lock%'`), [{ key: 'locked' }]);
  t.same(await query('SELECT username FROM users ORDER BY id'), [{ username: 'mina' }, { username: 'jisu' }]);
  t.same(await run(), Object.fromEntries(tables.map((table) => [table, 0])));
  for (const table of tables) await query(`DELETE FROM ${table}`);
});

t.test('open reports and those that hide something are kept', async (t) => {
  await query(`INSERT INTO posts (id, store_id, title, content, hidden_at) VALUES (1, 1, 'x', 'x', now());
    INSERT INTO reports (store_id, post_id, reason, action, closed_by, closed_at, created_at)
    SELECT store_id, post_id, 'spam', action::report_action, CASE WHEN action IS NOT NULL THEN '' END,
      CASE WHEN action IS NOT NULL THEN now() - interval '2 years' END, now() - interval '3 years'
    FROM (VALUES (1, NULL::int, NULL), (2, NULL, 'hide'), (NULL, 1, 'hide')) AS kept (store_id, post_id, action)`);
  t.equal((await run()).reports, 0);
  await query('UPDATE stores SET hidden_at = NULL; UPDATE posts SET hidden_at = NULL');
  t.equal((await run()).reports, 2);
});

t.test('a table that fails leaves the others to be deleted', async (t) => {
  await insert('failed_mails', '1 day');
  const failing = { table: 'sessions', condition: sql`1 / 0 = 1` };
  await t.rejects(cleanUp(database, [failing, ...expiredRows]), { message: /division by zero/ });
  t.strictSame(await query('SELECT FROM failed_mails'), []);
});

t.test('thousands of rows are deleted in batches, by turns of the tables', async (t) => {
  await query(`INSERT INTO email_proofs (id, email, key_id, expires_at)
    SELECT gen_random_uuid(), '', '', now() - interval '1 day' FROM generate_series(1, 3500)`);
  await insert('audit_entries', '1 day');
  await query(`
    CREATE TABLE batches (id serial, batch text);
    CREATE FUNCTION count_deleted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      INSERT INTO batches (batch) SELECT TG_TABLE_NAME || ' ' || count(*) FROM gone HAVING count(*) > 0;
      RETURN NULL;
    END $$;
    CREATE TRIGGER count_deleted AFTER DELETE ON email_proofs REFERENCING OLD TABLE AS gone
      EXECUTE FUNCTION count_deleted();
    CREATE TRIGGER count_deleted AFTER DELETE ON audit_entries REFERENCING OLD TABLE AS gone
      EXECUTE FUNCTION count_deleted()`);
  t.equal((await run()).email_proofs, 3_500);
  const proofs = [1000, 1000, 1000, 500].map((count) => ({ batch: `email_proofs ${count}` }));
  const batches = await query('SELECT batch FROM batches ORDER BY id');
  t.strictSame(batches, proofs.toSpliced(1, 0, { batch: 'audit_entries 1' }));
});

t.test('of a partitioned table nothing is deleted, of a partition only its own rows', async (t) => {
  await query(`
    CREATE TABLE parted (part int, gone bool) PARTITION BY LIST (part);
    CREATE TABLE parted_1 PARTITION OF parted FOR VALUES IN (1);
    CREATE TABLE parted_2 PARTITION OF parted FOR VALUES IN (2);
    INSERT INTO parted VALUES (1, true), (2, false)`);
  await cleanUp(database, [{ table: 'parted', condition: sql`gone` }]);
  t.same(await query('SELECT part FROM parted'), [{ part: 1 }, { part: 2 }]);
  await cleanUp(database, [{ table: 'parted_1', condition: sql`gone` }]);
  t.same(await query('SELECT part FROM parted'), [{ part: 2 }]);
});

t.test('a large table is read in parts, all of which have their turn', async (t) => {
  const total = 150_000;
  const read: number[] = [];
  for (let period = 1_000; period < 1_003; period++) {
    const size: unknown[] = [{ pages: total, period }];
    const database = { query: async <Row>() => size as Row[] };
    for await (const { values } of pagesOfRun(database, 'users'))
      read.push(Number(String(values[0]).slice(1, -3)));
  }
  const pages = Array.from({ length: Math.ceil(total / 64) }, (_, step) => step * 64);
  const sorted = read.sort((a, b) => a - b);
  t.strictSame(sorted, pages);
});

t.test('locked rows are skipped', async (t) => {
  await query(`INSERT INTO email_codes (email, id, key_id, expires_at)
    SELECT email, gen_random_uuid(), '', now() - interval '1 day' FROM (VALUES ('locked'), ('free')) AS rows (email)`);
  const other = new pg.Client({ connectionString: url });
  await other.connect();
  await other.query(`BEGIN; SELECT FROM email_codes WHERE email = 'locked' FOR UPDATE`);
  t.equal((await run()).email_codes, 1);
  t.same(await query('SELECT email FROM email_codes'), [{ email: 'locked' }]);
  await other.end();
  t.equal((await run()).email_codes, 1);
});
