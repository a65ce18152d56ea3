import t from 'tap';
import { createTestApp, createUser, type TestResponse } from '../support/app.ts';
import { invalid, rejected, tally } from '../support/assertions.ts';
import { inOrder, inParallel, lockRows } from '../support/concurrency.ts';
import { openTwoShops, sendRequest } from '../support/partner-requests.ts';
import { createPost, openShop, type Shop } from '../support/stores.ts';

const app = await createTestApp();
const { call } = app;

const tagOf = ({ headers }: TestResponse) => String(headers.etag);
const postPath = ({ id }: { id: number }) => `/api/v1/posts/${id}/`;
const storePath = '/api/v1/stores/me/';

/** The objects with a tag: where a shop finds one of its own, how it is changed, and what locks its row. */
const objects = [
  {
    title: 'a post',
    path: async (shop: Shop) => postPath(await createPost(app, shop.token)),
    change: (text: string) => ({ title: text }),
    lock: 'SELECT FROM posts p JOIN stores s ON s.id = p.store_id WHERE s.owner_id = $1 FOR UPDATE OF p',
  },
  {
    title: 'the own store',
    path: async (_shop: Shop) => storePath,
    change: (text: string) => ({ name: text, category_ids: [2] }),
    lock: 'SELECT FROM stores WHERE owner_id = $1 FOR UPDATE',
  },
];

for (const { title, path: pathOf, change, lock } of objects) {
  const open = async () => {
    const shop = await openShop(app);
    const path = await pathOf(shop);
    const read = (headers = {}) => call('GET', path, { token: shop.token, headers });
    const write = (text: string, ifMatch?: string) => {
      const headers = ifMatch === undefined ? {} : { 'if-match': ifMatch };
      return call('PATCH', path, { token: shop.token, body: change(text), headers });
    };
    return { shop, path, read, write };
  };

  t.test(`${title} has a strong tag until it changes, and a change responds with the next one`, async (t) => {
    const { read, write } = await open();
    const first = await read();
    t.match(tagOf(first), /^"[\w-]+"$/);
    t.equal(tagOf(await read()), tagOf(first));
    const same = await read({ 'if-none-match': `"other", W/${tagOf(first)}` });
    t.strictSame([same.status, same.text, tagOf(same)], [304, '', tagOf(first)]);
    t.not(tagOf(await read({ 'accept-language': 'en' })), tagOf(first), 'it depends on the language');
    const changed = await write('처음 바꾼 이름');
    t.equal(changed.status, 200);
    t.not(tagOf(changed), tagOf(first));
    const second = await read({ 'if-none-match': tagOf(first) });
    t.equal(second.status, 200);
    t.equal(tagOf(second), tagOf(changed));
    t.strictSame(second.body.data, changed.body.data);
  });

  t.test(`${title} is changed where If-Match has its tag`, async (t) => {
    const { read, write } = await open();
    const inList = await write('목록', `"other", W/"weak" ,${tagOf(await read())}`);
    t.equal(inList.status, 200);
    t.equal((await write('앞 응답의 태그', tagOf(inList))).status, 200);
    const english = await read({ 'accept-language': 'en' });
    t.equal((await write('다른 언어', tagOf(english))).status, 200);
    for (const value of ['*', ' * ']) t.equal((await write('모든 버전', value)).status, 200);
  });

  t.test(`${title} stays as it is where If-Match has another tag`, async (t) => {
    const { shop, path, read, write } = await open();
    const stale = tagOf(await read());
    await write('새 이름');
    const current = await read();
    const tag = tagOf(current);
    for (const other of [stale, `W/${tag}`, tag.slice(1, -1), `${tag.slice(0, -1)}x"`, '"*"', '', '"a,b"']) {
      const response = await write('덮어쓴 이름', other);
      rejected(t, response, 412, 'precondition_failed');
      t.equal(response.headers.etag, undefined);
    }
    t.strictSame((await read()).body.data, current.body.data);
    const empty = { token: shop.token, body: {}, headers: { 'if-match': stale } };
    invalid(t, await call('PATCH', path, empty), 'body');
  });

  t.test(`of concurrent changes of ${title} with one tag, one succeeds`, async (t) => {
    const { shop, read, write } = await open();
    const tag = tagOf(await read());
    const row = await lockRows(t, app, lock, [shop.id]);
    const writing = inParallel(4, (index) => write(`이름 ${index}`, tag));
    await row.waiters(4);
    await row.release();
    const responses = await writing;
    t.strictSame(tally(responses), { '200': 1, '412 precondition_failed': 3 });
    const winner = responses.find(({ status }) => status === 200);
    t.strictSame((await read()).body.data, winner?.body.data);
  });
}

t.test('the tag of a post changes with all that a reader sees of it', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const tagFor = async ({ token }: Shop) => tagOf(await call('GET', postPath(post), { token }));
  const [before, ownBefore] = [await tagFor(sender), await tagFor(receiver)];
  t.not(before, ownBefore, 'is_mine');
  await sendRequest(app, sender, post);
  const requested = await tagFor(sender);
  t.not(requested, before, 'my_request_status');
  t.equal(await tagFor(receiver), ownBefore);
  await call('PATCH', storePath, { token: receiver.token, body: { name: '새 이름' } });
  t.not(await tagFor(sender), requested, 'the name of its store');
});

t.test('a post is deleted where If-Match has its tag, and only then', async (t) => {
  const { token } = await openShop(app);
  const path = postPath(await createPost(app, token));
  const stale = tagOf(await call('GET', path, { token }));
  const changed = await call('PATCH', path, { token, body: { title: '새 제목' } });
  const remove = (ifMatch: string) => call('DELETE', path, { token, headers: { 'if-match': ifMatch } });
  rejected(t, await remove(stale), 412, 'precondition_failed');
  t.equal((await call('GET', path, { token })).status, 200);
  const deleted = await remove(tagOf(changed));
  t.strictSame([deleted.status, deleted.body.data], [200, {}]);
  rejected(t, await remove(tagOf(changed)), 404, 'post_not_found');
});

t.test('a post is not deleted with the tag that a concurrent change replaces', async (t) => {
  const { id, token } = await openShop(app);
  const path = postPath(await createPost(app, token));
  const headers = { 'if-match': tagOf(await call('GET', path, { token })) };
  const change = () => call('PATCH', path, { token, headers, body: { title: '새 제목' } });
  const remove = () => call('DELETE', path, { token, headers });
  const [changed, deleted] = await inOrder(t, app, [objects[0]?.lock ?? '', id], change, remove);
  t.equal(changed.status, 200);
  rejected(t, deleted, 412, 'precondition_failed');
  t.match((await call('GET', path, { token })).body.data, { title: '새 제목' });
});

t.test('what does not exist or belongs to others is rejected as such, whatever If-Match says', async (t) => {
  const owner = await openShop(app);
  const path = postPath(await createPost(app, owner.token));
  const stranger = await openShop(app, '다른 가게');
  const { token: withoutStore } = await createUser(app);
  for (const ifMatch of ['"other"', '*']) {
    const headers = { 'if-match': ifMatch };
    for (const method of ['PATCH', 'DELETE']) {
      const body = method === 'PATCH' ? { title: '남의 글' } : undefined;
      const options = { token: stranger.token, headers, body };
      rejected(t, await call(method, path, options), 403, 'forbidden');
      rejected(t, await call(method, postPath({ id: 2_147_483_647 }), options), 404, 'post_not_found');
    }
    const body = { name: '새 이름' };
    const ofNone = await call('PATCH', storePath, { token: withoutStore, headers, body });
    rejected(t, ofNone, 404, 'store_not_found');
  }
});
