import t from 'tap';
import { createTestApp, createUser } from '../support/app.ts';
import { refused } from '../support/assertions.ts';
import { createPost, createStore } from '../support/stores.ts';

const app = await createTestApp();
t.teardown(app.close);
const { call } = app;
const path = '/api/v1/posts/';
const images = ['https://cdn.example.com/1.jpg', 'https://cdn.example.com/2.jpg'];

async function openShop(name = '두레 카페') {
  const user = await createUser(app);
  return { ...user, store: await createStore(app, user.token, { name, category_ids: [3, 1] }) };
}

t.test('writing a post answers 201 with exactly the fields of a Post', async (t) => {
  const { token, store } = await openShop();
  const body = { title: ' 공동 할인 ', content: '첫 줄\r\n둘째 줄', images };
  const answer = await call('POST', path, { token, body });
  t.equal(answer.status, 201);
  t.equal(answer.body.message, '글을 등록했습니다.');
  const { id, created_at, updated_at, ...data } = answer.body.data;
  t.strictSame(data, {
    title: '공동 할인',
    thumbnail: images[0],
    content: '첫 줄\n둘째 줄',
    images,
    store: { id: store.id, name: store.name, store_categories: store.store_categories },
  });
  t.type(id, 'number');
  for (const time of [created_at, updated_at]) t.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  const reader = await createUser(app);
  t.strictSame((await call('GET', `${path}${id}/`, { token: reader.token })).body.data, answer.body.data);
});

t.test('who has no store cannot write', async (t) => {
  const { token } = await createUser(app);
  const body = { title: '글', content: '내용', images };
  refused(t, await call('POST', path, { token, body }), 403, 'store_required');
  const wrong = await call('POST', path, { token, body: { ...body, images: ['x'] } });
  t.equal(wrong.body.data.code, 'validation_error', 'validation comes first');
});

t.test('PATCH changes what is given and nothing else', async (t) => {
  const { token } = await openShop();
  const post = await createPost(app, token, { images });
  const patch = (body: unknown) => call('PATCH', `${path}${post.id}/`, { token, body });
  const retitled = await patch({ title: '새 제목' });
  t.equal(retitled.status, 200);
  t.match(retitled.body.data, { ...post, title: '새 제목', updated_at: /Z$/ });
  t.ok(retitled.body.data.updated_at >= post.updated_at);
  t.equal(retitled.body.data.created_at, post.created_at);

  const pictured = await patch({ images: [images[1]] });
  t.match(pictured.body.data, { title: '새 제목', content: post.content, thumbnail: images[1] });
  t.strictSame(pictured.body.data.images, [images[1]]);

  const all = await patch({ title: '다', content: '다른 내용', images });
  t.match(all.body.data, { title: '다', content: '다른 내용', thumbnail: images[0], images });
  t.strictSame((await call('GET', `${path}${post.id}/`, { token })).body.data, all.body.data);
});

t.test('a deleted post is nowhere', async (t) => {
  const { token, store } = await openShop();
  const kept = await createPost(app, token, { title: '남은 글' });
  const post = await createPost(app, token, { title: '지운 글' });
  const deleted = await call('DELETE', `${path}${post.id}/`, { token });
  t.equal(deleted.status, 200);
  t.strictSame(deleted.body, { success: true, message: '글을 삭제했습니다.', data: {} });
  for (const [method, body] of [['GET'], ['PATCH', { title: '글' }], ['DELETE']] as const) {
    refused(t, await call(method, `${path}${post.id}/`, { token, body }), 404, 'post_not_found');
  }
  const { rows } = await app.pool.query('SELECT content, images FROM posts WHERE id = $1', [post.id]);
  t.strictSame(rows, [{ content: '', images: [] }], 'nor at rest');
  for (const query of ['', '?mine=true', `?store_id=${store.id}`, '?category_id=1', '?q=%EA%B8%80']) {
    const { items } = (await call('GET', `${path}${query}`, { token })).body.data;
    t.ok(
      items.some(({ id }: { id: number }) => id === kept.id),
      query,
    );
    t.notOk(
      items.some(({ id }: { id: number }) => id === post.id),
      query,
    );
  }
});

t.test("somebody else's post is forbidden to change and to delete", async (t) => {
  const owner = await openShop();
  const post = await createPost(app, owner.token);
  const stranger = await openShop('다른 가게');
  const { token: withoutStore } = await createUser(app);
  for (const token of [stranger.token, withoutStore]) {
    const body = { title: '남의 글' };
    refused(t, await call('PATCH', `${path}${post.id}/`, { token, body }), 403, 'forbidden');
    refused(t, await call('DELETE', `${path}${post.id}/`, { token }), 403, 'forbidden');
  }
  t.strictSame((await call('GET', `${path}${post.id}/`, { token: stranger.token })).body.data, post);
  await call('DELETE', `${path}${post.id}/`, { token: owner.token });
  refused(t, await call('DELETE', `${path}${post.id}/`, { token: stranger.token }), 404, 'post_not_found');
});

t.test('a path id that no post has, or no post can have, is post_not_found', async (t) => {
  const { token } = await openShop();
  for (const id of ['999999', '0', '-1', '1.5', 'abc', '01', '2147483648', '9'.repeat(40), '%00', 'me']) {
    const url = `${path}${id}/`;
    refused(t, await call('GET', url, { token }), 404, 'post_not_found');
    refused(t, await call('PATCH', url, { token, body: { title: '글' } }), 404, 'post_not_found');
    refused(t, await call('DELETE', url, { token }), 404, 'post_not_found');
    const wrong = await call('PATCH', url, { token, body: {} });
    t.equal(wrong.body.data.code, 'validation_error', 'validation comes first');
  }
});

t.test('every operation needs a login', async (t) => {
  const operations = ['POST /', 'GET /', 'GET /1/', 'PATCH /1/', 'DELETE /1/'];
  for (const operation of operations) {
    const [method = '', url = ''] = operation.split(' /');
    const body = ['POST', 'PATCH'].includes(method) ? { body: {} } : {};
    refused(t, await call(method, `${path}${url}`, body), 401, 'not_authenticated');
  }
});

t.test('the posts of a store that an operator closes are nowhere', async (t) => {
  const owner = await openShop();
  const post = await createPost(app, owner.token, { title: '닫힌 가게의 글' });
  await app.pool.query('UPDATE stores SET closed_at = now() WHERE id = $1', [owner.store.id]);
  const { token } = await createUser(app);
  const closed = `?store_id=${owner.store.id}`;
  for (const query of [closed, `?q=${encodeURIComponent('닫힌')}`, `${closed}&category_id=3`]) {
    t.strictSame((await call('GET', `${path}${query}`, { token })).body.data.items, [], query);
  }
  t.notOk((await call('GET', `${path}?limit=100`, { token })).text.includes('닫힌 가게의 글'));
  for (const method of ['GET', 'DELETE']) {
    refused(t, await call(method, `${path}${post.id}/`, { token: owner.token }), 404, 'post_not_found');
  }
  const another = { title: '글', content: '내용', images };
  refused(t, await call('POST', path, { token: owner.token, body: another }), 403, 'store_required');
});
