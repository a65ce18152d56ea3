import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { ownWriteTime } from '../../../src/infrastructure/database/own-writes.ts';
import { createTestApp, createUser, type TestApp } from '../../support/app.ts';
import { inParallel, lockRows } from '../../support/concurrency.ts';
import { createTestDatabase, databaseUrl } from '../../support/database.ts';
import { freePort } from '../../support/free-port.ts';
import { openTwoShops } from '../../support/partner-requests.ts';
import { startPooler } from '../../support/pooler.ts';
import { startRedis } from '../../support/redis.ts';
import { without } from '../../support/requirements.ts';
import { createAuthor, createPost, openShop, type TestPost } from '../../support/stores.ts';
import { createTcpProxy } from '../../support/tcp-proxy.ts';
import { atMost, pause } from '../../support/time.ts';
import { replace } from '../../support/timers.ts';
import { until } from '../../support/until.ts';
import { readsOf, sourceOf, startCluster, untilRead } from './standby.ts';

ownWriteTime.milliseconds = atMost(6_000);

const skip = without('redis-server');
const settings = { QUOTA_POSTS_PER_DAY: '0', QUOTA_EDITS_PER_DAY: '0', WORKER_ENABLED: 'false' };

type Author = Awaited<ReturnType<typeof createAuthor>>;
const createAuthors = (app: TestApp, count: number) => inParallel(count, () => createAuthor(app));

/** The title of a post as a user sees it: alone, or in a list. */
async function titleOf(
  app: TestApp,
  token: string,
  { id, store }: TestPost,
  inList = false,
): Promise<string> {
  const path = inList ? `/api/v1/posts/?store_id=${store.id}` : `/api/v1/posts/${id}/`;
  const { status, body } = await app.call('GET', path, { token });
  if (status !== 200) throw new Error(`${path}: ${status}`);
  return inList ? body.data.items.find((item: TestPost) => item.id === id).title : body.data.title;
}

/** Writes eight times for each author, on one app and then the other. @returns how often the other one shows it at once */
async function countSeen(apps: readonly [TestApp, TestApp], authors: Author[]): Promise<number> {
  const seen = authors.map(async ({ token, post }) => {
    let count = 0;
    for (let turn = 0; turn < 8; turn++) {
      const [writer, reader] = turn % 2 === 0 ? apps : [apps[1], apps[0]];
      const body = { title: `${turn}번째 제목` };
      const { status } = await writer.call('PATCH', `/api/v1/posts/${post.id}/`, { token, body });
      if (status === 200 && (await titleOf(reader, token, post, turn % 4 > 1)) === body.title) count++;
    }
    return count;
  });
  return (await Promise.all(seen)).reduce((sum, count) => sum + count, 0);
}

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

  t.test('lists, searches, posts and stores are read from the replica, and nothing else', async (t) => {
    const app = await createTestApp({ ...settings, DATABASE_REPLICA_URL: standby.url }, { databaseUrl: url });
    t.teardown(app.close);
    await untilRead(app, true);
    const { sender, receiver, post } = await openTwoShops(app);
    const { token } = await createUser(app);
    const get = async (path: string) => {
      const { status, body } = await app.call('GET', path, { token });
      t.equal(status, 200, path);
      return body.data;
    };
    await until('replay', async () => (await titleOf(app, token, post)) === post.title);
    await standby.statements();
    /** Reads until the replica has answered, which may not be read for a moment. @returns what it ran */
    const readFrom = async (path: string) => {
      let statements: string[] = [];
      await until(`${path} on the replica`, async () => {
        await get(`/api/v1/${encodeURI(path)}`);
        statements = await standby.statements();
        return statements.length > 0;
      });
      return statements.join();
    };

    const lists = ['stores/', 'stores/?q=카페', 'posts/', 'posts/?q=가게&category_id=1', 'posts/?mine=true'];
    for (const path of lists) await readFrom(path);
    t.match(await readFrom(`posts/${post.id}/`), 'WHERE p.id = $');
    t.match(await readFrom(`stores/${receiver.store.id}/`), 'WHERE s.id = $');
    const read = await get(`/api/v1/posts/${post.id}/`);
    t.match(read, { id: post.id, title: post.title, is_mine: false, my_request_status: null });
    t.strictSame(await get(`/api/v1/stores/${receiver.store.id}/`), receiver.store);
    for (const path of ['stores/999999/', 'posts/999999/']) {
      const readMissing = async () =>
        t.equal((await app.call('GET', `/api/v1/${path}`, { token })).status, 404, path);
      // Which is no fault of the replica.
      await until(path, async () => (await sourceOf(app, readMissing)) === 'not_found');
    }
    await standby.statements();

    const before = await readsOf(app);
    const ofStores = ['mypage', 'me', 'partners', 'categories'].map((name) => `/api/v1/stores/${name}/`);
    const names = ['mypage', 'unread-count', 'partner-request', 'preferences'];
    const ofUser = names.map((name) => `/api/v1/notifications/${name}/`);
    for (const path of ['/auth/me/', '/auth/sessions/', '/health/ready', ...ofStores, ...ofUser])
      t.equal((await app.call('GET', path, { token: sender.token })).status, 200, path);
    t.strictSame(await readsOf(app), before);
    t.strictSame(await standby.statements(), []);

    await t.test('without Redis, the writes of this instance count', async (t) => {
      replace(t, ownWriteTime, { milliseconds: 5_000 });
      const { token, post } = await createAuthor(app);
      const path = `/api/v1/posts/${post.id}/`;
      const source = () => sourceOf(app, () => titleOf(app, token, post));
      const write = () => app.call('PATCH', path, { token, body: { title: '새 제목' } });
      for (let turn = 0; turn < 2; turn++) {
        await until('an own write', async () => {
          t.equal((await write()).status, 200);
          return (await source()) === 'own_write';
        });
        await until('the end of its time', async () => (await source()) === 'replica');
      }
    });
  });

  t.test('users see their own writes at once, on every instance', { skip }, async (t) => {
    const port = await freePort();
    let redis = await startRedis(t, port);
    const environment = {
      ...settings,
      DATABASE_REPLICA_URL: standby.url,
      REDIS_URL: `redis://127.0.0.1:${port}`,
    };
    const create = (options = {}) => createTestApp(environment, { databaseUrl: url, ...options });
    const apps = [await create(), await create()] as const;
    const author = await createAuthor(apps[0]);
    const authors = [author, ...(await createAuthors(apps[0], 4))];
    const stranger = await createUser(apps[0]);
    const { token, post } = author;
    const patch = (app: TestApp, title: string, { token, post } = author) =>
      app.call('PATCH', `/api/v1/posts/${post.id}/`, { token, body: { title } });
    const becomes = (source: string, app: TestApp, user: { token: string }) =>
      until(source, async () => (await sourceOf(app, () => titleOf(app, user.token, post))) === source);
    const bothRead = () => Promise.all(apps.map((app) => untilRead(app, true)));

    await t.test('while the replica is behind by less than two seconds', async (t) => {
      await standby.delayReplay(800);
      await bothRead();
      await becomes('replica', apps[1], stranger);
      t.equal(await countSeen(apps, authors), 40, 'the own write in 40 of 40 reads');
      await bothRead();
      await standby.execute('SELECT pg_wal_replay_pause()');
      await patch(apps[0], '아직 없는 제목');
      const added = await createPost(apps[0], token);
      t.equal(await titleOf(apps[1], stranger.token, added), added.title, 'what is not there yet is found');
      await standby.execute('SELECT pg_wal_replay_resume()');
      await until('replay', async () => (await titleOf(apps[1], stranger.token, post)) === '아직 없는 제목');
    });

    await t.test('while it is behind by more than two seconds', async (t) => {
      await standby.execute('SELECT pg_wal_replay_pause()');
      await patch(apps[0], '늦은 제목');
      await Promise.all(apps.map((app) => untilRead(app, false)));
      t.equal(await countSeen(apps, authors), 40, 'the own write in 40 of 40 reads');
      t.equal(await titleOf(apps[1], stranger.token, post), await titleOf(apps[1], token, post));
      await becomes('unavailable', apps[1], stranger);
      await until('the lag', async () => {
        const { text } = await apps[1].call('GET', '/metrics');
        return Number(/^replica_lag_seconds (.*)$/m.exec(text)?.[1]) > 2;
      });
      await standby.delayReplay(0);
      await standby.execute('SELECT pg_wal_replay_resume()');
      await bothRead();
    });

    await t.test('while a write is in progress, and after a response without its end', async (t) => {
      const impatient = await create({ timeLimit: 1_500, serverErrors: true });
      const { milliseconds } = ownWriteTime;
      ownWriteTime.milliseconds = 1;
      const other = await createAuthor(apps[0]);
      ownWriteTime.milliseconds = milliseconds;
      const { token, post } = other;
      await becomes('replica', apps[1], other);
      const lock = await lockRows(t, apps[0], 'SELECT FROM posts WHERE id = $1 FOR UPDATE', [post.id]);
      const writing = patch(impatient, '더 늦은 제목', other);
      await lock.waiters(1);
      await becomes('own_write', apps[1], other);
      t.equal((await writing).status, 503);
      await lock.release();
      await until('the commit', async () => (await titleOf(apps[1], token, post)) === '더 늦은 제목');
      await becomes('own_write', apps[1], other);
    });

    await t.test('while Redis is not reachable, and after it lost its keys', async (t) => {
      redis.kill('SIGKILL');
      await until('the warning', () =>
        apps.every(({ logs }) => logs.join().includes('redis is not reachable')),
      );
      // Everybody may have written.
      await becomes('own_write', apps[1], stranger);
      await patch(apps[0], '기억되지 않는 제목');
      redis = await startRedis(t, port);
      t.equal(await titleOf(apps[1], token, post), '기억되지 않는 제목');
      await until('Redis', () => apps.every(({ logs }) => logs.join().includes('redis is reachable again')));
      await becomes('own_write', apps[1], stranger);
      t.equal(await countSeen(apps, authors.slice(0, 2)), 16);
    });
  });

  t.test('a replica that ends, hangs or comes back causes no error and no delay', async (t) => {
    const proxy = await createTcpProxy(t, standby.url);
    const app = await createTestApp({ ...settings, DATABASE_REPLICA_URL: proxy.url }, { databaseUrl: url });
    const { post, store } = await createAuthor(app);
    const { token } = await createUser(app);
    const readPost = () => app.call('GET', `/api/v1/posts/${post.id}/`, { token });
    const paths = ['posts/', `posts/${post.id}/`, 'stores/?q=카페', `stores/${store.id}/`];

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
    await rejects(await create(databaseUrl(standby.url, 'postgres')), 'it is a copy of another database');
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
