import t from 'tap';
import { ownWriteTimes } from '../../../src/infrastructure/database/own-writes.ts';
import { createTestApp, createUser, type TestApp } from '../../support/app.ts';
import { inParallel, lockRows } from '../../support/concurrency.ts';
import { freePort } from '../../support/free-port.ts';
import { openTwoShops } from '../../support/partner-requests.ts';
import { startRedis } from '../../support/redis.ts';
import { without } from '../../support/requirements.ts';
import { createPost, openShop, type Shop, type TestPost } from '../../support/stores.ts';
import { atMost } from '../../support/time.ts';
import { until } from '../../support/until.ts';
import { readsOf, sourceOf, startCluster, untilRead } from './standby.ts';

ownWriteTimes.pending = atMost(ownWriteTimes.pending);

const skip = without('redis-server');
const settings = { QUOTA_POSTS_PER_DAY: '0', QUOTA_EDITS_PER_DAY: '0', WORKER_ENABLED: 'false' };

interface Author extends Shop {
  post: TestPost;
}

async function createAuthors(app: TestApp, count: number): Promise<Author[]> {
  return inParallel(count, async () => {
    const shop = await openShop(app);
    return { ...shop, post: await createPost(app, shop.token) };
  });
}

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

t.test('a primary with a standby', async (t) => {
  const { url, standby } = await startCluster(t);

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

    for (const path of [
      'stores/',
      'stores/?q=카페',
      'posts/',
      'posts/?q=가게&category_id=1',
      'posts/?mine=true',
    ])
      await readFrom(path);
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
    const all = ['stores/mypage/', 'stores/me/', 'stores/partners/', 'stores/categories/'];
    all.push(
      ...['mypage/', 'unread-count/', 'partner-request/', 'preferences/'].map(
        (path) => `notifications/${path}`,
      ),
    );
    for (const path of [
      '/auth/me/',
      '/auth/sessions/',
      '/health/ready',
      ...all.map((path) => `/api/v1/${path}`),
    ])
      t.equal((await app.call('GET', path, { token: sender.token })).status, 200, path);
    t.strictSame(await readsOf(app), before);
    t.strictSame(await standby.statements(), []);

    await t.test('without Redis, the writes of this instance count', async (t) => {
      const [author] = await createAuthors(app, 1);
      if (!author) throw new Error('there is no author');
      const { token, post } = author;
      const path = `/api/v1/posts/${post.id}/`;
      const source = () => sourceOf(app, () => titleOf(app, token, post));
      const write = () => app.call('PATCH', path, { token, body: { title: '새 제목' } });
      for (let turn = 0; turn < 2; turn++) {
        await until('an own write', async () => {
          t.equal((await write()).status, 200);
          return (await source()) === 'own_write';
        });
        await until('five seconds', async () => (await source()) === 'replica');
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
    const authors = await createAuthors(apps[0], 5);
    const [author] = authors;
    const stranger = await createUser(apps[0]);
    if (!author) throw new Error('there is no author');
    const { token, post } = author;
    const patch = (app: TestApp, title: string) =>
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
      const quiet = { token: (await createAuthors(apps[0], 1))[0]?.token ?? '' };
      for (const user of [quiet, author]) await becomes('replica', apps[1], user);
      const lock = await lockRows(t, apps[0], 'SELECT FROM posts WHERE id = $1 FOR UPDATE', [post.id]);
      const writing = patch(impatient, '더 늦은 제목');
      await lock.waiters(1);
      await becomes('own_write', apps[1], author);
      // Its five seconds must not replace the longer time of the first one.
      const rename = (token: string) =>
        apps[0].call('PATCH', '/auth/me/', { token, body: { name: '김두레' } });
      t.equal((await rename(token)).status, 200);
      await becomes('replica', apps[1], quiet);
      t.equal((await writing).status, 503);
      await lock.release();
      await until('the commit', async () => (await titleOf(apps[1], token, post)) === '더 늦은 제목');
      // A write of now is over, the one of before is not.
      t.equal((await rename(quiet.token)).status, 200);
      await becomes('replica', apps[1], quiet);
      await becomes('own_write', apps[1], author);
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
});
