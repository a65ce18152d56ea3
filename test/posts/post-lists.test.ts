import t from 'tap';
import { createTestApp, createUser, readPages } from '../support/app.ts';
import { createPost, idsIn, openShop, type TestPost } from '../support/stores.ts';

const app = await createTestApp();
const { call, pool } = app;
const path = '/api/v1/posts/';

// Only the posts of this file are listed.
await pool.query('UPDATE stores SET hidden_at = now() WHERE hidden_at IS NULL');
const cafe = await openShop(app, '두레 카페', { category_ids: [1] });
const bakery = await openShop(app, '동네 빵집', { category_ids: [3, 1] });
const { token: visitor } = await createUser(app);
const created: TestPost[] = [];
for (let index = 0; index < 14; index++) {
  const { token } = index % 2 === 0 ? cafe : bakery;
  const fields = { title: `글 ${index}`, content: index < 3 ? '옛 소식' : '새 소식' };
  created.push(await createPost(app, token, fields));
}
const newestFirst = [...created].reverse();

const list = (query = '', token = visitor) => call('GET', `${path}${query}`, { token });

const ids = async (query = '', token = visitor) => idsIn(await list(query, token));

const idsOf = (posts: TestPost[]) => posts.map(({ id }) => id);

t.test('filters combine', async (t) => {
  const ofCafe = idsOf(newestFirst.filter(({ store }) => store.id === cafe.store.id));
  const ofBakery = idsOf(newestFirst.filter(({ store }) => store.id === bakery.store.id));
  t.strictSame(await ids('?mine=true', cafe.token), ofCafe);
  t.strictSame(await ids('?mine=true'), [], 'without a store');
  t.strictSame(await ids('?mine=false', cafe.token), idsOf(newestFirst));
  t.strictSame(await ids(`?store_id=${bakery.store.id}`), ofBakery);
  t.strictSame(await ids(`?mine=true&store_id=${bakery.store.id}`, cafe.token), []);
  t.strictSame(await ids('?store_id=999999'), []);
  t.strictSame(await ids('?category_id=3'), ofBakery);
  t.strictSame(await ids('?category_id=1'), idsOf(newestFirst));
  t.strictSame(await ids('?category_id=11'), []);
  t.strictSame(await ids(`?category_id=3&store_id=${cafe.store.id}`), []);
  const old = encodeURIComponent('옛');
  t.strictSame(await ids(`?q=${old}`), idsOf(newestFirst.slice(-3)));
  t.strictSame(await ids(`?q=${old}&category_id=3`), [created[1]?.id]);
  t.strictSame(await ids(`?q=${old}&mine=true`, cafe.token), [created[2]?.id, created[0]?.id]);
  t.strictSame(await ids(`?q=${old}&store_id=${bakery.store.id}&category_id=1`), [created[1]?.id]);
  t.strictSame(await ids(`?q=${encodeURIComponent('없는 말')}`), []);
});

t.test('pages list every post once, also posts of the same time', async (t) => {
  await pool.query('UPDATE posts SET created_at = $1 WHERE id = ANY ($2)', [
    created[4]?.created_at,
    idsOf(created.slice(4, 10)),
  ]);
  const q = '&q=%EA%B8%80';
  for (const filter of ['', '&category_id=1', `&store_id=${cafe.store.id}`, q, `${q}&category_id=3`]) {
    const all = await ids(`?limit=100${filter}`);
    const pages = await readPages((cursor) => list(`?limit=2${filter}${cursor}`));
    t.strictSame(pages.flat(), all, filter);
    t.ok(all.length >= 7, filter);
  }
});

t.test('a cursor stays right while posts are added and deleted', async (t) => {
  const first = (await list('?limit=4')).body.data;
  const expected = (await ids('?limit=100')).slice(4);
  await createPost(app, cafe.token, { title: '글 새로' });
  for (const id of [first.items[3].id, expected[0]]) {
    const isOfCafe = created.some((post) => post.id === id && post.store.id === cafe.store.id);
    const { token } = isOfCafe ? cafe : bakery;
    t.equal((await call('DELETE', `${path}${id}/`, { token })).status, 200);
  }
  t.strictSame(await ids(`?limit=100&cursor=${first.next_cursor}`), expected.slice(1));
});

t.test('a post shows the current name and categories of its store', async (t) => {
  const body = { name: '새 이름', category_ids: [11, 2] };
  const { data } = (await call('PATCH', '/api/v1/stores/me/', { token: cafe.token, body })).body;
  const { id, name, store_categories } = data;
  const [post] = (await list('?category_id=11')).body.data.items;
  t.strictSame(post.store, { id, name, store_categories });
});

t.test('a page of long posts ends before 1 MiB, and the next one continues', async (t) => {
  const { store } = await openShop(app, '긴 글 가게', { category_ids: [1] });
  const { rows } = await pool.query<{ id: number }>(
    `INSERT INTO posts (store_id, title, content, images)
     SELECT $1, repeat('😀', 100), repeat('😀', 5000), array_fill('https://a.example/' || repeat('a', 2030), ARRAY[10])
     FROM generate_series(1, 100) RETURNING id`,
    [store.id],
  );
  const first = await list(`?store_id=${store.id}`);
  t.equal(first.body.data.items.length, 20, 'the default number of the longest items');
  t.ok(Buffer.byteLength(first.text) < 1_000_000);
  const pages = await readPages(async (cursor) => {
    const response = await list(`?store_id=${store.id}&limit=100${cursor}`);
    t.ok(Buffer.byteLength(response.text) < 1024 * 1024);
    return response;
  });
  t.strictSame(pages.flat(), rows.map(({ id }) => id).reverse());
});
