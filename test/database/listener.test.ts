import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { pino } from 'pino';
import t, { type Test } from 'tap';
import { startListener } from '../../src/infrastructure/database/listener.ts';
import { createTestDatabase, execute } from '../support/database.ts';
import { createTcpProxy } from '../support/tcp-proxy.ts';
import { atMost } from '../support/time.ts';
import { until } from '../support/until.ts';

const url = await createTestDatabase();
const pool = new pg.Pool({ connectionString: url, max: 1 });
t.teardown(() => pool.end());

const notify = (channel: string, payload: string) =>
  pool.query('SELECT pg_notify($1, $2)', [channel, payload]);

async function connections(): Promise<number> {
  const { rows } = await pool.query(
    `SELECT pid FROM pg_stat_activity WHERE application_name = 'dure-listener' AND datname = current_database()`,
  );
  return rows.length;
}

/** Milliseconds: longer than the first pause before a listener connects again. */
const reconnectDelay = 300;

/** A listener on one channel, with the payloads that it received, how often it connected, and its log lines. */
function listen(t: Test, connectionString: string, times = {}) {
  const received: string[] = [];
  const logs: string[] = [];
  let connected = 0;
  const logger = pino({}, { write: (line: string) => void logs.push(line) });
  const listener = startListener({
    connectionString,
    logger,
    times,
    channel: 'news',
    onNotification(payload) {
      if (payload === 'bad') throw new Error('not understood');
      received.push(payload);
    },
    onConnect() {
      connected += 1;
    },
  });
  t.teardown(listener.close);
  return { listener, received, logs, connected: () => connected };
}

t.test('an error of a handler does not stop the listener', async (t) => {
  const { received, logs, connected } = listen(t, url);
  await until('a connection', () => connected() === 1);
  await notify('news', 'bad');
  await notify('news', 'good');
  await until('the notifications', () => received.length === 1);
  t.equal(connected(), 1, 'on the same connection');
  t.equal(logs.filter((line) => line.includes('not understood')).length, 1);
});

t.test('a listener retries until the database is reachable', async (t) => {
  const proxy = await createTcpProxy(t, url);
  await proxy.cut();
  const { received, connected, logs } = listen(t, proxy.url);
  await until('a log line', () => logs.length > 1);
  t.equal(connected(), 0);
  await proxy.restore();
  await until('a connection', () => connected() === 1);
  await notify('news', 'one');
  await until('the notifications', () => received.length === 1);
});

t.test('a killed connection is replaced, and onConnect is called', async (t) => {
  const { received, connected } = listen(t, url);
  await until('a connection', () => connected() === 1);
  await execute(
    url,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE application_name = 'dure-listener' AND datname = current_database()`,
  );
  await until('a connection', () => connected() === 2);
  await notify('news', 'one');
  await until('the notifications', () => received.length === 1);
});

t.test('a connection that hangs is detected and replaced', async (t) => {
  const proxy = await createTcpProxy(t, url);
  // The default is ten seconds. It is found by the time for a response, which a slow machine needs, too.
  const { received, connected, logs } = listen(t, proxy.url, { check: 100, response: atMost(500) });
  await until('a connection', () => connected() === 1);
  proxy.freeze();
  await until('a log line', () => logs.some((line) => line.includes('timeout')));
  await proxy.restore();
  await until('a connection', () => connected() === 2);
  await notify('news', 'one');
  await until('the notifications', () => received.length === 1);
});

t.test('a closed listener has no connection and opens none', async (t) => {
  const { listener, connected } = listen(t, url);
  await until('a connection', () => connected() === 1);
  // Those of the tests before may take a moment to end.
  await until('one connection', async () => (await connections()) === 1);
  await listener.close();
  await until('no connection', async () => (await connections()) === 0);
  const unreachable = listen(t, 'postgresql://127.0.0.1:1/none');
  await until('a log line', () => unreachable.logs.length > 0);
  await unreachable.listener.close();
  const attempts = unreachable.logs.length;
  await sleep(reconnectDelay);
  t.equal(unreachable.logs.length, attempts);
});
