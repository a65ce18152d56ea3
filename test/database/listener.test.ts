import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { pino } from 'pino';
import t, { type Test } from 'tap';
import { createListener } from '../../src/database/listener.ts';
import { createTestDatabase, execute } from '../support/database.ts';
import { createTcpProxy } from '../support/tcp-proxy.ts';

const database = await createTestDatabase();
const pool = new pg.Pool({ connectionString: database.url, max: 1 });
t.teardown(async () => {
  await pool.end();
  await database.drop();
});

const tell = (channel: string, payload: string) => pool.query('SELECT pg_notify($1, $2)', [channel, payload]);

async function connections(): Promise<number> {
  const { rows } = await pool.query(
    `SELECT pid FROM pg_stat_activity WHERE application_name = 'dure-listener' AND datname = current_database()`,
  );
  return rows.length;
}

async function until(came: () => boolean | Promise<boolean>, limit = 5_000): Promise<void> {
  for (const deadline = Date.now() + limit; !(await came()); await sleep(5)) {
    if (Date.now() > deadline) throw new Error('it did not come');
  }
}

/** A listener on one channel, with all that it heard, how often it began to hear, and what it logged. */
function listen(t: Test, connectionString: string, times = {}) {
  const heard: string[] = [];
  const logs: string[] = [];
  let began = 0;
  const logger = pino({}, { write: (line: string) => void logs.push(line) });
  const listener = createListener({ connectionString, logger, times });
  listener.subscribe('news', (payload) => {
    if (payload === 'bad') throw new Error('not understood');
    heard.push(payload);
  });
  listener.onReconnect(() => {
    began += 1;
  });
  listener.start();
  t.teardown(listener.close);
  return { listener, heard, logs, began: () => began };
}

t.test('what is told on the channel is heard, in order, and nothing else', async (t) => {
  const { heard, began } = listen(t, database.url);
  await until(() => began() === 1);
  await tell('news', 'one');
  await tell('other', 'two');
  await tell('news', 'three');
  await until(() => heard.length === 2);
  t.strictSame(heard, ['one', 'three']);
});

t.test('a payload that cannot be handled does no harm', async (t) => {
  const { heard, logs, began } = listen(t, database.url);
  await until(() => began() === 1);
  await tell('news', 'bad');
  await tell('news', 'good');
  await until(() => heard.length === 1);
  t.equal(began(), 1, 'on the same connection');
  t.equal(logs.filter((line) => line.includes('not understood')).length, 1);
});

t.test('a database that is away at the start is waited for', async (t) => {
  const proxy = await createTcpProxy(database.url);
  await proxy.cut();
  const { heard, began, logs } = listen(t, proxy.url);
  await until(() => logs.length > 1);
  t.equal(began(), 0);
  await proxy.restore();
  await until(() => began() === 1);
  await tell('news', 'one');
  await until(() => heard.length === 1);
  t.teardown(proxy.close);
});

t.test('a connection that is killed is replaced, and those who missed something are called', async (t) => {
  const { heard, began } = listen(t, database.url);
  await until(() => began() === 1);
  await execute(
    database.url,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE application_name = 'dure-listener' AND datname = current_database()`,
  );
  await until(() => began() === 2);
  await tell('news', 'one');
  await until(() => heard.length === 1);
});

t.test('a connection that died without a word is noticed and replaced', async (t) => {
  const proxy = await createTcpProxy(database.url);
  const { heard, began, logs } = listen(t, proxy.url, { check: 100, answer: 200, connect: 300 });
  await until(() => began() === 1);
  proxy.freeze();
  await until(() => logs.some((line) => line.includes('timeout')), 2_000);
  await proxy.restore();
  await until(() => began() === 2);
  await tell('news', 'one');
  await until(() => heard.length === 1);
  t.teardown(proxy.close);
});

t.test('a closed listener leaves no connection and makes none', async (t) => {
  const { listener, began } = listen(t, database.url);
  await until(() => began() === 1);
  t.equal(await connections(), 1);
  await listener.close();
  await until(async () => (await connections()) === 0);
  const unreachable = listen(t, 'postgresql://127.0.0.1:1/none');
  await until(() => unreachable.logs.length > 0);
  await unreachable.listener.close();
  const attempts = unreachable.logs.length;
  await sleep(300);
  t.equal(unreachable.logs.length, attempts);
});

t.test('who subscribes too late is told so', async (t) => {
  const { listener } = listen(t, database.url);
  t.throws(() => listener.subscribe('late', () => undefined));
});
