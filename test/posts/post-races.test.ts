import t from 'tap';
import { createTestApp, createUser } from '../support/app.ts';
import { refused } from '../support/assertions.ts';
import { inParallel } from '../support/concurrency.ts';
import { createPost, createStore } from '../support/stores.ts';

const app = await createTestApp();
t.teardown(app.close);
const { call, pool } = app;
const path = '/api/v1/posts/';
const requests = '/api/v1/notifications/partner-request/';
const body = { title: '글', content: '내용', images: ['https://cdn.example.com/1.jpg'] };

async function openShop(name = '두레 카페') {
  const user = await createUser(app);
  return { ...user, store: await createStore(app, user.token, { name }) };
}

t.test('the same Idempotency-Key writes one post', async (t) => {
  const { token, store } = await openShop();
  const headers = { 'idempotency-key': 'post-1' };
  const answers = await inParallel(8, () => call('POST', path, { token, headers, body }));
  for (const answer of answers) t.strictSame([answer.status, answer.body], [201, answers[0]?.body]);
  const again = await call('POST', path, { token, headers, body });
  t.strictSame([again.status, again.body], [201, answers[0]?.body]);
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

t.test('of parallel deletions one succeeds', async (t) => {
  const { token } = await openShop();
  const post = await createPost(app, token);
  const answers = await inParallel(6, () => call('DELETE', `${path}${post.id}/`, { token }));
  t.equal(answers.filter(({ status }) => status === 200).length, 1);
  for (const answer of answers) if (answer.status !== 200) refused(t, answer, 404, 'post_not_found');
});

t.test('parallel changes of different fields are all kept', async (t) => {
  const { token } = await openShop();
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

t.test('deleting a post withdraws what waits for an answer, and leaves what was answered', async (t) => {
  const receiver = await openShop('받는 가게');
  const post = await createPost(app, receiver.token);
  const other = await createPost(app, receiver.token);
  const senders = [await openShop('가게 1'), await openShop('가게 2')];
  const ids: number[] = [];
  for (const { token } of senders) {
    const answer = await call('POST', requests, { token, body: { post_id: post.id, message: '함께해요' } });
    ids.push(answer.body.data.id);
  }
  const elsewhere = { post_id: other.id, message: '함께해요' };
  await call('POST', requests, { token: senders[0]?.token, body: elsewhere });
  await call('POST', `${requests}${ids[0]}/accept/`, { token: receiver.token });
  t.equal((await call('DELETE', `${path}${post.id}/`, { token: receiver.token })).status, 200);
  const { rows } = await pool.query(
    'SELECT post_id, status FROM partner_requests WHERE receiver_store_id = $1 ORDER BY id',
    [receiver.store.id],
  );
  t.strictSame(rows, [
    { post_id: post.id, status: 'accepted' },
    { post_id: post.id, status: 'withdrawn' },
    { post_id: other.id, status: 'requested' },
  ]);
});

t.test(
  'requests that arrive while their post is deleted are refused or withdrawn, never left waiting',
  async (t) => {
    const receiver = await openShop('받는 가게');
    const senders = await inParallel(4, (index) => openShop(`가게 ${index}`));
    for (let round = 0; round < 5; round++) {
      const post = await createPost(app, receiver.token);
      const answers = await Promise.all([
        ...senders.map(({ token }) =>
          call('POST', requests, { token, body: { post_id: post.id, message: '함께' } }),
        ),
        call('DELETE', `${path}${post.id}/`, { token: receiver.token }),
      ]);
      for (const { status } of answers) t.ok([200, 201, 404].includes(status), `status ${status}`);
      const { rows } = await pool.query(
        `SELECT count(*)::int AS waiting FROM partner_requests WHERE post_id = $1 AND status = 'requested'`,
        [post.id],
      );
      t.equal(rows[0].waiting, 0);
    }
  },
);

t.test('a withdrawal that fails leaves the post', async (t) => {
  const receiver = await openShop('받는 가게');
  const sender = await openShop('보내는 가게');
  const post = await createPost(app, receiver.token);
  await call('POST', requests, { token: sender.token, body: { post_id: post.id, message: '함께해요' } });
  await pool.query(
    `ALTER TABLE partner_requests ADD CONSTRAINT broken CHECK (status <> 'withdrawn') NOT VALID`,
  );
  t.equal((await call('DELETE', `${path}${post.id}/`, { token: receiver.token })).status, 500);
  await pool.query('ALTER TABLE partner_requests DROP CONSTRAINT broken');
  t.equal((await call('GET', `${path}${post.id}/`, { token: receiver.token })).status, 200);
});
