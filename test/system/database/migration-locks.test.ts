import pg from 'pg';
import t, { type Test } from 'tap';
import { migrate, pendingMigrations } from '../../../src/infrastructure/database/migrations.ts';
import { connect, writeMigrations } from '../../database/migration-folders.ts';
import { until } from '../../support/until.ts';

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

  await t.rejects(migrate(url, { folder, patience: 0 }), {
    name: 'MigrationError',
    message: new RegExp(
      `^migration ${alteration} failed: canceling statement due to lock timeout, repeatedly for 0 s\\. Nothing was changed; run it again\\. Open transactions by process id: ${transaction.pid} \\(report\\), open for \\d+ s$`,
    ),
  });
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

  const interrupted = t.rejects(migrate(url, { folder }), {
    message: new RegExp(`^migration ${index} failed: `),
  });
  const builder = await until('the index is built', async () => (await values(builders))[0]);
  await client.query('INSERT INTO notes VALUES (10)');
  await client.query('SELECT pg_terminate_backend($1)', [builder]);
  await interrupted;
  t.same(await values(valid), [false]);
  t.same(await pendingMigrations(client, folder), [index]);

  const runs = [1, 2].map(() => migrate(url, { folder }));
  await until('the index is built again, while the other run waits', async () => {
    const connections = await values(
      "SELECT pid AS value FROM pg_stat_activity WHERE application_name = 'dure-migrate' AND datname = current_database()",
    );
    return connections.length === 2 && (await values(builders)).length === 1;
  });
  await transaction.end();
  t.same((await Promise.all(runs)).flat(), [index]);
  t.same(await values(valid), [true]);
});
