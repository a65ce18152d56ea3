import t from 'tap';
import { createTestApp, createUser } from '../support/app.ts';
import { invalid, rejected } from '../support/assertions.ts';
import { inParallel } from '../support/concurrency.ts';
import { openTwoShops, sendRequest, transition } from '../support/partner-requests.ts';
import { createPost, openShop } from '../support/stores.ts';

const app = await createTestApp({}, { serverErrors: true });
t.teardown(app.close);
const { call, pool } = app;
const path = '/api/v1/posts/';
const image = 'https://cdn.example.com/1.jpg';
const images = [image, 'https://cdn.example.com/2.jpg'];
const valid = { title: '글', content: '내용', images };

t.test('writing a post answers 201 with exactly the fields of a Post', async (t) => {
  const { token, store } = await openShop(app, '두레 카페', { category_ids: [3, 1] });
  const body = { title: ' 공동 할인 ', content: '첫 줄\r\n둘째 줄', images };
  const response = await call('POST', path, { token, body });
  t.equal(response.status, 201);
  t.equal(response.body.message, '글을 등록했습니다.');
  const { id, created_at, updated_at, ...data } = response.body.data;
  t.strictSame(data, {
    title: '공동 할인',
    thumbnail: images[0],
    content: '첫 줄\n둘째 줄',
    images,
    store: { id: store.id, name: store.name, store_categories: store.store_categories },
    is_mine: true,
    my_request_status: null,
  });
  t.type(id, 'number');
  for (const time of [created_at, updated_at]) t.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  const reader = await createUser(app);
  const read = (await call('GET', `${path}${id}/`, { token: reader.token })).body.data;
  t.strictSame(read, { ...response.body.data, is_mine: false });
});

t.test('a post shows whether it is mine, and the status of my newest request for it', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const other = await openShop(app, '다른 가게');
  const visitor = await createUser(app);
  await sendRequest(app, other, post);
  /** What a user sees of the post, read and listed. */
  const seenBy = async ({ token }: { token: string }) => {
    const { is_mine, my_request_status } = (await call('GET', `${path}${post.id}/`, { token })).body.data;
    const [listed] = (await call('GET', `${path}?store_id=${receiver.store.id}`, { token })).body.data.items;
    t.strictSame([listed.is_mine, listed.my_request_status], [is_mine, my_request_status]);
    return [is_mine, my_request_status];
  };
  t.strictSame(await seenBy(sender), [false, null]);
  const first = await sendRequest(app, sender, post);
  t.strictSame(await seenBy(sender), [false, '요청됨']);
  await transition(app, receiver, first, 'decline');
  t.strictSame(await seenBy(sender), [false, '거절됨']);
  const second = await sendRequest(app, sender, post);
  t.strictSame(await seenBy(sender), [false, '요청됨'], 'the newest of them');
  await transition(app, receiver, second, 'accept');
  t.strictSame(await seenBy(sender), [false, '수락됨']);
  await transition(app, receiver, second, 'end');
  t.strictSame(await seenBy(sender), [false, '종료됨']);
  t.strictSame(await seenBy(other), [false, '요청됨'], 'only the own requests count');
  t.strictSame(await seenBy(visitor), [false, null]);
  t.strictSame(await seenBy(receiver), [true, null]);
  const changed = await call('PATCH', `${path}${post.id}/`, {
    token: receiver.token,
    body: { title: '새 제목' },
  });
  t.match(changed.body.data, { is_mine: true, my_request_status: null });
});

t.test(
  'deleting a post erases its content from stored responses, and no other response changes',
  async (t) => {
    const { token } = await openShop(app);
    const other = await openShop(app);
    const write = (key: string, as = token) =>
      call('POST', path, {
        token: as,
        body: { title: '공동 할인', content: '지울 내용', images },
        headers: { 'idempotency-key': key },
      });
    const { id } = (await write('deleted')).body.data;
    const kept = await write('kept');
    const theirs = await write('deleted', other.token);
    t.equal((await call('DELETE', `${path}${id}/`, { token })).status, 200);
    const { rows } = await pool.query(
      `SELECT body FROM idempotency_keys WHERE body::text LIKE '%지울 내용%'`,
    );
    t.strictSame(
      rows.map(({ body }) => body.data.id).sort(),
      [kept.body.data.id, theirs.body.data.id].sort(),
    );
    t.equal((await write('kept')).body.data.id, kept.body.data.id);
    const again = await write('deleted');
    t.equal(again.status, 201);
    t.equal(again.headers['idempotency-replayed'], 'true');
    t.match(again.body.data, { id, content: '', images: [], thumbnail: 'about:blank' });
    t.equal(
      (await call('GET', `${path}${id}/`, { token })).status,
      404,
      'a retry does not bring the post back',
    );
  },
);

t.test('PATCH changes the given fields only', async (t) => {
  const { token } = await openShop(app);
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

t.test('a deleted post is not found, and its content is erased', async (t) => {
  const { token, store } = await openShop(app);
  const kept = await createPost(app, token, { title: '남은 글' });
  const post = await createPost(app, token, { title: '지운 글' });
  const deleted = await call('DELETE', `${path}${post.id}/`, { token });
  t.equal(deleted.status, 200);
  t.strictSame(deleted.body, { success: true, message: '글을 삭제했습니다.', data: {} });
  for (const [method, body] of [['GET'], ['PATCH', { title: '글' }], ['DELETE']] as const) {
    rejected(t, await call(method, `${path}${post.id}/`, { token, body }), 404, 'post_not_found');
  }
  const { rows } = await pool.query('SELECT content, images FROM posts WHERE id = $1', [post.id]);
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

t.test('the posts of a closed store are not found', async (t) => {
  const owner = await openShop(app, '닫힌 가게', { category_ids: [3] });
  const post = await createPost(app, owner.token, { title: '닫힌 가게의 글' });
  await pool.query('UPDATE stores SET closed_at = now() WHERE id = $1', [owner.store.id]);
  const { token } = await createUser(app);
  const closed = `?store_id=${owner.store.id}`;
  for (const query of [closed, `?q=${encodeURIComponent('닫힌')}`, `${closed}&category_id=3`]) {
    t.strictSame((await call('GET', `${path}${query}`, { token })).body.data.items, [], query);
  }
  t.notOk((await call('GET', `${path}?limit=100`, { token })).text.includes('닫힌 가게의 글'));
  for (const method of ['GET', 'DELETE']) {
    rejected(t, await call(method, `${path}${post.id}/`, { token: owner.token }), 404, 'post_not_found');
  }
  rejected(t, await call('POST', path, { token: owner.token, body: valid }), 403, 'store_required');
});

t.test('the longest post is kept as it is', async (t) => {
  const { token } = await openShop(app);
  const body = {
    title: '😀'.repeat(100),
    content: '😀'.repeat(5000),
    images: Array.from({ length: 10 }, (_, index) => `https://cdn.example.com/${index}${'a'.repeat(2023)}`),
  };
  t.match(await createPost(app, token, body), body);
  const escaped = JSON.stringify(body).replaceAll('😀', '\\ud83d\\ude00');
  const headers = { 'content-type': 'application/json' };
  t.equal((await call('POST', path, { token, headers, body: escaped })).status, 201);
});

t.test('absolute URLs are kept as they were given', async (t) => {
  const { token } = await openShop(app);
  const hosts =
    'https://cdn.example.com https://203.0.113.7/1.jpg https://[2001:db8::1]/1.jpg http://localhost:9000/1.jpg';
  const urls = [
    ...hosts.split(' '),
    'HTTPS://CDN.example.com/A.jpg?w=1&h=2#x',
    'https://cdn.example.com:8443/%20a.jpg',
    'https://cdn.example.com/사진.jpg',
    'https://cdn.example.com/@me/1.jpg',
    `https://cdn.example.com/${'a'.repeat(2024)}`,
    'https://cdn.example.com',
  ];
  const created = await createPost(app, token, { images: urls });
  t.strictSame(created.images, urls);
  t.equal(created.thumbnail, urls[0]);
  t.equal((await createPost(app, token, { images: [`  ${image} `] })).thumbnail, image, 'trimmed');
});

t.test('a user without a store cannot write a post', async (t) => {
  const { token } = await createUser(app);
  rejected(t, await call('POST', path, { token, body: valid }), 403, 'store_required');
  const wrong = await call('POST', path, { token, body: { ...valid, images: ['x'] } });
  t.equal(wrong.body.data.code, 'validation_error', 'validation comes first');
});

t.test('a post of another store is forbidden to change and to delete', async (t) => {
  const owner = await openShop(app);
  const post = await createPost(app, owner.token);
  const stranger = await openShop(app, '다른 가게');
  const { token: withoutStore } = await createUser(app);
  for (const token of [stranger.token, withoutStore]) {
    const body = { title: '남의 글' };
    rejected(t, await call('PATCH', `${path}${post.id}/`, { token, body }), 403, 'forbidden');
    rejected(t, await call('DELETE', `${path}${post.id}/`, { token }), 403, 'forbidden');
  }
  const unchanged = await call('GET', `${path}${post.id}/`, { token: stranger.token });
  t.strictSame(unchanged.body.data, { ...post, is_mine: false });
  await call('DELETE', `${path}${post.id}/`, { token: owner.token });
  rejected(t, await call('DELETE', `${path}${post.id}/`, { token: stranger.token }), 404, 'post_not_found');
});

t.test('validation comes before the post that does not exist, and before its category', async (t) => {
  const { token } = await openShop(app);
  const missing = `${path}2147483647/`;
  invalid(t, await call('PATCH', missing, { token, body: {} }), 'body');
  rejected(t, await call('PATCH', missing, { token, body: { title: '글' } }), 404, 'post_not_found');
  invalid(t, await call('GET', `${path}?category_id=999`, { token }), 'category_id');
});

t.test('images that are not absolute URLs are named by their JSON pointer', async (t) => {
  const { token } = await openShop(app);
  const post = await createPost(app, token);
  const rejects = async (images: unknown[], ...names: string[]) => {
    invalid(t, await call('POST', path, { token, body: { ...valid, images } }), ...names);
    invalid(t, await call('PATCH', `${path}${post.id}/`, { token, body: { images } }), ...names);
  };
  const relative =
    'image.jpg /image.jpg //cdn.example.com/1.jpg cdn.example.com/1.jpg https:cdn.example.com/1.jpg';
  const schemes =
    'ftp://cdn.example.com/1.jpg javascript:alert(1) data:image/png;base64,AAAA blob:https://a.example/1';
  const hosts = 'https:// https:///1.jpg https://?x https://a.example:99999/1.jpg https://[::1/1.jpg';
  const users = 'https://user:secret@a.example/1.jpg https://user@a.example/1.jpg https://@a.example/1';
  const paths = ['a b.jpg', 'a\tb.jpg', 'a\nb.jpg', '"><script>', '%zz.jpg', 'a'.repeat(2025)];
  const wrong = [
    ...[relative, schemes, hosts, users].flatMap((urls) => urls.split(' ')),
    ...paths.map((rest) => `https://cdn.example.com/${rest}`),
    'https://cdn.example.com\\1.jpg',
  ];
  for (const one of wrong) await rejects([image, one], '/images/1');
  const many = [wrong[0], image, wrong[1], image, wrong[5]];
  await rejects(many, '/images/0', '/images/2', '/images/4');
});

t.test('in production plain http is rejected', async (t) => {
  const production = await createTestApp(
    {
      NODE_ENV: 'production',
      DATABASE_URL: app.url,
      JWT_SECRET: 'only-tests-sign-with-these-40-characters',
      RESEND_API_KEY: 're_dK3vQ8wZ_unused',
      MAIL_FROM: 'Dure <no-reply@example.com>',
    },
    { databaseUrl: app.url },
  );
  t.teardown(production.close);
  const { token } = await openShop(production);
  const images = [image, 'http://cdn.example.com/1.jpg', 'HTTP://cdn.example.com/1.jpg'];
  const response = await production.call('POST', path, { token, body: { ...valid, images } });
  invalid(t, response, '/images/1', '/images/2');
  t.equal((await production.call('POST', path, { token, body: valid })).status, 201);
});

t.test('the same Idempotency-Key writes one post', async (t) => {
  const { token, store } = await openShop(app);
  const headers = { 'idempotency-key': 'post-1' };
  const responses = await inParallel(8, () => call('POST', path, { token, headers, body: valid }));
  for (const response of responses) t.strictSame([response.status, response.body], [201, responses[0]?.body]);
  const again = await call('POST', path, { token, headers, body: valid });
  t.strictSame([again.status, again.body], [201, responses[0]?.body]);
  const replayed = responses.filter(({ headers }) => headers['idempotency-replayed'] === 'true');
  t.equal(replayed.length, responses.length - 1, 'all but the response of the work');
  const other = await call('POST', path, { token, headers, body: { ...valid, title: '다른 글' } });
  rejected(t, other, 409, 'idempotency_conflict');
  const { rows } = await pool.query('SELECT count(*)::int AS posts FROM posts WHERE store_id = $1', [
    store.id,
  ]);
  t.equal(rows[0].posts, 1);
});

t.test('of concurrent deletions, one succeeds', async (t) => {
  const { token } = await openShop(app);
  const post = await createPost(app, token);
  const responses = await inParallel(6, () => call('DELETE', `${path}${post.id}/`, { token }));
  t.equal(responses.filter(({ status }) => status === 200).length, 1);
  for (const response of responses) if (response.status !== 200) rejected(t, response, 404, 'post_not_found');
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
