import pg from 'pg';
import t from 'tap';
import { expiredRows } from '../../src/domains/index.ts';
import { createNotificationRepository } from '../../src/domains/notifications/inbox/repository.ts';
import { expiredNotifications } from '../../src/domains/notifications/index.ts';
import { cleanUp } from '../../src/infrastructure/database/clean-up.ts';
import { plannerSettings } from '../../src/infrastructure/database/client.ts';
import { createTestApp, createUser, deleteAccount } from '../support/app.ts';
import { openTestDatabase } from '../support/database.ts';
import {
  notificationsOf,
  openTwoShops,
  requestPartnership,
  transition,
} from '../support/partner-requests.ts';
import { idleOutbox } from '../support/plans.ts';
import { createPost } from '../support/stores.ts';

/*
 * Statements are planned once, whatever their values. Of a table with partitions by user a statement reads one all the same, because
 * it carries the user: the execution leaves out the others.
 */

const app = await createTestApp({ WORKER_ENABLED: 'false' });
const { pool } = app;
const { rows: inheritance } = await pool.query<{ partition: string; table: string }>(
  'SELECT inhrelid::regclass::text AS partition, inhparent::regclass::text AS table FROM pg_inherits',
);
const tableOf = new Map(inheritance.map(({ partition, table }) => [partition, table]));
const partitionedTables = [...new Set(tableOf.values())].filter((name) => !/_(pkey|idx)$/.test(name));

/** Runs work. @returns the statements of the service meanwhile, each with the values of its last execution */
async function capture(work: () => Promise<unknown>): Promise<Map<string, unknown[]>> {
  const statements = new Map<string, unknown[]>();
  const { query } = pg.Client.prototype;
  const restore = t.capture(
    pg.Client.prototype,
    'query',
    function (this: pg.Client, statement: unknown, ...rest: unknown[]) {
      const { text, values = [] } = typeof statement === 'string' ? { text: statement } : Object(statement);
      if (/^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b/.test(text)) statements.set(text, values);
      return Reflect.apply(query, this, [statement, ...rest]);
    },
  );
  await work();
  restore.restore();
  return statements;
}

/** Those that a transaction has read or added rows to, also in functions. */
const tablesUsed =
  'SELECT relname FROM pg_stat_xact_user_tables WHERE coalesce(seq_scan, 0) + coalesce(idx_scan, 0) + n_tup_ins > 0';

/** The partitions that a statement reads with a plan for all values, by their table. */
async function partitionsRead(text: string, values: unknown[]): Promise<Map<string, Set<string>>> {
  const client = await pool.connect();
  try {
    for (const [name, value] of Object.entries(plannerSettings)) await client.query(`SET ${name} = ${value}`);
    await client.query(`PREPARE explained AS ${text}`);
    const literals = values.length > 0 ? `(${values.map(literal).join()})` : '';
    await client.query('BEGIN');
    await client.query(`EXECUTE explained${literals}`);
    const { rows } = await client.query<{ relname: string }>(tablesUsed);
    const read = new Map<string, Set<string>>();
    for (const { relname: name } of rows) {
      const table = tableOf.get(name);
      if (table !== undefined) read.set(table, (read.get(table) ?? new Set()).add(name));
    }
    return read;
  } finally {
    // Closes the connection, which undoes what the statement did.
    client.release(true);
  }
}

function literal(value: unknown): string {
  if (value === null || value === undefined) return 'NULL';
  if (Array.isArray(value))
    return pg.escapeLiteral(
      `{${value.map((one) => (one === null ? 'NULL' : JSON.stringify(String(one)))).join()}}`,
    );
  if (value instanceof Date) return pg.escapeLiteral(value.toISOString());
  return pg.escapeLiteral(typeof value === 'object' ? JSON.stringify(value) : String(value));
}

t.test('of a table with partitions, a statement reads those that its values are in', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const { token } = receiver;
  const database = openTestDatabase(t, app.url);
  const statements = await capture(async () => {
    const key = { 'idempotency-key': 'pruning' };
    for (const _ of ['first', 'replay']) await requestPartnership(app, sender, post, key);
    const [{ id, partner_request }] = (await notificationsOf(app, receiver)).items;
    await transition(app, receiver, partner_request.id, 'accept');
    for (const query of ['?is_read=true', '?is_read=false']) await notificationsOf(app, receiver, query);
    await createNotificationRepository(database, idleOutbox).listAfter(receiver.id, 0, 10);
    for (const body of [{ ids: [id] }, { up_to_id: id }])
      await app.call('POST', '/api/v1/notifications/mark-read/', { token, body });
    await app.call('GET', '/api/v1/notifications/unread-count/', { token });
    await app.call('GET', '/api/v1/stores/mypage/', { token });
    await createPost(app, token);
    await cleanUp(database, [...expiredRows, ...expiredNotifications(1)]);
    await deleteAccount(app, receiver);
  });
  const seen = new Set<string>();
  for (const [text, values] of statements) {
    for (const [table, partitions] of await partitionsRead(text, values)) {
      seen.add(table);
      t.equal(partitions.size, 1, `of ${table}: ${text.trim().slice(0, 200)}`);
    }
  }
  t.strictSame([...seen].sort(), partitionedTables.sort(), 'all tables with partitions were read');
});

t.test('what is deleted with an account is looked for in one partition', async (t) => {
  const { id } = await createUser(app);
  await pool.query('INSERT INTO notification_counts VALUES ($1, 0)', [id]);
  const client = await pool.connect();
  t.teardown(() => client.release());
  for (const [name, value] of Object.entries(plannerSettings)) await client.query(`SET ${name} = ${value}`);
  await client.query('BEGIN');
  await client.query('DELETE FROM users WHERE id = $1', [id]);
  const { rows } = await client.query<{ relname: string }>(tablesUsed);
  await client.query('ROLLBACK');
  const read = rows.flatMap(({ relname }) => tableOf.get(relname) ?? []);
  t.strictSame(read, ['notifications']);
});

t.test('adding and marking notifications updates no index of their counts', async (t) => {
  const { id: userId } = await createUser(app);
  // One connection, so that all of it is one transaction with its own statistics.
  const database = openTestDatabase(t, app.url, 1);
  const { notify, markRead } = createNotificationRepository(database, idleOutbox);
  await database.pool.query('BEGIN');
  for (let requestId = 1; requestId <= 20; requestId++) {
    await notify({ ...database, afterCommit: () => undefined }, [
      { kind: 'partner_request_received', userId, requestId },
    ]);
    if (requestId % 4 === 0) t.equal(await markRead(userId, { up_to_id: Number.MAX_SAFE_INTEGER }), 4);
  }
  const { rows } = await database.pool.query(
    `SELECT relname, n_tup_upd::int AS updated, n_tup_hot_upd::int AS hot FROM pg_stat_xact_user_tables
     WHERE relname = 'notification_counts'`,
  );
  await database.pool.query('ROLLBACK');
  t.strictSame(rows, [{ relname: 'notification_counts', updated: 24, hot: 24 }]);
});
