import { once } from 'node:events';
import t from 'tap';
import { createTestApp, createUser } from '../../support/app.ts';
import { inParallel } from '../../support/concurrency.ts';
import { listen, type RawConnection, rawConnection } from '../../support/raw-http.ts';
import { atMost, timeFactor } from '../../support/time.ts';
import { until } from '../../support/until.ts';

/** More than the buffers of the system take, and so that two are above the limit of a client. */
const large = 'x'.repeat(7 * 1024 * 1024);

t.test('responses that are not read', async (t) => {
  const app = await createTestApp(
    { WORKER_ENABLED: 'false', TRUST_PROXY: '127.0.0.1' },
    {
      streamTimes: { heartbeat: 100 },
      async routes(scope) {
        scope.get('/large/', async () => large);
      },
    },
  );
  const port = await listen(app.app);
  const { server } = app.app;
  const closings = () =>
    app.logs.filter((line) => line.includes('connection closed during a response')).length;

  /** Asks on a new connection for a path, and reads nothing. */
  async function ask(path: string, token?: string, address = '192.0.2.1'): Promise<RawConnection> {
    const connection = await rawConnection(port);
    const authorization = token === undefined ? '' : `Authorization: Bearer ${token}\r\n`;
    const arrived = once(server, 'request');
    connection.socket.pause();
    connection.send(`GET ${path} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${address}\r\n${authorization}\r\n`);
    await arrived;
    // Until its response is being sent.
    await app.call('GET', '/health/live');
    return connection;
  }

  t.test('a client, an address and all have a bounded number of unread bytes', async (t) => {
    const users = await inParallel(9, () => createUser(app));
    const connections: RawConnection[] = [];
    t.teardown(() => connections.map(({ socket }) => socket.destroy()));
    const asked = async (path: string, token?: string, address?: string) =>
      void connections.push(await ask(path, token, address));
    const closed = (count: number) => until(`${count} closed connections`, () => closings() === count);
    const [first, ...others] = users.map(({ token }) => token);
    const last = others.pop();
    await asked('/large/');
    // A user is not its address.
    await asked('/large/', first);
    t.equal(closings(), 0);
    await asked('/large/');
    await closed(1);
    for (const [index, token] of others.entries()) await asked('/large/', token, `192.0.2.${index + 2}`);
    // 63 MiB in all.
    t.equal(closings(), 1);
    await asked('/large/', last, '192.0.2.9');
    await closed(2);
    await asked('/health/live');
    let received = 0;
    connections[9]?.socket.on('data', (chunk) => (received += chunk.length)).resume();
    await until('a complete response, read in the end', () => received > large.length);
    t.equal(closings(), 2, 'the older one of the address, and the one that has been sending the longest');
  });

  t.test('a connection that reads nothing while a response waits is closed', async (t) => {
    const [reader, stalled] = [await createUser(app), await createUser(app)];
    const before = closings();
    t.equal(server.timeout, 33_000 * timeFactor);
    server.timeout = atMost(1_000);
    const idle = await ask('/health/live');
    const stream = await ask('/api/v1/notifications/stream/', reader.token);
    await ask('/large/', stalled.token);
    await until('its end', () => closings() === before + 1);
    for (const { socket } of [idle, stream]) {
      const data = once(socket, 'data');
      socket.resume();
      await data;
      t.notOk(socket.destroyed);
      socket.destroy();
    }
  });
});
