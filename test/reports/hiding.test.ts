import t from 'tap';
import { closeReport, createAdmin, sendReport } from '../support/admin.ts';
import { createTestApp, createUser, deleteAccount } from '../support/app.ts';
import { rejected } from '../support/assertions.ts';
import { during, inOrder, rowOf } from '../support/concurrency.ts';
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
import { countRows } from '../support/rows.ts';
import { createAuthor, createPost, openShop, type Shop, type TestPost } from '../support/stores.ts';

const app = await createTestApp();
const { call, pool } = app;

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
  const asked = await sendRequest(app, shop, await createPost(app, reader.token));
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
  const myPage = (await read('/api/v1/stores/mypage/', shop)).body.data;
  t.match(myPage, { store: null, posts: [], sent_requests: [{ id: asked, status: '요청됨' }] });
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
  const { post, ...shop } = await createAuthor(app);
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
});

const stateOf = async (table: 'posts' | 'stores', id: number) =>
  (await pool.query(`SELECT * FROM ${table} WHERE id = $1`, [id])).rows[0];

t.test('a deletion of the account deletes hidden posts, and none brings them back', async (t) => {
  const [shop, reporter] = [await openShop(app), await createUser(app)];
  const image = await addImage(app, shop);
  const post = await createPost(app, shop.token, { images: [image.url] });
  const ofPost = await sendReport(app, reporter, 'posts', post.id);
  const ofStore = await sendReport(app, reporter, 'stores', shop.store.id);
  for (const report of [ofPost, ofStore]) await closeReport(app, admin, report, 'hide');
  t.equal((await deleteAccount(app, shop)).status, 200);
  for (const report of [ofPost, ofStore])
    for (const action of ['none', 'hide'] as const)
      t.match((await closeReport(app, admin, report, action)).body.data, { action });
  t.match(await stateOf('posts', post.id), { content: '', images: [], deleted_at: Date });
  t.match(await stateOf('stores', shop.store.id), { hidden_at: null, closed_at: Date });
  t.equal(await countRows(app, 'post_images WHERE post_id = $1', post.id), 0, 'its images are given up');
  const { rows } = await pool.query('SELECT user_id, check_after FROM images WHERE id = $1', [image.id]);
  t.match(rows, [{ user_id: null, check_after: Date }], 'and looked at by the clean-up');
});

t.test('of two decisions at once the later one sees the earlier one', async (t) => {
  const { post, ...shop } = await createAuthor(app);
  for (const [kind, id, path] of [
    ['posts', post.id, postPath(post)],
    ['stores', shop.store.id, storePath(shop)],
  ] as const) {
    const one = await sendReport(app, reader, kind, id);
    const other = await sendReport(app, await createUser(app), kind, id);
    await closeReport(app, admin, one, 'hide');
    // Both have decided and not committed yet, unless the second one waits for the first.
    const entries: [string] = ['LOCK TABLE audit_entries IN EXCLUSIVE MODE'];
    const show = () => closeReport(app, admin, one, 'none');
    const hide = () => closeReport(app, admin, other, 'hide');
    const [shown, hidden] = await inOrder(t, app, entries, show, hide);
    t.strictSame([shown.status, hidden.status], [200, 200]);
    t.equal((await read(path)).status, 404, `${kind}: the other report hides it`);
    await closeReport(app, admin, other, 'none');
    t.equal((await read(path)).status, 200);
  }
});

t.test('a suspension that waits for a store which is being shown again hides it', async (t) => {
  const shop = await openShop(app);
  const report = await sendReport(app, reader, 'stores', shop.store.id);
  await closeReport(app, admin, report, 'hide');
  const suspension = 'UPDATE users SET suspended_at = now() WHERE id = $1';
  const show = () => closeReport(app, admin, report, 'none');
  t.equal((await during(t, app, [suspension, shop.id], show)).status, 200);
  t.match(await stateOf('stores', shop.store.id), { hidden_at: null, suspended_at: Date });
});

t.test('a post that is hidden while its owner changes or deletes it ends hidden or deleted', async (t) => {
  for (const [method, body] of [
    ['PATCH', { title: '바뀐 제목' }],
    ['DELETE', undefined],
  ] as const) {
    const shop = await openShop(app);
    const { token } = shop;
    for (const isFirst of [true, false]) {
      const post = await createPost(app, token);
      const report = await sendReport(app, reader, 'posts', post.id);
      const hide = () => closeReport(app, admin, report, 'hide');
      const change = () => call(method, postPath(post), { token, body });
      const [first, second] = isFirst ? [hide, change] : [change, hide];
      const responses = await inOrder(t, app, rowOf('posts', post), first, second);
      const [hidden, changed] = isFirst ? responses : responses.toReversed();
      t.equal(hidden?.status, 200);
      t.equal(changed?.status, isFirst ? 404 : 200, `${method} ${isFirst}`);
      t.equal((await read(postPath(post))).status, 404);
      await closeReport(app, admin, report, 'none');
      const isGone = method === 'DELETE' && !isFirst;
      t.equal((await read(postPath(post))).status, isGone ? 404 : 200, 'a deleted post stays deleted');
      const { content, hidden_at } = await stateOf('posts', post.id);
      t.strictSame([content === '', hidden_at], [isGone, null]);
    }
  }
});

t.test('a post that is shown again while its account is deleted is deleted', async (t) => {
  const { post, ...shop } = await createAuthor(app);
  const report = await sendReport(app, reader, 'posts', post.id);
  await closeReport(app, admin, report, 'hide');
  const show = () => closeReport(app, admin, report, 'none');
  const [shown, deleted] = await inOrder(t, app, rowOf('posts', post), show, () => deleteAccount(app, shop));
  t.strictSame([shown.status, deleted.status], [200, 200]);
  t.match(await stateOf('posts', post.id), { content: '', hidden_at: null, deleted_at: Date });
});
