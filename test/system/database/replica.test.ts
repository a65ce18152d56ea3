import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { createTestApp, createUser, type TestApp } from '../../support/app.ts';
import { inParallel, lockRows, parallel } from '../../support/concurrency.ts';
import { freePort } from '../../support/free-port.ts';
import { openTwoShops } from '../../support/partner-requests.ts';
import { startRedis } from '../../support/redis.ts';
import { without } from '../../support/requirements.ts';
import { createPost, openShop, type Shop, type TestPost } from '../../support/stores.ts';
import { until } from '../../support/until.ts';
import { readsOf, startCluster, untilRead } from './standby.ts';

t.jobs = 2;

const noQuotas = { QUOTA_POSTS_PER_DAY: '0', QUOTA_EDITS_PER_DAY: '0' };

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

/** Writes twenty times for each author, on one app and then the other. @returns how often the other one shows it at once */
async function countSeen(apps: readonly [TestApp, TestApp], authors: Author[]): Promise<number> {
  const seen = authors.map(async ({ token, post }) => {
    let count = 0;
    for (let turn = 0; turn < 20; turn++) {
      const [writer, reader] = turn % 2 === 0 ? apps : [apps[1], apps[0]];
      const body = { title: `${turn}번째 제목` };
      const { status } = await writer.call('PATCH', `/api/v1/posts/${post.id}/`, { token, body });
      if (status === 200 && (await titleOf(reader, token, post, turn % 4 > 1)) === body.title) count++;
    }
    return count;
  });
  return (await Promise.all(seen)).reduce((sum, count) => sum + count, 0);
}

t.test(
  'lists, searches, single posts and stores are read from the replica, and nothing else',
  parallel(),
  async (t) => {
    const { url, standbys } = await startCluster(t);
    const [standby] = standbys;
    if (!standby) throw new Error('there is no standby');
    const app = await createTestApp({ DATABASE_REPLICA_URL: standby.url }, { databaseUrl: url });
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
    standby.statements();

    const lists = ['stores/', 'stores/?q=카페', 'posts/', 'posts/?q=가게&category_id=1', 'posts/?mine=true'];
    for (const path of lists) {
      await get(`/api/v1/${encodeURI(path)}`);
      await until(`${path} on the replica`, () => standby.statements().length > 0);
    }
    const read = await get(`/api/v1/posts/${post.id}/`);
    t.match(read, { id: post.id, title: post.title, is_mine: false, my_request_status: null });
    await until('the post', () => standby.statements().join().includes('WHERE p.id = $'));
    t.strictSame(await get(`/api/v1/stores/${receiver.store.id}/`), receiver.store);
    await until('the store', () => standby.statements().join().includes('WHERE s.id = $'));

    const { not_found: missed = 0 } = await readsOf(app);
    for (const path of ['stores/999999/', 'posts/999999/'])
      t.equal((await app.call('GET', `/api/v1/${path}`, { token })).status, 404, path);
    t.equal((await readsOf(app))['not_found'], missed + 2, 'which is no fault of the replica');
    standby.statements();

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
    t.strictSame(standby.statements(), []);

    await t.test('without Redis, the writes of this instance count', async (t) => {
      const [author] = await createAuthors(app, 1);
      if (!author) throw new Error('there is no author');
      const source = async () => {
        const before = await readsOf(app);
        await titleOf(app, author.token, author.post);
        const after = await readsOf(app);
        return Object.keys(after).find((name) => after[name] !== before[name]);
      };
      t.equal(await source(), 'own_write');
      await until('five seconds', async () => (await source()) === 'replica');
      await app.call('PATCH', `/api/v1/posts/${author.post.id}/`, {
        token: author.token,
        body: { title: '새 제목' },
      });
      t.equal(await source(), 'own_write');
    });
  },
);

t.test(
  'users see their own writes at once, on every instance',
  parallel({ skip: without('redis-server') }),
  async (t) => {
    const { url, standbys } = await startCluster(t);
    const [standby] = standbys;
    if (!standby) throw new Error('there is no standby');
    const port = await freePort();
    let redis = await startRedis(t, port);
    const environment = {
      ...noQuotas,
      DATABASE_REPLICA_URL: standby.url,
      REDIS_URL: `redis://127.0.0.1:${port}`,
    };
    const create = (options = {}) => createTestApp(environment, { databaseUrl: url, ...options });
    const apps = [await create(), await create()] as const;
    const authors = await createAuthors(apps[0], 10);
    const [author] = authors;
    const stranger = await createUser(apps[0]);
    if (!author) throw new Error('there is no author');
    const { token, post } = author;
    const patch = (app: TestApp, title: string) =>
      app.call('PATCH', `/api/v1/posts/${post.id}/`, { token, body: { title } });
    const sourceOf = async (app: TestApp, user: { token: string }) => {
      const before = await readsOf(app);
      await titleOf(app, user.token, post);
      const after = await readsOf(app);
      return Object.keys(after).find((name) => after[name] !== before[name]);
    };
    const bothRead = () => Promise.all(apps.map((app) => untilRead(app, true)));

    await t.test('while the replica is behind by less than two seconds', async (t) => {
      await standby.delayReplay(800);
      await bothRead();
      await until('Redis', async () => (await sourceOf(apps[1], stranger)) === 'replica');
      t.equal(await countSeen(apps, authors), 200, 'the own write in 200 of 200 reads');
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
      t.equal(await countSeen(apps, authors), 200, 'the own write in 200 of 200 reads');
      t.equal(await titleOf(apps[1], stranger.token, post), await titleOf(apps[1], token, post));
      t.equal(await sourceOf(apps[1], stranger), 'unavailable');
      const lag = /^replica_lag_seconds (.*)$/m.exec((await apps[1].call('GET', '/metrics')).text)?.[1];
      t.ok(Number(lag) > 2, `${lag} s`);
      await standby.delayReplay(0);
      await standby.execute('SELECT pg_wal_replay_resume()');
      await bothRead();
    });

    await t.test(
      'while a write is in progress, and after a response that does not tell its end',
      async (t) => {
        const impatient = await create({ timeLimit: 1_500, serverErrors: true });
        const quiet = { token: (await createAuthors(apps[0], 1))[0]?.token ?? '' };
        await until('five seconds', async () => (await sourceOf(apps[1], quiet)) === 'replica');
        await until('five seconds', async () => (await sourceOf(apps[1], author)) === 'replica');
        const lock = await lockRows(t, apps[0], 'SELECT FROM posts WHERE id = $1 FOR UPDATE', [post.id]);
        const writing = patch(impatient, '더 늦은 제목');
        await lock.waiters(1);
        t.equal(await sourceOf(apps[1], author), 'own_write');
        // Its five seconds must not replace the longer time of the first one.
        const other = { token, body: { name: '김두레' } };
        t.equal((await apps[0].call('PATCH', '/auth/me/', other)).status, 200);
        t.equal(await sourceOf(apps[1], quiet), 'replica');
        t.equal((await writing).status, 503);
        await lock.release();
        await until('the commit', async () => (await titleOf(apps[1], token, post)) === '더 늦은 제목');
        await sleep(5_500);
        t.equal(await sourceOf(apps[1], author), 'own_write');
      },
    );

    await t.test('while Redis is not reachable, and after it lost its keys', async (t) => {
      redis.kill('SIGKILL');
      await until('the warning', () =>
        apps.every(({ logs }) => logs.join().includes('redis is not reachable')),
      );
      t.equal(await sourceOf(apps[1], stranger), 'own_write', 'everybody may have written');
      await patch(apps[0], '기억되지 않는 제목');
      redis = await startRedis(t, port);
      t.equal(await titleOf(apps[1], token, post), '기억되지 않는 제목');
      await until('Redis', () => apps.every(({ logs }) => logs.join().includes('redis is reachable again')));
      t.equal(await sourceOf(apps[1], stranger), 'own_write');
      t.equal(await countSeen(apps, authors.slice(0, 2)), 40);
    });
  },
);
