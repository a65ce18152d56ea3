import t from 'tap';
import { createTestApp } from '../support/app.ts';
import { rejected, tally } from '../support/assertions.ts';
import { inParallel } from '../support/concurrency.ts';
import { openTwoShops, sendRequest } from '../support/partner-requests.ts';
import { createPost, idsIn, openShop } from '../support/stores.ts';

const app = await createTestApp();
const { call, pool } = app;
const path = '/api/v1/posts/';

t.test('deleting a post erases its content from stored responses, and changes no others', async (t) => {
  const { token } = await openShop(app);
  const other = await openShop(app);
  const write = (key: string, as = token) =>
    call('POST', path, {
      token: as,
      body: { title: '공동 할인', content: '지울 내용' },
      headers: { 'idempotency-key': key },
    });
  const { id } = (await write('deleted')).body.data;
  const kept = await write('kept');
  const theirs = await write('deleted', other.token);
  t.equal((await call('DELETE', `${path}${id}/`, { token })).status, 200);
  const { rows } = await pool.query(`SELECT body FROM idempotency_keys WHERE body::text LIKE '%지울 내용%'`);
  t.strictSame(rows.map(({ body }) => body.data.id).sort(), [kept.body.data.id, theirs.body.data.id].sort());
  t.equal((await write('kept')).body.data.id, kept.body.data.id);
  const again = await write('deleted');
  t.match(again, { status: 201, headers: { 'idempotency-replayed': 'true' } });
  t.match(again.body.data, { id, content: '', images: [], thumbnail: 'about:blank' });
  t.equal((await call('GET', `${path}${id}/`, { token })).status, 404, 'a retry brings no post back');
});

t.test('a deleted post is not found, and its content is erased', async (t) => {
  const { token, store } = await openShop(app);
  const kept = await createPost(app, token, { title: '남은 글' });
  const post = await createPost(app, token, { title: '지운 글' });
  const deleted = await call('DELETE', `${path}${post.id}/`, { token });
  t.strictSame(deleted.body, { success: true, message: '글을 삭제했습니다.', data: {} });
  for (const [method, body] of [['GET'], ['PATCH', { title: '글' }], ['DELETE']] as const) {
    rejected(t, await call(method, `${path}${post.id}/`, { token, body }), 404, 'post_not_found');
  }
  const { rows } = await pool.query('SELECT content, images FROM posts WHERE id = $1', [post.id]);
  t.strictSame(rows, [{ content: '', images: [] }], 'nor at rest');
  for (const query of ['', '?mine=true', `?store_id=${store.id}`, '?category_id=1', '?q=%EA%B8%80']) {
    const ids = idsIn(await call('GET', `${path}${query}`, { token }));
    t.strictSame([ids.includes(kept.id), ids.includes(post.id)], [true, false], query);
  }
});

t.test('of concurrent deletions, one succeeds', async (t) => {
  const { token } = await openShop(app);
  const post = await createPost(app, token);
  const responses = await inParallel(6, () => call('DELETE', `${path}${post.id}/`, { token }));
  t.strictSame(tally(responses), { '200': 1, '404 post_not_found': 5 });
});

t.test('a withdrawal that fails leaves the post', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  await sendRequest(app, sender, post);
  await pool.query(
    `ALTER TABLE partner_requests ADD CONSTRAINT broken CHECK (status <> 'withdrawn') NOT VALID`,
  );
  t.teardown(() => pool.query('ALTER TABLE partner_requests DROP CONSTRAINT broken'));
  await t.rejects(call('DELETE', `${path}${post.id}/`, { token: receiver.token }), /internal_error/);
  t.equal((await call('GET', `${path}${post.id}/`, { token: receiver.token })).status, 200);
});
