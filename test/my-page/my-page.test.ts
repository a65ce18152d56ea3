import t from 'tap';
import { createTestApp, createUser } from '../support/app.ts';
import { sendRequest, transition } from '../support/partner-requests.ts';
import { createAuthor, createPost, openShop } from '../support/stores.ts';

const app = await createTestApp();
const { call, pool } = app;
const path = '/api/v1/stores/mypage/';

async function myPage(token: string) {
  const response = await call('GET', path, { token });
  if (response.status !== 200) throw new Error(response.text);
  return response.body.data;
}

t.test('without a store everything is empty', async (t) => {
  const { token } = await createUser(app);
  t.strictSame(await myPage(token), { store: null, posts: [], sent_requests: [] });
});

t.test('requests have their status, and deleted posts are not there', async (t) => {
  const me = await openShop(app, '보내는 가게');
  const other = await openShop(app, '받는 가게');
  const [first, second] = [await createPost(app, other.token), await createPost(app, other.token)];
  const declined = await sendRequest(app, me, first);
  const withdrawn = await sendRequest(app, me, second);
  await transition(app, other, declined, 'decline');
  await call('DELETE', `/api/v1/posts/${second.id}/`, { token: other.token });
  const kept = await createPost(app, me.token);
  const deleted = await createPost(app, me.token);
  await call('DELETE', `/api/v1/posts/${deleted.id}/`, { token: me.token });
  const page = await myPage(me.token);
  t.match(page.sent_requests, [
    { id: withdrawn, status: '취소됨' },
    { id: declined, status: '거절됨' },
  ]);
  const { id, title, thumbnail, created_at } = kept;
  t.strictSame(page.posts, [{ id, title, thumbnail, created_at }]);
});

t.test('both lists end at the latest 100', async (t) => {
  const me = await openShop(app, '부지런한 가게');
  const other = await openShop(app, '인기 가게');
  await pool.query(
    `INSERT INTO posts (store_id, title, content, images, created_at)
     SELECT store, 'n' || n, 'c', '{https://a.example/1.jpg}', timestamptz '2026-01-01' + n * interval '1 second'
     FROM unnest($1::int[]) store, generate_series(1, 130) n`,
    [[me.store.id, other.store.id]],
  );
  await pool.query(
    `INSERT INTO partner_requests (post_id, sender_store_id, receiver_store_id, message, created_at)
     SELECT id, $1, store_id, title, created_at FROM posts WHERE store_id = $2`,
    [me.store.id, other.store.id],
  );
  const page = await myPage(me.token);
  const latest = Array.from({ length: 100 }, (_, index) => `n${130 - index}`);
  const { posts, sent_requests } = page;
  t.match(
    { posts, sent_requests },
    { posts: latest.map((title) => ({ title })), sent_requests: latest.map((message) => ({ message })) },
  );
  t.strictSame([posts.length, sent_requests.length], [100, 100]);
  t.equal(page.posts[0].created_at, '2026-01-01T00:02:10.000Z');
  t.strictSame((await myPage(other.token)).sent_requests, []);
});

t.test('of pages that are read together everybody gets their own', async (t) => {
  const shops = await Promise.all([1, 2, 3, 4].map((index) => openShop(app, `가게 ${index}`)));
  const { token } = await createUser(app);
  const tokens = [...shops.map((shop) => shop.token), token, shops[0]?.token ?? ''];
  const pages = await Promise.all(tokens.map(myPage));
  t.strictSame(
    pages.map(({ store }) => store?.id),
    [...shops, undefined, shops[0]].map((shop) => shop?.store.id),
  );
});

t.test('times are UTC with milliseconds, whatever the time zone of the database is', async (t) => {
  const url = new URL(app.url);
  url.searchParams.set('options', '-c TimeZone=Asia/Seoul');
  const second = await createTestApp({ WORKER_ENABLED: 'false' }, { databaseUrl: url.href });
  t.strictSame((await second.pool.query('SHOW TimeZone')).rows, [{ TimeZone: 'Asia/Seoul' }]);
  const { post, token } = await createAuthor(app);
  for (const time of ['00:00:01.000', '00:00:01.100', '00:00:01.120', '00:00:01.001']) {
    const created_at = `2026-01-01T${time}Z`;
    await pool.query('UPDATE posts SET created_at = $1 WHERE id = $2', [created_at, post.id]);
    const { body } = await second.call('GET', path, { token });
    t.equal(body.data.posts[0].created_at, created_at);
  }
});
