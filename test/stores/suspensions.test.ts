import t from 'tap';
import { createTestApp, createUser, logIn } from '../support/app.ts';
import { rejected, tokenRejected } from '../support/assertions.ts';
import { during, inOrder, rowOf } from '../support/concurrency.ts';
import {
  notifiedOf,
  openTwoShops,
  requestPartnership,
  requestsPath,
  sendRequest,
  transition,
} from '../support/partner-requests.ts';
import { countRows } from '../support/rows.ts';
import { createPost, openShop, type Shop, type TestPost } from '../support/stores.ts';

const app = await createTestApp();

const stores = '/api/v1/stores/';
const posts = '/api/v1/posts/';
const notifications = '/api/v1/notifications/';

const suspension = 'UPDATE users SET suspended_at = now() WHERE id = $1';
const suspend = ({ id }: { id: number }) => app.pool.query(suspension, [id]);
const lift = ({ id }: { id: number }) =>
  app.pool.query('UPDATE users SET suspended_at = NULL WHERE id = $1', [id]);

/** What a shop reads at some paths: status and data of each. */
async function readAll({ token }: Pick<Shop, 'token'>, paths: string[]): Promise<Record<string, unknown>> {
  const responses: Record<string, unknown> = {};
  for (const path of paths) {
    const { status, body } = await app.call('GET', path, { token });
    responses[path] = { status, data: body.data };
  }
  return responses;
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

t.test('the store and posts of a suspended account are not found, until that is lifted', async (t) => {
  const reader = await openShop(app, '보는 가게');
  const shop = await openShop(app, '멈춘 빵집', { category_ids: [3] });
  const post = await createPost(app, shop.token, { title: '멈춘 빵집의 글' });
  const lists = publicLists(shop, post);
  const single = [`${stores}${shop.store.id}/`, `${posts}${post.id}/`];
  const before = await readAll(reader, [...lists, ...single]);

  await suspend(shop);
  const { token } = reader;
  for (const path of lists) {
    t.match(JSON.stringify(before[path]), '멈춘 빵집', path);
    const { status, text } = await app.call('GET', path, { token });
    t.equal(status, 200);
    t.notMatch(text, '멈춘 빵집', path);
  }
  rejected(t, await app.call('GET', `${stores}${shop.store.id}/`, { token }), 404, 'store_not_found');
  const path = `${posts}${post.id}/`;
  rejected(t, await app.call('GET', path, { token }), 404, 'post_not_found');
  rejected(t, await app.call('PATCH', path, { token, body: { title: '새' } }), 404, 'post_not_found');
  rejected(t, await app.call('DELETE', path, { token }), 404, 'post_not_found');
  rejected(t, await requestPartnership(app, reader, post), 404, 'post_not_found');

  await lift(shop);
  t.strictSame(await readAll(reader, [...lists, ...single]), before, 'nothing is lost');
  t.equal((await requestPartnership(app, reader, post)).status, 201);
});

t.test('what both sides have stays while one is suspended, who gets all back but the sessions', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  await sendRequest(app, sender, post);
  await sendRequest(app, receiver, await createPost(app, sender.token));
  for (const [active, suspended] of [
    [sender, receiver],
    [receiver, sender],
  ] as const) {
    const before = [await readAll(active, ownPaths), await readAll(suspended, ownPaths)];
    const me = () => app.call('GET', `${stores}me/`, { token: suspended.token });
    await suspend(suspended);
    t.strictSame(await readAll(active, ownPaths), before[0]);
    tokenRejected(t, await me(), 'revoked');
    await lift(suspended);
    tokenRejected(t, await me(), 'revoked');
    Object.assign(suspended, await logIn(app, suspended));
    t.strictSame(await readAll(suspended, ownPaths), before[1]);
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

t.test('a request to an account that is being suspended waits, and is rejected', async (t) => {
  for (const [end, status] of [
    ['COMMIT', 404],
    ['ROLLBACK', 201],
  ] as const) {
    const { sender, receiver, post } = await openTwoShops(app);
    const ask = () => requestPartnership(app, sender, post);
    const asked = await during(t, app, [suspension, receiver.id], ask, end);
    t.equal(asked.status, status, end);
    if (status === 404) rejected(t, asked, 404, 'post_not_found');
  }
});

t.test('a request and a post of an account that is being suspended are rejected', async (t) => {
  const { sender, post } = await openTwoShops(app);
  const body = { title: '글', content: '내용', images: ['https://cdn.example.com/1.jpg'] };
  const ask = () => requestPartnership(app, sender, post);
  const write = () => app.call('POST', posts, { token: sender.token, body });
  const responses = await inOrder(t, app, [suspension, sender.id], ask, write, 'COMMIT');
  for (const response of responses) rejected(t, response, 403, 'store_required');
});

t.test('a suspension waits for a request that is being sent', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const ask = () => requestPartnership(app, sender, post);
  const [asked] = await inOrder(t, app, rowOf('posts', post), ask, () => suspend(receiver));
  t.equal(asked.status, 201);
  const { body } = await app.call('GET', `${requestsPath}?box=sent`, { token: sender.token });
  t.strictSame(body.data.items, [asked.body.data], 'it is from before the suspension');
  const third = await openShop(app, '셋째 가게');
  rejected(t, await requestPartnership(app, third, post), 404, 'post_not_found');
});

t.test('a store that is registered during the suspension of its account is rejected or hidden', async (t) => {
  const headers = { 'idempotency-key': 'registered' };
  const register = ({ token }: { token: string }) =>
    app.call('POST', '/api/v1/stores/', { token, headers, body: { name: '새 가게', category_ids: [1] } });
  const first = await createUser(app);
  tokenRejected(t, await during(t, app, [suspension, first.id], () => register(first)), 'revoked');
  t.equal(await countRows(app, 'stores WHERE owner_id = $1', first.id), 0);
  await lift(first);
  const { token } = await logIn(app, first);
  t.equal((await register({ token })).status, 201, 'the key is free after the suspension');

  const second = await createUser(app);
  const links: [string] = ['LOCK TABLE store_category_links IN EXCLUSIVE MODE'];
  const [early] = await inOrder(
    t,
    app,
    links,
    () => register(second),
    () => suspend(second),
  );
  t.equal(early.status, 201);
  const { rows } = await app.pool.query('SELECT suspended_at FROM stores WHERE owner_id = $1', [second.id]);
  t.type(rows[0].suspended_at, Date);
});
