import t from 'tap';
import { closeReport, createAdmin, sendReport } from '../support/admin.ts';
import { createTestApp, createUser } from '../support/app.ts';
import { rejected } from '../support/assertions.ts';
import { addImage } from '../support/images.ts';
import {
  becomePartners,
  listPartners,
  openTwoShops,
  readRequest,
  requestPartnership,
  requestsPath,
  sendRequest,
  transition,
} from '../support/partner-requests.ts';
import { createPost, openShop, type Shop, type TestPost } from '../support/stores.ts';

const app = await createTestApp();
const { call } = app;

const admin = await createAdmin(app);
const reader = await openShop(app, '보는 가게');
const read = (path: string, { token }: { token: string } = reader) => call('GET', path, { token });
const postPath = ({ id }: TestPost) => `/api/v1/posts/${id}/`;
const storePath = ({ store }: Shop) => `/api/v1/stores/${store.id}/`;
const dataOf = async (paths: string[], who?: { token: string }) => {
  const responses = [];
  for (const path of paths) responses.push((await read(path, who)).body.data);
  return responses;
};

t.test('a hidden post is not found, not even by its owner, until the report is closed again', async (t) => {
  const shop = await openShop(app, '숨길 빵집', { category_ids: [3] });
  const image = await addImage(app, shop);
  const key = { 'idempotency-key': 'hidden' };
  const body = { title: '숨길 글', content: '숨길 내용', images: [image.url] };
  const created = await call('POST', '/api/v1/posts/', { token: shop.token, body, headers: key });
  const post: TestPost = created.body.data;
  const pending = await sendRequest(app, reader, post);
  const q = encodeURIComponent('숨길 내용');
  const filters = ['limit=100', `store_id=${shop.store.id}`, 'category_id=3', `q=${q}`];
  const lists = filters.map((filter) => `/api/v1/posts/?${filter}`);
  lists.push(`/api/v1/stores/?q=${encodeURIComponent('숨길 빵집')}`);
  const own = ['/api/v1/posts/?mine=true', '/api/v1/stores/mypage/'];
  const shown = async () => [await dataOf([...lists, postPath(post)]), await dataOf(own, shop)];
  const sent = [`${requestsPath}?box=sent`];
  const requests = async () => [await dataOf(sent), await dataOf([requestsPath], shop)];
  const before = [await shown(), await requests()];

  const report = await sendReport(app, reader, 'posts', post.id);
  t.equal((await closeReport(app, admin, report, 'hide')).status, 200);
  const ofPost = new RegExp(`숨길 글|${image.key}`);
  for (const path of lists) t.notMatch((await read(path)).text, ofPost, path);
  for (const path of own) t.notMatch((await read(path, shop)).text, ofPost, path);
  for (const { token } of [reader, shop]) {
    rejected(t, await call('GET', postPath(post), { token }), 404, 'post_not_found');
    const change = { token, body: { title: '새 제목' } };
    rejected(t, await call('PATCH', postPath(post), change), 404, 'post_not_found');
    rejected(t, await call('DELETE', postPath(post), { token }), 404, 'post_not_found');
    const spam = { token, body: { reason: 'spam' } };
    rejected(t, await call('POST', `${postPath(post)}report/`, spam), 404, 'post_not_found');
  }
  rejected(t, await requestPartnership(app, await openShop(app), post), 404, 'post_not_found');
  const deleted = await call('DELETE', `/api/v1/images/${image.id}/`, { token: shop.token });
  rejected(t, deleted, 409, 'image_in_use');
  t.strictSame(await requests(), before[1], 'requests stay');
  t.equal((await readRequest(app, reader, pending)).body.data.post, null);
  const replay = await call('POST', '/api/v1/posts/', { token: shop.token, body, headers: key });
  t.equal(replay.headers['idempotency-replayed'], 'true', 'a retry does not write it again');

  t.equal((await closeReport(app, admin, report, 'none')).status, 200);
  t.strictSame(await shown(), before[0], 'nothing is lost');
});

t.test('a hidden store and its posts are not found, until the report is closed again', async (t) => {
  const shop = await openShop(app, '숨길 카페');
  const { token } = shop;
  const post = await createPost(app, token, { title: '숨길 카페의 글' });
  const wanted = await createPost(app, reader.token);
  const search = `/api/v1/posts/?q=${encodeURIComponent('숨길 카페의')}`;
  const lists = ['/api/v1/stores/?limit=100', '/api/v1/posts/?limit=100', search];
  const paths = [...lists, storePath(shop), postPath(post)];
  const before = await dataOf(paths);
  const report = await sendReport(app, reader, 'stores', shop.store.id);
  t.equal((await closeReport(app, admin, report, 'hide')).status, 200);
  for (const path of paths) t.notMatch((await read(path)).text, '숨길 카페', path);
  for (const who of [reader, shop]) {
    rejected(t, await read(storePath(shop), who), 404, 'store_not_found');
    rejected(t, await read(postPath(post), who), 404, 'post_not_found');
  }
  rejected(t, await read('/api/v1/stores/me/', shop), 404, 'store_not_found');
  const body = { title: '새 글', content: '내용' };
  rejected(t, await call('POST', '/api/v1/posts/', { token, body }), 403, 'store_required');
  rejected(t, await requestPartnership(app, shop, wanted), 403, 'store_required');
  const again = { token, body: { name: '새 가게', category_ids: [1] } };
  rejected(t, await call('POST', '/api/v1/stores/', again), 409, 'store_exists');
  t.equal((await closeReport(app, admin, report, 'none')).status, 200);
  t.strictSame(await dataOf(paths), before);
});

t.test('the owner of a hidden store gets no contacts and accepts nothing', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const accepted = await becomePartners(app, { sender, receiver, post });
  const pending = await sendRequest(app, sender, await createPost(app, receiver.token));
  const report = await sendReport(app, reader, 'stores', receiver.store.id);
  await closeReport(app, admin, report, 'hide');
  for (const who of [sender, receiver]) {
    t.equal((await readRequest(app, who, accepted)).body.data.contact, null);
    t.strictSame((await listPartners(app, who)).body.data.items, []);
  }
  rejected(t, await transition(app, receiver, pending, 'accept'), 409, 'invalid_transition');
  t.equal((await transition(app, receiver, pending, 'decline')).status, 200);
  await closeReport(app, admin, report, 'none');
  t.match((await readRequest(app, receiver, accepted)).body.data.contact, { email: sender.email });
});

t.test('a target is hidden while at least one report about it is closed with hide', async (t) => {
  const shop = await openShop(app);
  const post = await createPost(app, shop.token);
  for (const [kind, id, path] of [
    ['posts', post.id, postPath(post)],
    ['stores', shop.store.id, storePath(shop)],
  ] as const) {
    const others = [reader, await createUser(app), await createUser(app)];
    const ids = await Promise.all(others.map((one) => sendReport(app, one, kind, id)));
    const [first = 0, second = 0, third = 0] = ids;
    const steps: [number, 'none' | 'hide', number][] = [
      [first, 'none', 200],
      [first, 'hide', 404],
      [second, 'hide', 404],
      [third, 'none', 404],
      [first, 'none', 404],
      [second, 'none', 200],
    ];
    for (const [report, action, status] of steps) {
      t.equal((await closeReport(app, admin, report, action)).status, 200);
      t.equal((await read(path)).status, status, `${kind} ${report} ${action}`);
    }
    const close = (id: number) => closeReport(app, admin, id, id === second ? 'hide' : 'none');
    const closed = await Promise.all(ids.map(close));
    for (const { status, text } of closed) t.equal(status, 200, text);
    t.equal((await read(path)).status, 404, 'one of them hides it');
    await Promise.all(ids.map((id) => closeReport(app, admin, id, 'none')));
    t.equal((await read(path)).status, 200);
  }
});

t.test('a store is hidden while its account is suspended or a report hides it, in any order', async (t) => {
  const shop = await openShop(app);
  const report = await sendReport(app, reader, 'stores', shop.store.id);
  const user = `/api/v1/admin/users/${shop.id}`;
  const actions = {
    suspend: () => call('POST', `${user}/suspend/`, { token: admin.token, body: { reason: '사기' } }),
    reactivate: () => call('POST', `${user}/reactivate/`, { token: admin.token }),
    hide: () => closeReport(app, admin, report, 'hide'),
    show: () => closeReport(app, admin, report, 'none'),
  };
  const starts = [['suspend', 'hide'] as const, ['hide', 'suspend'] as const];
  const ends = [['reactivate', 'show'] as const, ['show', 'reactivate'] as const];
  for (const order of starts.flatMap((start) => ends.map((end) => [...start, ...end]))) {
    for (const [at, name] of order.entries()) {
      t.equal((await actions[name]()).status, 200);
      t.equal((await read(storePath(shop))).status, at === 3 ? 200 : 404, `${order} ${at}`);
    }
  }
  for (const [one, other, status] of [
    ['suspend', 'hide', 404],
    ['reactivate', 'hide', 404],
    ['suspend', 'show', 404],
    ['reactivate', 'show', 200],
  ] as const) {
    const responses = await Promise.all([actions[one](), actions[other]()]);
    for (const response of responses) t.equal(response.status, 200, response.text);
    t.equal((await read(storePath(shop))).status, status, `${one} and ${other}`);
  }
});
