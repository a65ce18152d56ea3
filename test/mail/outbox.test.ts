import t from 'tap';
import { wakeUpChannel } from '../../src/infrastructure/jobs/outbox.ts';
import { type Api, createTestApp, createUser, password } from '../support/app.ts';
import { tally } from '../support/assertions.ts';
import { inParallel, lockRows } from '../support/concurrency.ts';
import { createPost, openShop } from '../support/stores.ts';
import { holdTimers } from '../support/timers.ts';
import { until } from '../support/until.ts';
import { setUp } from './worker-setup.ts';

/** Rows as an instance leaves them that was killed after its commit. */
const leave = (count: number) =>
  `INSERT INTO outbox (mail) SELECT json_build_object('kind', 'code', 'idempotency_key', i::text, 'id', i)
   FROM generate_series(1, ${count}) i`;

const sendCode = (email: string, { call }: Api) =>
  call('POST', '/auth/email-verify/send/', { body: { email } });

/** Milliseconds between two looks of an outbox for rows that were left: with the work they are taken within 3 seconds. */
const poll = 2_500;

t.test('rows of an instance that was killed are all taken at the next look', async (t) => {
  const look = holdTimers(t, poll);
  const { database, jobs } = await setUp(t);
  await database.pool.query(leave(1_200));
  t.equal((await jobs()).length, 0);
  look();
  await until('all are jobs', async () => (await jobs()).length === 1_200);
  t.equal((await database.pool.query('SELECT FROM outbox')).rowCount, 0);
});

t.test('relays at once take each row once, and do not wait for each other', async (t) => {
  const app = await createTestApp({ WORKER_ENABLED: 'false' });
  const other = await app.startInstance();
  await app.pool.query(leave(1));
  // As another relay that is in the middle of a batch.
  const lock = await lockRows(t, app, 'SELECT FROM outbox FOR UPDATE');
  // Not more at once than the pools have connections for.
  for (let round = 0; round < 4; round++) {
    const responses = await inParallel(10, (index) =>
      sendCode(`a${round}${index}@example.com`, index % 2 ? app : other),
    );
    t.strictSame(tally(responses), { '200': 10 });
  }
  const keys = async () => {
    const { rows } = await app.pool.query<{ key: string }>(
      `SELECT payload->>'idempotency_key' AS key FROM graphile_worker._private_jobs`,
    );
    return rows.map(({ key }) => key);
  };
  const others = async () => (await keys()).filter((key) => key !== '1');
  await until('the jobs of the others', async () => (await others()).length >= 40);
  t.equal(new Set(await others()).size, 40);
  await lock.release();
  await until('the job of the row that was locked', async () => (await keys()).includes('1'));
  t.equal((await keys()).length, 41);
});

t.test('the last rows of an instance that stops are taken', async (t) => {
  const { app, call, pool } = await createTestApp({ WORKER_ENABLED: 'false' });
  await sendCode('last@example.com', { call });
  await app.close();
  const { rows } = await pool.query(`SELECT payload->>'kind' AS kind FROM graphile_worker._private_jobs`);
  t.strictSame(rows, [{ kind: 'verification_code' }]);
});

// NOTIFY takes a lock at the commit that the whole database shares.
t.test('no transaction of a request notifies: what follows goes through the outbox', async (t) => {
  const app = await createTestApp({}, { isolated: true });
  const { pool, call } = app;
  const { token } = await openShop(app);
  const user = await createUser(app);
  const identity = `INSERT INTO identities (user_id, provider, issuer, subject, token) VALUES ($1, 'development', 'a', 'b', 'sealed')`;
  await pool.query(identity, [user.id]);
  await app.mails.settled();
  // The relay finds rows, and takes none of them.
  await pool.query(`
    CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
    CREATE TRIGGER keep BEFORE DELETE ON outbox FOR EACH ROW EXECUTE FUNCTION keep()`);
  const client = await pool.connect();
  const heard: string[] = [];
  client.on('notification', ({ channel, payload = '' }) => heard.push(`${channel} ${payload}`));
  await client.query(`LISTEN "jobs:insert"; LISTEN ${wakeUpChannel}`);
  await createPost(app, token);
  await sendCode('new@example.com', app);
  const deleted = await call('DELETE', '/auth/me/', { token: user.token, body: { password } });
  t.equal(deleted.status, 200);
  await pool.query(`NOTIFY ${wakeUpChannel}, 'the end'`);
  await until('the end', () => heard.at(-1)?.endsWith('the end'));
  t.strictSame(heard, [`${wakeUpChannel} the end`]);
  const { rows } = await pool.query(
    `SELECT job->>'identifier' AS task FROM outbox WHERE job IS NOT NULL ORDER BY id`,
  );
  t.strictSame(rows, [{ task: 'match_saved_searches' }, { task: 'revoke_identity' }]);
  client.release(true);
  await pool.query('DROP TRIGGER keep ON outbox');
  await app.mails.settled();
  t.notMatch(app.logs.join(), 'maxPoolSize', 'nor does a worker complain about its pool');
});
