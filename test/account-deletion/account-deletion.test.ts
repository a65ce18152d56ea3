import t from 'tap';
import { createTestApp, createUser, deleteAccount, logIn, password } from '../support/app.ts';
import { refused, tokenRefused } from '../support/assertions.ts';
import {
  notificationsOf,
  notifiedOf,
  openTwoShops,
  sendRequest,
  strandedRequests,
  transition,
} from '../support/partner-requests.ts';
import { createPost, createStore, openShop, type Shop } from '../support/stores.ts';

const app = await createTestApp();
t.teardown(app.close);
const other = await createTestApp({ WORKER_ENABLED: 'false' }, { databaseUrl: app.url });
t.teardown(other.close);

const stores = '/api/v1/stores/';
const posts = '/api/v1/posts/';
const me = (token: string, at = app) => at.call('GET', '/auth/me/', { token });
const refresh = (refresh: string, at = app) => at.call('POST', '/auth/token/refresh/', { body: { refresh } });
const remove = (token: string, password: unknown) =>
  app.call('DELETE', '/auth/me/', { token, body: { password } });
const tryLogin = (username: string, password: string) =>
  app.call('POST', '/auth/login/', { body: { username, password } });

t.test('DELETE removes the account, and every instance refuses its tokens at once', async (t) => {
  const user = await createUser(app);
  const sessions = [user, await logIn(app, user), await logIn(other, user)];
  const answer = await remove(user.token, password);
  t.equal(answer.status, 200);
  t.equal(answer.body.success, true);
  t.strictSame(answer.body.data, {});
  for (const session of sessions) {
    for (const at of [app, other]) {
      tokenRefused(t, await me(session.token, at), 'revoked');
      tokenRefused(t, await refresh(session.refresh, at), 'revoked', 'refresh');
    }
    tokenRefused(t, await remove(session.token, password), 'revoked');
  }
  for (const login of [user.username, user.email]) {
    refused(t, await tryLogin(login, password), 401, 'invalid_credentials');
  }
});

t.test('username and e-mail of a deleted account can be used again', async (t) => {
  const [username, email] = ['phoenix', 'phoenix@example.com'];
  const ids = new Set<number>();
  const tokens: string[] = [];
  for (let lives = 0; lives < 3; lives++) {
    refused(t, await tryLogin(username, password), 401, 'invalid_credentials');
    const user = await createUser(app, { username, email });
    ids.add(user.id);
    for (const token of tokens) tokenRefused(t, await me(token), 'revoked');
    tokens.push(user.token);
    t.equal((await remove(user.token, password)).status, 200);
  }
  t.equal(ids.size, 3, 'an id is never given twice');
});

t.test('DELETE with a wrong password removes nothing', async (t) => {
  const { token } = await createUser(app);
  for (const wrong of ['wrong-password', `${password} `, password.toUpperCase()]) {
    refused(t, await remove(token, wrong), 401, 'invalid_credentials');
  }
  t.equal((await me(token)).status, 200);
});

t.test(
  'deleting an account withdraws its pending requests, ends its partnerships and notifies the other side',
  async (t) => {
    const { sender, receiver, post } = await openTwoShops(app);
    const third = await openShop(app, '셋째 가게');
    const own = await createPost(app, sender.token, { title: '내 글' });
    const sent = await sendRequest(app, sender, post);
    const received = await sendRequest(app, third, own);
    const settled = await sendRequest(app, receiver, own);
    await transition(app, sender, settled, 'accept');
    t.equal((await deleteAccount(app, sender)).status, 200);
    t.strictSame(await notifiedOf(app, receiver), [
      ['ended', settled, '종료됨'],
      ['withdrawn', sent, '취소됨'],
      ['accepted', settled, '종료됨'],
      ['received', sent, '취소됨'],
    ]);
    t.strictSame(await notifiedOf(app, third), [['withdrawn', received, '취소됨']]);
    const sentences = async (shop: Shop) =>
      (await notificationsOf(app, shop)).items.map(({ message }: { message: string }) => message);
    const [ended, withdrawn] = await sentences(receiver);
    t.equal(ended, '두레 베이커리에서 ‘내 글’ 글로 맺은 제휴를 종료했습니다.');
    t.equal(withdrawn, '두레 베이커리에서 ‘주말 공동 할인’ 글에 보낸 제휴 요청을 취소했습니다.');
    t.equal(
      (await sentences(third))[0],
      '두레 베이커리에서 올린 ‘내 글’ 글이 삭제되어 제휴 요청이 취소되었습니다.',
    );
    refused(t, await transition(app, receiver, sent, 'accept'), 409, 'invalid_transition');
    refused(t, await transition(app, third, received, 'withdraw'), 409, 'invalid_transition');
    refused(t, await transition(app, receiver, settled, 'end'), 409, 'invalid_transition');
    t.strictSame(await strandedRequests(app), []);
  },
);

t.test('the store of a deleted account keeps its name and loses its contact data', async (t) => {
  const shop = await openShop(app, '떠나는 가게', {
    description: '소개',
    address: '서울',
    phone_number: '02-123-4567',
    business_hours: '매일',
  });
  const post = await createPost(app, shop.token);
  t.equal((await deleteAccount(app, shop)).status, 200);
  const { rows } = await app.pool.query(
    `SELECT owner_id, name, description, address, phone_number, business_hours, closed_at IS NOT NULL AS closed
     FROM stores WHERE id = $1`,
    [shop.store.id],
  );
  const blank = { description: '', address: '', phone_number: '', business_hours: '' };
  t.strictSame(rows, [{ owner_id: null, name: '떠나는 가게', ...blank, closed: true }]);
  const posts = await app.pool.query('SELECT deleted_at FROM posts WHERE id = $1', [post.id]);
  t.ok(posts.rows[0].deleted_at);
});

t.test('the store of a deleted account is not found, and its owner can register again', async (t) => {
  const reader = await createUser(app);
  const owner = await createUser(app);
  const store = await createStore(app, owner.token);
  t.equal((await deleteAccount(app, owner)).status, 200);
  refused(t, await app.call('GET', `${stores}${store.id}/`, { token: reader.token }), 404, 'store_not_found');
  const { items } = (await app.call('GET', `${stores}?limit=100`, { token: reader.token })).body.data;
  t.notOk(items.some(({ id }: { id: number }) => id === store.id));
  const again = await createUser(app, { username: owner.username, email: owner.email });
  t.not((await createStore(app, again.token)).id, store.id);
});

t.test('the posts of a deleted account are not found', async (t) => {
  const owner = await openShop(app);
  const post = await createPost(app, owner.token, { title: '떠나는 가게의 글' });
  t.equal((await deleteAccount(app, owner)).status, 200);
  const { token } = await createUser(app);
  refused(t, await app.call('GET', `${posts}${post.id}/`, { token }), 404, 'post_not_found');
  t.strictSame(
    (await app.call('GET', `${posts}?q=${encodeURIComponent('떠나는')}`, { token })).body.data.items,
    [],
  );
});

t.test('an account without requests can be deleted', async (t) => {
  const shop = await openShop(app, '조용한 가게');
  t.equal((await deleteAccount(app, shop)).status, 200);
  const again = await openShop(app, '조용한 가게');
  t.not(again.store.id, shop.store.id);
});
