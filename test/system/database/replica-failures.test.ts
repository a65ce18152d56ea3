import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { createTestApp, createUser, type TestApp } from '../../support/app.ts';
import { inParallel } from '../../support/concurrency.ts';
import { createTestDatabase } from '../../support/database.ts';
import { startPooler } from '../../support/pooler.ts';
import { without } from '../../support/requirements.ts';
import { createPost, openShop } from '../../support/stores.ts';
import { createTcpProxy } from '../../support/tcp-proxy.ts';
import { pause } from '../../support/time.ts';
import { until } from '../../support/until.ts';
import { readsOf, startCluster, untilRead } from './standby.ts';

const settings = { WORKER_ENABLED: 'false' };

/** A reader of a path, who has written nothing, until `end`. It pauses, because each read costs CPU. */
function startReader(app: TestApp, token: string, path: string, end: () => boolean) {
  const statuses: number[] = [];
  async function read() {
    for (; !end(); await sleep(2 * pause)) statuses.push((await app.call('GET', path, { token })).status);
  }
  return { statuses, ended: read() };
}

t.test('a primary with two standbys', async (t) => {
  const { url, standby, second } = await startCluster(t, 2);

  t.test('a replica that ends, hangs or comes back causes no error and no delay', async (t) => {
    const proxy = await createTcpProxy(t, standby.url);
    const app = await createTestApp({ ...settings, DATABASE_REPLICA_URL: proxy.url }, { databaseUrl: url });
    const shop = await openShop(app);
    const post = await createPost(app, shop.token);
    const { token } = await createUser(app);
    const readPost = () => app.call('GET', `/api/v1/posts/${post.id}/`, { token });
    const paths = ['posts/', `posts/${post.id}/`, 'stores/?q=카페', `stores/${shop.store.id}/`];

    const failures: [string, () => Promise<void>, () => Promise<void>][] = [
      ['killed', () => standby.kill(), () => standby.start()],
      ['suspended', () => standby.signal('SIGSTOP'), () => standby.signal('SIGCONT')],
      ['not reachable', () => proxy.cut(), () => proxy.restore()],
      ['silent', async () => proxy.freeze(), () => proxy.restore()],
    ];
    for (const [name, fail, recover] of failures) {
      await t.test(name, async (t) => {
        let isOver = false;
        t.teardown(() => (isOver = true));
        await untilRead(app, true);
        const readers = paths.map((path) =>
          startReader(app, token, `/api/v1/${encodeURI(path)}`, () => isOver),
        );
        const { replica = 0 } = await readsOf(app);
        await until('reads from the replica', async () => Number((await readsOf(app))['replica']) > replica);
        await fail();
        await untilRead(app, false);
        const before = readers.map(({ statuses }) => statuses.length);
        await until('the end of the reads that waited for it', () =>
          readers.every(({ statuses }, index) => statuses.length > (before[index] ?? 0) + 1),
        );
        const accepted = proxy.accepted();
        const reads = 30;
        for (let count = 0; count < reads; count++) t.equal((await readPost()).status, 200);
        // One that fails is not used again, so that a read of the replica makes a connection.
        const tried = proxy.accepted() - accepted;
        t.ok(tried < reads, `${tried} connections, and none of them for a read`);
        await recover();
        await untilRead(app, true);
        isOver = true;
        await Promise.all(readers.map(({ ended }) => ended));
        for (const { statuses } of readers) t.strictSame([...new Set(statuses)], [200]);
      });
    }
  });

  t.test('the replica is read through PgBouncer, too', { skip: without('pgbouncer') }, async (t) => {
    const [primary, replica] = [await startPooler(t, url), await startPooler(t, standby.url)];
    const urls = { DATABASE_DIRECT_URL: url, DATABASE_REPLICA_URL: `${replica}?pgbouncer=true` };
    const app = await createTestApp({ ...settings, ...urls }, { databaseUrl: primary });
    const shop = await openShop(app);
    const { token } = await createUser(app);
    await untilRead(app, true);
    const path = `/api/v1/stores/${shop.store.id}/`;
    const responses = await inParallel(50, () => app.call('GET', path, { token }));
    for (const { body } of responses) t.strictSame(body.data, shop.store);
    await until('reads from the replica', async () => {
      await app.call('GET', path, { token });
      return Number((await readsOf(app))['replica']) > 0;
    });
  });

  t.test('a server that is no standby of the primary is not read', async (t) => {
    const create = (replica: string, databaseUrl = url) =>
      createTestApp({ ...settings, DATABASE_REPLICA_URL: replica }, { databaseUrl });
    /** Waits until an app says why it does not read from its replica. */
    const rejects = ({ logs }: TestApp, expected: string) =>
      until(expected, () => {
        const last = logs.findLast((line) => line.includes('"msg":"the replica is not read"'));
        return last?.includes(`"reason":"${expected}"`);
      });

    await rejects(await create(url), 'it is no standby');
    const template = new URL(standby.url);
    template.pathname = '/postgres';
    await rejects(await create(template.href), 'it is a copy of another database');
    const otherServer = await createTestDatabase();
    await rejects(await create(standby.url, otherServer), 'it is a copy of another database');

    // The second one goes on with the old primary, whose log is longer than that of the new one.
    const before = await create(standby.url);
    await untilRead(before, true);
    await standby.execute('SELECT pg_promote()');
    await rejects(before, 'it is no standby');
    const promoted = new URL(url);
    promoted.port = new URL(standby.url).port;
    const shop = await openShop(before);
    await createPost(before, shop.token);
    const proxy = await createTcpProxy(t, second.url);
    const after = await create(proxy.url, promoted.href);
    await rejects(after, 'it is not on the timeline of the primary yet');
    await createPost(before, shop.token);
    // A check that fails ends its connection.
    const checks = proxy.accepted();
    await until('six more checks', () => proxy.accepted() > checks + 5);
    t.equal((await readsOf(after))['replica'], 0);
    await rejects(after, 'it is not on the timeline of the primary yet');
  });
});
