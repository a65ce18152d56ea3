import t from 'tap';
import { createTestApp, logIn } from '../support/app.ts';
import { refused, tokenRefused } from '../support/assertions.ts';
import {
  notifiedOf,
  openTwoShops,
  requestPartnership,
  requestsPath,
  sendRequest,
  transition,
} from '../support/partner-requests.ts';
import { createPost, openShop, type Shop, type TestPost } from '../support/stores.ts';

const app = await createTestApp();
t.teardown(app.close);

const stores = '/api/v1/stores/';
const posts = '/api/v1/posts/';
const notifications = '/api/v1/notifications/';

const suspend = ({ id }: Shop) => app.pool.query('UPDATE users SET suspended_at = now() WHERE id = $1', [id]);
const lift = ({ id }: Shop) => app.pool.query('UPDATE users SET suspended_at = NULL WHERE id = $1', [id]);

/** What a shop reads at some paths: status and data of each. */
async function readAll({ token }: Pick<Shop, 'token'>, paths: string[]): Promise<Record<string, unknown>> {
  const answers: Record<string, unknown> = {};
  for (const path of paths) {
    const { status, body } = await app.call('GET', path, { token });
    answers[path] = { status, data: body.data };
  }
  return answers;
}

/** The lists in which a store and its post are, with every kind of filter. */
const publicLists = ({ store }: Shop, post: TestPost) => [
  `${stores}?limit=100`,
  `${stores}?category_id=3`,
  `${stores}?q=${encodeURIComponent(store.name)}`,
  `${stores}?category_id=3&q=${encodeURIComponent(store.name)}`,
  `${posts}?limit=100`,
  `${posts}?category_id=3`,
  `${posts}?store_id=${store.id}`,
  `${posts}?q=${encodeURIComponent(post.title)}`,
  `${posts}?category_id=3&q=${encodeURIComponent(post.title)}`,
];

/** What a shop has of its own. */
const ownPaths = [
  `${stores}me/`,
  `${stores}mypage/`,
  `${posts}?mine=true`,
  `${requestsPath}?box=sent`,
  `${requestsPath}?box=received`,
  `${notifications}mypage/`,
];

t.test(
  'the store and posts of a suspended account are not found, until the suspension is lifted',
  async (t) => {
    const reader = await openShop(app, '보는 가게');
    const shop = await openShop(app, '멈춘 빵집', { category_ids: [3] });
    const post = await createPost(app, shop.token, { title: '멈춘 빵집의 글' });
    const lists = publicLists(shop, post);
    const single = [`${stores}${shop.store.id}/`, `${posts}${post.id}/`];
    const before = await readAll(reader, [...lists, ...single]);

    await suspend(shop);
    for (const path of lists) {
      t.match(before[path], { status: 200 });
      t.match(JSON.stringify(before[path]), '멈춘 빵집', path);
      const { status, text } = await app.call('GET', path, { token: reader.token });
      t.equal(status, 200);
      t.notMatch(text, '멈춘 빵집', path);
    }
    const { token } = reader;
    refused(t, await app.call('GET', `${stores}${shop.store.id}/`, { token }), 404, 'store_not_found');
    const path = `${posts}${post.id}/`;
    refused(t, await app.call('GET', path, { token }), 404, 'post_not_found');
    refused(t, await app.call('PATCH', path, { token, body: { title: '새' } }), 404, 'post_not_found');
    refused(t, await app.call('DELETE', path, { token }), 404, 'post_not_found');

    await lift(shop);
    t.strictSame(await readAll(reader, [...lists, ...single]), before, 'nothing is lost');
  },
);

t.test('a suspended account takes no requests, until the suspension is lifted', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  await suspend(receiver);
  refused(t, await requestPartnership(app, sender, post), 404, 'post_not_found');
  await lift(receiver);
  t.equal((await requestPartnership(app, sender, post)).status, 201);
});

t.test('requests from before a suspension stay with the other side', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  await sendRequest(app, sender, post);
  await sendRequest(app, receiver, await createPost(app, sender.token));
  for (const [active, suspended] of [
    [sender, receiver],
    [receiver, sender],
  ] as const) {
    const before = await readAll(active, ownPaths);
    await suspend(suspended);
    t.strictSame(await readAll(active, ownPaths), before);
    await lift(suspended);
    Object.assign(suspended, await logIn(app, suspended));
  }
});

t.test('requests from before a suspension can be answered and withdrawn by the other side', async (t) => {
  const { sender: active, receiver: suspended, post } = await openTwoShops(app);
  const sent = await sendRequest(app, active, post);
  const accepted = await sendRequest(app, suspended, await createPost(app, active.token));
  const declined = await sendRequest(app, suspended, await createPost(app, active.token));
  await suspend(suspended);
  t.equal((await transition(app, active, sent, 'withdraw')).status, 200);
  t.equal((await transition(app, active, accepted, 'accept')).status, 200);
  t.equal((await transition(app, active, declined, 'decline')).status, 200);
  await lift(suspended);
  t.strictSame(await notifiedOf(app, { ...suspended, ...(await logIn(app, suspended)) }), [
    ['declined', declined, '거절됨'],
    ['accepted', accepted, '수락됨'],
    ['withdrawn', sent, '취소됨'],
    ['received', sent, '취소됨'],
  ]);
});

t.test('a lifted suspension gives everything back but the sessions', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  await sendRequest(app, sender, post);
  await sendRequest(app, receiver, await createPost(app, sender.token));
  const before = await readAll(receiver, ownPaths);
  await suspend(receiver);
  tokenRefused(t, await app.call('GET', `${stores}me/`, { token: receiver.token }), 'revoked');
  await lift(receiver);
  tokenRefused(t, await app.call('GET', `${stores}me/`, { token: receiver.token }), 'revoked');
  t.strictSame(await readAll(await logIn(app, receiver), ownPaths), before);
});
