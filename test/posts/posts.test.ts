import t from 'tap';
import { createTestApp, createUser } from '../support/app.ts';
import { invalid, rejected, tally } from '../support/assertions.ts';
import { inParallel } from '../support/concurrency.ts';
import { openTwoShops, requestPartnership, sendRequest, transition } from '../support/partner-requests.ts';
import { production } from '../support/service.ts';
import { createAuthor, createPost, idsIn, openShop } from '../support/stores.ts';

const app = await createTestApp();
const { call, pool } = app;
const path = '/api/v1/posts/';
const image = 'https://cdn.example.com/1.jpg';
const images = [image, 'https://cdn.example.com/2.jpg'];

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
  rejected(t, await requestPartnership(app, sender, post), 409, 'already_requested');
  await transition(app, receiver, first, 'decline');
  t.strictSame(await seenBy(sender), [false, '거절됨']);
  const second = await sendRequest(app, sender, post);
  t.equal(second, first + 1, 'what is rejected takes no id');
  t.strictSame(await seenBy(sender), [false, '요청됨'], 'the newest of them');
  await transition(app, receiver, second, 'accept');
  t.strictSame(await seenBy(sender), [false, '수락됨']);
  rejected(t, await requestPartnership(app, sender, post), 409, 'already_requested');
  await transition(app, receiver, second, 'end');
  t.strictSame(await seenBy(sender), [false, '종료됨']);
  t.strictSame(await seenBy(other), [false, '요청됨'], 'only the own requests count');
  t.strictSame(await seenBy(visitor), [false, null]);
  t.strictSame(await seenBy(receiver), [true, null]);
  t.equal((await requestPartnership(app, sender, post)).status, 201, 'and may ask again once it ended');
  const title = { token: receiver.token, body: { title: '새 제목' } };
  const changed = await call('PATCH', `${path}${post.id}/`, title);
  t.match(changed.body.data, { is_mine: true, my_request_status: null });
});

t.test('PATCH changes the given fields only', async (t) => {
  const { token, post } = await createAuthor(app, { images });
  const patch = (body: unknown) => call('PATCH', `${path}${post.id}/`, { token, body });
  const retitled = await patch({ title: '새 제목' });
  t.match(retitled.body.data, { ...post, title: '새 제목', updated_at: String });
  t.ok(retitled.body.data.updated_at >= post.updated_at);

  const all = await patch({ title: ' 다 ', content: '첫 줄\r\n둘째 줄', images });
  t.match(all.body.data, { title: /^다$/, content: '첫 줄\n둘째 줄', thumbnail: images[0], images });
});

t.test('a post of another store is forbidden to change and to delete', async (t) => {
  const { post, ...owner } = await createAuthor(app);
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

t.test('concurrent changes of different fields are all kept', async (t) => {
  const { token, post } = await createAuthor(app);
  const changes = [{ title: '새 제목' }, { content: '새 내용' }, { images: [images[1]] }];
  await Promise.all(changes.map((change) => call('PATCH', `${path}${post.id}/`, { token, body: change })));
  const left = (await call('GET', `${path}${post.id}/`, { token })).body.data;
  t.match(left, { title: '새 제목', content: '새 내용', thumbnail: images[1], images: { length: 1 } });
  for (const [word, count] of Object.entries({ '새 제목': 1, '새 내용': 1, [post.title]: 0 })) {
    const found = await call('GET', `${path}?mine=true&q=${encodeURIComponent(word)}`, { token });
    t.equal(found.body.data.items.length, count, word);
  }
});

t.test('deleting a post erases its content from stored responses, and changes no others', async (t) => {
  const { token } = await openShop(app);
  const other = await openShop(app);
  const body = { title: '공동 할인', content: '지울 내용' };
  const write = (key: string, as = token) =>
    call('POST', path, { token: as, body, headers: { 'idempotency-key': key } });
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
  await call('DELETE', `${path}${post.id}/`, { token });
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
  const { token, post } = await createAuthor(app);
  const responses = await inParallel(6, () => call('DELETE', `${path}${post.id}/`, { token }));
  t.strictSame(tally(responses), { '200': 1, '404 post_not_found': 5 });
});

const valid = { title: '글', content: '내용', images: [image] };

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

t.test('images that are not absolute URLs are named by their JSON pointer', async (t) => {
  const { token, post } = await createAuthor(app);
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
  const inProduction = await app.startInstance(production);
  const { token } = await openShop(inProduction);
  const images = [image, 'http://cdn.example.com/1.jpg', 'HTTP://cdn.example.com/1.jpg'];
  const response = await inProduction.call('POST', path, { token, body: { ...valid, images } });
  invalid(t, response, '/images/1', '/images/2');
  t.equal((await inProduction.call('POST', path, { token, body: valid })).status, 201);
});
