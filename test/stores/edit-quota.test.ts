import t, { type Test } from 'tap';
import { createTestApp, createUser, type TestResponse } from '../support/app.ts';
import { exhausted, invalid, rejected, tally } from '../support/assertions.ts';
import { inParallel } from '../support/concurrency.ts';
import { createPost, openShop, type Shop } from '../support/stores.ts';

const app = await createTestApp();
const small = await createTestApp({ QUOTA_EDITS_PER_DAY: '2' });

const ownStore = '/api/v1/stores/me/';
const notUploaded = `https://api.example.com/media/aa/${'0'.repeat(30)}.webp`;
const pathOf = (post: { id: number }) => `/api/v1/posts/${post.id}/`;
const edit = ({ token }: Pick<Shop, 'token'>, path: string, body: object = { title: '바뀐 글' }) =>
  small.call('PATCH', path, { token, body });
const editStore = (shop: Pick<Shop, 'token'>) => edit(shop, ownStore, { description: '바뀐 소개' });
const usedUp = (t: Test, response: TestResponse) => exhausted(t, response, 86_400, 86_280);

t.test('of 70 concurrent edits of a store and of its posts, 60 are made', async (t) => {
  const { token } = await openShop(app);
  const posts = [await createPost(app, token), await createPost(app, token)];
  const responses = await inParallel(70, (n) => {
    const post = posts[n % 3];
    return app.call('PATCH', post ? pathOf(post) : ownStore, {
      token,
      body: post ? { title: `글 ${n}`, ...(n % 2 === 0 && { images: [] }) } : { name: `가게 ${n}` },
    });
  });
  t.strictSame(tally(responses), { '200': 60, '429 quota_exceeded': 10 });
  for (const response of responses) if (response.status !== 200) usedUp(t, response);
});

t.test('a text with an image that is not an own one is not written, not even for a moment', async (t) => {
  const shop = await openShop(small);
  const { id } = await createPost(small, shop.token);
  const state = async () => {
    const { rows } = await small.pool.query(
      `SELECT xmax, pg_sequence_last_value('posts_id_seq') AS last FROM posts WHERE id = $1`,
      [id],
    );
    return rows[0];
  };
  const before = await state();
  const body = { title: '글', content: '긴 글', images: [notUploaded] };
  invalid(t, await edit(shop, pathOf({ id }), body), '/images/0');
  invalid(t, await small.call('POST', '/api/v1/posts/', { token: shop.token, body }), '/images/0');
  t.strictSame(await state(), before, 'what is rolled back stays in the indexes until VACUUM');
});

t.test('a rejected edit does not count, and a used-up quota is the last thing that is checked', async (t) => {
  const shop = await openShop(small);
  const own = await createPost(small, shop.token);
  const foreign = await createPost(small, (await openShop(small)).token);
  const rejectAll = async () => {
    rejected(t, await edit(shop, pathOf(foreign)), 403, 'forbidden');
    rejected(t, await edit(shop, pathOf({ id: 2_147_483_647 })), 404, 'post_not_found');
    invalid(t, await edit(shop, pathOf(own), { title: '' }), 'title');
    invalid(t, await edit(shop, pathOf(own), { images: [notUploaded] }), '/images/0');
    t.equal((await edit(shop, ownStore, { category_ids: [9_999] })).status, 400);
    rejected(t, await editStore(await createUser(small)), 404, 'store_not_found');
  };
  await rejectAll();
  t.equal((await edit(shop, pathOf(own))).status, 200);
  await rejectAll();
  t.equal((await editStore(shop)).status, 200);
  usedUp(t, await edit(shop, pathOf(own), { content: '다른 내용' }));
  usedUp(t, await editStore(shop));
  await rejectAll();
  const { body } = await small.call('GET', pathOf(own), shop);
  t.match(body.data, { title: '바뀐 글', content: own.content });
  t.equal((await small.call('DELETE', pathOf(own), shop)).status, 200, 'deleting is no edit');
});

t.test('24 hours after the first edit a store has its whole quota again', async (t) => {
  const shop = await openShop(small);
  const age = (interval: string) =>
    small.pool.query('UPDATE store_edits SET since = since - $2::interval WHERE store_id = $1', [
      shop.store.id,
      interval,
    ]);
  const outcomes = async () => tally([await editStore(shop), await editStore(shop), await editStore(shop)]);
  t.strictSame(await outcomes(), { '200': 2, '429 quota_exceeded': 1 });
  await age('23 hours');
  exhausted(t, await editStore(shop), 3_600, 3_480);
  await age('1 hour');
  t.strictSame(await outcomes(), { '200': 2, '429 quota_exceeded': 1 });
});

t.test('without a quota a store edits as often as it likes', async (t) => {
  const free = await createTestApp({ QUOTA_EDITS_PER_DAY: '0' });
  t.teardown(free.close);
  const { token } = await openShop(free);
  const post = await createPost(free, token);
  const edits = await inParallel(62, (n) =>
    free.call('PATCH', n % 2 ? ownStore : pathOf(post), {
      token,
      body: n % 2 ? { name: '가' } : { title: '가' },
    }),
  );
  t.strictSame(tally(edits), { '200': 62 });
});
