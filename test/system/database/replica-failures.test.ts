import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { createTestApp, createUser, type TestApp } from '../../support/app.ts';
import { createPost, openShop } from '../../support/stores.ts';
import { createTcpProxy } from '../../support/tcp-proxy.ts';
import { until } from '../../support/until.ts';
import { readsOf, startCluster, untilRead } from './standby.ts';

/** Reads as a user who has written nothing, until `end`. @returns the slowest response, in milliseconds, and all statuses */
async function readWhile(app: TestApp, token: string, path: string, end: () => boolean) {
  const statuses = new Set<number>();
  let slowest = 0;
  const readers = Array.from({ length: 8 }, async () => {
    while (!end()) {
      const startedAt = performance.now();
      statuses.add((await app.call('GET', path, { token })).status);
      slowest = Math.max(slowest, performance.now() - startedAt);
    }
  });
  await Promise.all(readers);
  return { statuses: [...statuses], slowest };
}

t.test(
  'a replica that ends, hangs or comes back causes no error, and no request waits for it twice',
  async (t) => {
    const { url, standbys } = await startCluster(t);
    const [standby] = standbys;
    if (!standby) throw new Error('there is no standby');
    const proxy = await createTcpProxy(t, standby.url);
    const app = await createTestApp({ DATABASE_REPLICA_URL: proxy.url }, { databaseUrl: url });
    const shop = await openShop(app);
    const post = await createPost(app, shop.token);
    const { token } = await createUser(app);

    const failures: [string, () => Promise<void>, () => Promise<void>][] = [
      ['killed', () => standby.kill(), () => standby.start()],
      ['suspended', () => standby.signal('SIGSTOP'), () => standby.signal('SIGCONT')],
      ['not reachable', () => proxy.cut(), () => proxy.restore()],
      ['silent', async () => proxy.freeze(), () => proxy.restore()],
    ];
    for (const [name, fail, recover] of failures) {
      await t.test(name, async (t) => {
        await untilRead(app, true);
        let isOver = false;
        const before = await readsOf(app);
        const reading = ['posts/', `posts/${post.id}/`, 'stores/?q=카페', `stores/${shop.store.id}/`].map(
          (path) => readWhile(app, token, `/api/v1/${encodeURI(path)}`, () => isOver),
        );
        await until(
          'reads from the replica',
          async () => ((await readsOf(app))['replica'] ?? 0) > (before['replica'] ?? 0),
        );
        await fail();
        await untilRead(app, false);
        // Those that were waiting for it have ended.
        await sleep(2_500);
        const startedAt = performance.now();
        t.equal((await app.call('GET', `/api/v1/posts/${post.id}/`, { token })).status, 200);
        const time = performance.now() - startedAt;
        await recover();
        await untilRead(app, true);
        isOver = true;
        for (const { statuses, slowest } of await Promise.all(reading)) {
          t.strictSame(statuses, [200]);
          t.ok(slowest < 5_000, `the slowest took ${Math.round(slowest)} ms`);
        }
        t.ok(time < 400, `${Math.round(time)} ms while it is known`);
      });
    }
  },
);

t.test('a server that is no standby of the primary is not read', async (t) => {
  const { url, standbys } = await startCluster(t, 2);
  const [first, second] = standbys;
  if (!first || !second) throw new Error('there are no standbys');
  const other = await startCluster(t);
  const create = (replica: string, databaseUrl = url) =>
    createTestApp({ DATABASE_REPLICA_URL: replica }, { databaseUrl });
  /** Why an app does not read from its replica. */
  const reason = ({ logs }: TestApp) =>
    until(
      'the reason',
      () =>
        logs.map((line) => JSON.parse(line)).findLast(({ msg }) => msg === 'the replica is not read')?.reason,
    );

  t.equal(await reason(await create(url)), 'it is no standby', 'the primary itself');
  const template = new URL(first.url);
  template.pathname = '/postgres';
  t.equal(await reason(await create(template.href)), 'it is a copy of another database');
  t.equal(await reason(await create(other.standbys[0]?.url ?? '')), 'it is a copy of another database');

  // The second one goes on with the old primary, whose log is longer than that of the new one.
  const before = await create(first.url);
  await untilRead(before, true);
  await first.execute('SELECT pg_promote()');
  t.equal(await reason(before), 'it is no standby', 'promoted');
  const promoted = new URL(url);
  promoted.port = new URL(first.url).port;
  const shop = await openShop(before);
  await createPost(before, shop.token);
  const after = await create(second.url, promoted.href);
  t.equal(await reason(after), 'it is not on the timeline of the primary yet');
  await createPost(before, shop.token);
  await sleep(2_500);
  t.equal((await readsOf(after))['replica'], 0);
  t.equal(await reason(after), 'it is not on the timeline of the primary yet');
});
