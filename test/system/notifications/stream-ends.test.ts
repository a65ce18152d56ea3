import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t, { type Test } from 'tap';
import {
  createListeningApp,
  createPair,
  openStream,
  requestStream,
  storedIds,
} from '../../notifications/streams.ts';
import { logIn, password, type TestApp } from '../../support/app.ts';
import { inParallel } from '../../support/concurrency.ts';
import { createTestDatabase } from '../../support/database.ts';
import { createTcpProxy } from '../../support/tcp-proxy.ts';
import { atMost, pause } from '../../support/time.ts';
import { until } from '../../support/until.ts';

const here = await createListeningApp({ ACCESS_TOKEN_TTL: '8s' });
const there = await createListeningApp({}, { databaseUrl: here.url });

/** Memory of the process in bytes, after a garbage collection. */
function memory(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Inserts so many long notifications of a user and sends one NOTIFY. */
async function insertNotifications(userId: number, times: number): Promise<void> {
  await here.pool.query(
    `WITH request AS (
       UPDATE partner_requests SET message = repeat('가', 1000)
       WHERE id = (SELECT partner_request_id FROM notifications WHERE user_id = $1 LIMIT 1) RETURNING id
     )
     INSERT INTO notifications (user_id, kind, partner_request_id)
     SELECT $1, 'partner_request_received', id FROM request, generate_series(1, $2)`,
    [userId, times],
  );
  await here.pool.query("SELECT pg_notify('wake_ups', json_build_array($1::int)::text)", [userId]);
}

/** Opens a stream and never reads it. @returns the socket of the server */
async function connectWithoutReading(t: Test, { app }: TestApp, token: string): Promise<Socket> {
  const accepted = once(app.server, 'connection');
  const client = requestStream({ app }, token);
  t.teardown(() => client.destroy());
  await once(client, 'readable');
  const [connection] = await accepted;
  return connection;
}

t.test('a stream ends within 5 seconds of its session, however that ended', async (t) => {
  const users = await inParallel(6, () => createPair(there));
  const streams = await Promise.all(users.map(({ receiver }) => openStream(t, here, receiver.token)));
  const [logout, changed, removed, suspended, expired] = users.map(({ receiver }) => receiver);
  const change = { current_password: password, new_password: 'another-good-one-8' };
  const other = await logIn(there, { username: changed?.username ?? '', password });
  t.equal(streams.filter((stream) => stream.hasEnded()).length, 0);
  const responses = await Promise.all([
    there.call('POST', '/auth/logout/', { token: logout?.token }),
    there.call('POST', '/auth/change-password/', { token: other.token, body: change }),
    there.call('DELETE', '/auth/me/', { token: removed?.token, body: { password } }),
    there.pool.query('UPDATE users SET suspended_at = now() WHERE id = $1', [suspended?.id]),
    there.pool.query('UPDATE sessions SET expires_at = now() WHERE user_id = $1', [expired?.id]),
  ]);
  t.match(responses.slice(0, 3), [{ status: 200 }, { status: 200 }, { status: 200 }]);
  const [last, ...ended] = streams.reverse();
  await until('the end of five streams', () => ended.every((stream) => stream.hasEnded()));
  t.equal(last?.hasEnded(), false);
});

t.test('a stream outlives the access token that opened it', async (t) => {
  const { receiver, notify } = await createPair(there);
  const { token } = await logIn(here, { username: receiver.username, password });
  const stream = await openStream(t, here, token);
  const hasExpired = async () => (await here.call('GET', '/auth/me/', { token })).status === 401;
  await until('the end of the access token', hasExpired);
  await notify(1, there);
  await stream.until(() => stream.ids().length === 1);
});

t.test('the eleventh stream of a user ends the oldest', async (t) => {
  const { receiver, notify } = await createPair(there);
  const other = await openStream(t, here, (await createPair(there)).receiver.token);
  const first = await openStream(t, here, receiver.token);
  const streams = [];
  for (let opened = 0; opened < 9; opened++) streams.push(await openStream(t, here, receiver.token));
  await notify();
  await first.until(() => first.ids().length === 1);
  streams.push(await openStream(t, here, receiver.token));
  await first.toEnd();
  await notify();
  await Promise.all(streams.map((stream) => stream.until(() => stream.ids().length >= 1)));
  t.equal(other.hasEnded(), false);
});

t.test('a client that does not read is disconnected, with bounded memory, and delays no other', async (t) => {
  // Enough for all that happens before.
  const timeout = atMost(4_000);
  const instance = await createListeningApp({}, { databaseUrl: here.url, streamTimes: { heartbeat: 1_000 } });
  instance.app.server.timeout = timeout;
  const { receiver, notify } = await createPair(there);
  const other = await createPair(there);
  await notify(1, there);
  const stream = await openStream(t, instance, other.receiver.token);
  const connection = await connectWithoutReading(t, instance, receiver.token);
  const before = memory();
  const stalled = AbortSignal.timeout(timeout);
  await insertNotifications(receiver.id, 20_000);

  let written = -1;
  for (; written !== connection.bytesWritten; await sleep(10 * pause)) written = connection.bytesWritten;
  t.ok(written < 20_000_000, `of 70 MB, ${written} bytes were sent`);
  const more = 2_000;
  await sleep(more);
  const kept = memory() - before;
  t.ok(kept < 25_000_000, `and the rest does not wait in memory: ${kept} bytes`);
  await other.notify(1, there);
  await stream.until(() => stream.ids().length === 1);
  t.equal(connection.destroyed, false);
  await until('the end of the connection', () => connection.destroyed);
  t.ok(stalled.aborted, 'not before it had its time');
});

t.test('streams stay open while the database is unreachable, and resume', async (t) => {
  const proxy = await createTcpProxy(t, here.url);
  const instance = await createListeningApp({ WORKER_ENABLED: 'false' }, { databaseUrl: proxy.url });
  t.teardown(instance.close);
  const { receiver, notify } = await createPair(there);
  const stream = await openStream(t, instance, receiver.token);
  await stream.until(() => stream.events.length === 1);
  await proxy.cut();
  await notify(3, there);
  const unchecked = 'sessions of open streams could not be checked';
  await until('a failed check of the sessions', () => instance.logs.some((line) => line.includes(unchecked)));
  t.equal(stream.hasEnded(), false);
  await proxy.restore();
  await stream.until(() => stream.ids().length === 3);
  t.strictSame(stream.ids(), await storedIds(here, receiver.id));
});

t.test('streams open while the database takes no writes', async (t) => {
  const options = { databaseUrl: await createTestDatabase(), serverErrors: true };
  const instance = await createListeningApp({ WORKER_ENABLED: 'false' }, options);
  const { token } = (await createPair(instance)).receiver;
  const name = new URL(instance.url).pathname.slice(1);
  await here.pool.query(`ALTER DATABASE "${name}" SET default_transaction_read_only = on`);
  await here.pool.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [name]);
  t.equal((await instance.call('PATCH', '/auth/me/', { token, body: { name: '두레' } })).status, 503);
  // Its pool may still have connections that were terminated.
  const stream = await until('a stream', async () => {
    const opened = await openStream(t, instance, token);
    return opened.status === 200 ? opened : undefined;
  });
  await stream.until(() => stream.events.length === 1);
});

t.test('an instance that shuts down ends its streams at once', async (t) => {
  // No stream ends by itself, also not the one that is not read.
  const instance = await createListeningApp({}, { databaseUrl: here.url });
  instance.app.server.timeout = 0;
  const { receiver } = await createPair(there);
  const streams = await inParallel(3, () => openStream(t, instance, receiver.token));
  const lazy = await createPair(there);
  await lazy.notify(1, there);
  await connectWithoutReading(t, instance, lazy.receiver.token);
  await insertNotifications(lazy.receiver.id, 20_000);
  const closed = instance.close();
  await Promise.all(streams.map((stream) => stream.toEnd()));
  await closed;
  t.pass('a client that does not read does not delay it');
});
