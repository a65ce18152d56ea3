import t, { type Test } from 'tap';
import { createTestApp, createUser, type TestResponse } from '../support/app.ts';
import { exhausted, invalid, rejected, tally } from '../support/assertions.ts';
import { inParallel } from '../support/concurrency.ts';
import { createPost, openShop, type Shop } from '../support/stores.ts';

const app = await createTestApp();
const small = await createTestApp({ QUOTA_POSTS_PER_DAY: '2' });

const path = '/api/v1/posts/';
const day = 86_400;
const body = { title: '글', content: '내용', images: ['https://cdn.example.com/1.jpg'] };
const write = ({ token }: Pick<Shop, 'token'>, headers = {}): Promise<TestResponse> =>
  small.call('POST', path, { token, body, headers });

/** A shop that has used up its quota of two posts. */
async function openBusyShop(): Promise<Shop & { posts: number[] }> {
  const shop = await openShop(small);
  const posts = [await createPost(small, shop.token), await createPost(small, shop.token)];
  return { ...shop, posts: posts.map(({ id }) => id) };
}

/** Makes a post older. */
const age = (id: number | undefined, interval: string) =>
  small.pool.query('UPDATE posts SET created_at = created_at - $2::interval WHERE id = $1', [id, interval]);

function usedUp(t: Test, response: TestResponse, most = day): void {
  exhausted(t, response, most, most - 120);
}

t.test('of 40 concurrent posts of a store, 30 are written', async (t) => {
  const { token, store } = await openShop(app);
  const responses = await inParallel(40, () => app.call('POST', path, { token, body }));
  t.strictSame(tally(responses), { '201': 30, '429 quota_exceeded': 10 });
  for (const response of responses) if (response.status !== 201) usedUp(t, response);
  const { rows } = await app.pool.query('SELECT count(*)::int AS posts FROM posts WHERE store_id = $1', [
    store.id,
  ]);
  t.equal(rows[0].posts, 30);
});

t.test('a quota has room again 24 hours after its oldest post', async (t) => {
  const shop = await openBusyShop();
  const [oldest] = shop.posts;
  usedUp(t, await write(shop));
  await age(oldest, '23 hours');
  usedUp(t, await write(shop), 3_600);
  await age(oldest, '1 hour');
  t.equal((await write(shop)).status, 201);
  usedUp(t, await write(shop));
});

t.test('a deleted post counts like any other', async (t) => {
  const { token, posts } = await openBusyShop();
  for (const id of posts) t.equal((await small.call('DELETE', `${path}${id}/`, { token })).status, 200);
  usedUp(t, await write({ token }));
  await age(posts[1], '24 hours');
  t.equal((await write({ token })).status, 201);
});

t.test('each store has a quota of its own', async (t) => {
  usedUp(t, await write(await openBusyShop()));
  t.equal((await write(await openShop(small))).status, 201);
});

t.test('a used-up quota is the last thing that is checked', async (t) => {
  const { token } = await openBusyShop();
  invalid(t, await small.call('POST', path, { token, body: { ...body, title: '' } }), 'title');
  rejected(t, await write(await createUser(small)), 403, 'store_required');
});

t.test('a first response is given again, whatever the quota', async (t) => {
  const shop = await openShop(small);
  const headers = { 'idempotency-key': 'post-quota' };
  const first = await write(shop, headers);
  const { id } = await createPost(small, shop.token);
  const rejectedKey = { 'idempotency-key': 'post-quota-refused' };
  usedUp(t, await write(shop, rejectedKey));
  const again = await write(shop, headers);
  t.strictSame([again.status, again.body], [201, first.body]);
  t.equal(again.headers['idempotency-replayed'], 'true');
  await age(id, '24 hours');
  t.equal((await write(shop, rejectedKey)).status, 201, 'the key of a rejected post is free');
});

t.test('without a quota a store writes as much as it likes', async (t) => {
  const free = await createTestApp({ QUOTA_POSTS_PER_DAY: '0' });
  t.teardown(free.close);
  const { token } = await openShop(free);
  t.strictSame(tally(await inParallel(31, () => free.call('POST', path, { token, body }))), { 201: 31 });
});
