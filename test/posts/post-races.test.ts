import t from 'tap';
import { createTestApp, createUser } from '../support/app.ts';
import { refused } from '../support/assertions.ts';
import { inParallel } from '../support/concurrency.ts';
import { openTwoShops, sendRequest } from '../support/partner-requests.ts';
import { createPost, createStore, openShop } from '../support/stores.ts';

const app = await createTestApp();
t.teardown(app.close);
const { call, pool } = app;
const path = '/api/v1/posts/';
const body = { title: '글', content: '내용', images: ['https://cdn.example.com/1.jpg'] };

t.test('the same Idempotency-Key writes one post', async (t) => {
  const { token, store } = await openShop(app);
  const headers = { 'idempotency-key': 'post-1' };
  const answers = await inParallel(8, () => call('POST', path, { token, headers, body }));
  for (const answer of answers) t.strictSame([answer.status, answer.body], [201, answers[0]?.body]);
  const again = await call('POST', path, { token, headers, body });
  t.strictSame([again.status, again.body], [201, answers[0]?.body]);
  const replayed = answers.filter(({ headers }) => headers['idempotency-replayed'] === 'true');
  t.equal(replayed.length, answers.length - 1, 'all but the answer of the work');
  const other = await call('POST', path, { token, headers, body: { ...body, title: '다른 글' } });
  refused(t, other, 409, 'idempotency_conflict');
  const { rows } = await pool.query('SELECT count(*)::int AS posts FROM posts WHERE store_id = $1', [
    store.id,
  ]);
  t.equal(rows[0].posts, 1);
});

t.test('after a refusal the key is free again', async (t) => {
  const { token } = await createUser(app);
  const headers = { 'idempotency-key': 'post-2' };
  refused(t, await call('POST', path, { token, headers, body }), 403, 'store_required');
  await createStore(app, token);
  t.equal((await call('POST', path, { token, headers, body })).status, 201);
});

t.test('of concurrent deletions, one succeeds', async (t) => {
  const { token } = await openShop(app);
  const post = await createPost(app, token);
  const answers = await inParallel(6, () => call('DELETE', `${path}${post.id}/`, { token }));
  t.equal(answers.filter(({ status }) => status === 200).length, 1);
  for (const answer of answers) if (answer.status !== 200) refused(t, answer, 404, 'post_not_found');
});

t.test('concurrent changes of different fields are all kept', async (t) => {
  const { token } = await openShop(app);
  const post = await createPost(app, token);
  const changes = [
    { title: '새 제목' },
    { content: '새 내용' },
    { images: ['https://cdn.example.com/new.jpg'] },
  ];
  await Promise.all(changes.map((change) => call('PATCH', `${path}${post.id}/`, { token, body: change })));
  t.match((await call('GET', `${path}${post.id}/`, { token })).body.data, {
    title: '새 제목',
    content: '새 내용',
    thumbnail: 'https://cdn.example.com/new.jpg',
  });
  for (const [word, count] of [
    ['새 제목', 1],
    ['새 내용', 1],
    [post.title, 0],
  ] as const) {
    const found = await call('GET', `${path}?mine=true&q=${encodeURIComponent(word)}`, { token });
    t.equal(found.body.data.items.length, count, word);
  }
});

t.test('a withdrawal that fails leaves the post', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  await sendRequest(app, sender, post);
  await pool.query(
    `ALTER TABLE partner_requests ADD CONSTRAINT broken CHECK (status <> 'withdrawn') NOT VALID`,
  );
  t.equal((await call('DELETE', `${path}${post.id}/`, { token: receiver.token })).status, 500);
  await pool.query('ALTER TABLE partner_requests DROP CONSTRAINT broken');
  t.equal((await call('GET', `${path}${post.id}/`, { token: receiver.token })).status, 200);
});
