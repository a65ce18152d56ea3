import t from 'tap';
import { createTestApp, createUser } from '../support/app.ts';
import { invalid, refused, tally } from '../support/assertions.ts';
import { inParallel } from '../support/concurrency.ts';
import {
  notificationsOf,
  openTwoShops,
  requestPartnership,
  requestsPath,
  sendRequest,
  transition,
} from '../support/partner-requests.ts';
import { createPost, openShop } from '../support/stores.ts';

const app = await createTestApp();
t.teardown(app.close);

const create = (token: string | undefined, body: unknown, headers: Record<string, string> = {}) =>
  app.call('POST', requestsPath, { token, body, headers });

const counts = async (postId: number) => {
  const { rows } = await app.pool.query(
    `SELECT count(*)::int AS requests, (SELECT count(*)::int FROM notifications n
       JOIN partner_requests q ON q.id = n.partner_request_id WHERE q.post_id = $1) AS notifications
     FROM partner_requests WHERE post_id = $1`,
    [postId],
  );
  return rows[0];
};

t.test('a request is answered with exactly the six fields and notifies the receiver', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const message = '안녕하세요,\r\n저희 빵을 함께 팔아요.  ';
  const answer = await create(sender.token, { post_id: post.id, message });
  t.equal(answer.status, 201);
  t.equal(answer.body.message, '제휴를 요청했습니다.');
  const { id, created_at } = answer.body.data;
  t.strictSame(answer.body.data, {
    id,
    post_id: post.id,
    receiver_store_name: '햇살카페',
    status: '요청됨',
    message: '안녕하세요,\n저희 빵을 함께 팔아요.',
    created_at,
  });
  t.ok(Number.isInteger(id));
  t.match(created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  const told = await notificationsOf(app, receiver);
  t.equal(told.unread_count, 1);
  t.strictSame(told.items, [
    {
      id: told.items[0].id,
      kind: 'partner_request_received',
      message: '두레 베이커리에서 ‘주말 공동 할인’ 글에 제휴를 요청했습니다.',
      is_read: false,
      created_at: told.items[0].created_at,
      partner_request: {
        id,
        post_id: post.id,
        post_title: '주말 공동 할인',
        status: '요청됨',
        sender_store_name: '두레 베이커리',
        receiver_store_name: '햇살카페',
        message: '안녕하세요,\n저희 빵을 함께 팔아요.',
      },
    },
  ]);
  t.strictSame((await notificationsOf(app, sender)).items, [], 'the sender knows');
});

t.test('every operation needs a valid access token', async (t) => {
  for (const [method, path] of [
    ['POST', requestsPath],
    ['GET', requestsPath],
    ['POST', `${requestsPath}1/accept/`],
    ['POST', `${requestsPath}1/decline/`],
    ['POST', `${requestsPath}1/withdraw/`],
    ['GET', '/api/v1/notifications/mypage/'],
    ['POST', '/api/v1/notifications/mark-read/'],
    ['GET', '/api/v1/notifications/unread-count/'],
  ] as const) {
    refused(t, await app.call(method, path), 401, 'not_authenticated');
    const answer = await app.call(method, path, { token: 'no-token' });
    t.equal(answer.body.data.code, 'token_not_valid');
  }
});

t.test('a request holds a post and a message of 1-1000 characters, and nothing else', async (t) => {
  const { sender, post } = await openTwoShops(app);
  const message = '함께 해요!';
  invalid(t, await create(sender.token, {}), 'post_id', 'message');
  for (const id of [0, -1, 1.5, 2 ** 31, 2 ** 53, String(post.id), null, true, [post.id]]) {
    invalid(t, await create(sender.token, { post_id: id, message }), 'post_id');
  }
  for (const bad of ['', '   ', '\n', 'a\u0000b', 'a\u0007b', '\ud800', 'x'.repeat(1001), 7, null, ['a']]) {
    invalid(t, await create(sender.token, { post_id: post.id, message: bad }), 'message');
  }
  invalid(t, await create(sender.token, { post_id: post.id, message, status: '수락됨' }), 'status');
  for (const key of ['', ' ', 'ä', 'x'.repeat(256)]) {
    const answer = await create(sender.token, { post_id: post.id, message }, { 'idempotency-key': key });
    invalid(t, answer, 'idempotency-key');
  }
  t.strictSame(await counts(post.id), { requests: 0, notifications: 0 });
  const longest = await create(sender.token, { post_id: post.id, message: '😀'.repeat(1000) });
  t.equal(longest.status, 201, 'a thousand characters of two units each');
});

t.test('who has no store cannot ask, whatever the post', async (t) => {
  const { post } = await openTwoShops(app);
  const user = await createUser(app);
  refused(t, await requestPartnership(app, user, post), 403, 'store_required');
  refused(t, await requestPartnership(app, user, { id: 2_000_000_000 }), 403, 'store_required');
});

t.test('unknown, deleted and closed posts are answered alike', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  refused(t, await requestPartnership(app, sender, { id: 2_147_483_647 }), 404, 'post_not_found');
  const deleted = await createPost(app, receiver.token);
  await app.call('DELETE', `/api/v1/posts/${deleted.id}/`, { token: receiver.token });
  refused(t, await requestPartnership(app, sender, deleted), 404, 'post_not_found');
  refused(t, await requestPartnership(app, receiver, deleted), 404, 'post_not_found', {});
  const { password } = receiver;
  const gone = await app.call('DELETE', '/auth/me/', { token: receiver.token, body: { password } });
  t.equal(gone.status, 200);
  refused(t, await requestPartnership(app, sender, post), 404, 'post_not_found');
});

t.test('a store does not ask itself', async (t) => {
  const { receiver, post } = await openTwoShops(app);
  refused(t, await requestPartnership(app, receiver, post), 409, 'own_post');
});

t.test('a store has one pending or accepted request for a post', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const other = await openShop(app, '다른 가게');
  const first = await sendRequest(app, sender, post);
  refused(t, await requestPartnership(app, sender, post), 409, 'already_requested');
  t.equal((await requestPartnership(app, other, post)).status, 201, 'others may ask');
  await transition(app, sender, first, 'withdraw');
  const second = await sendRequest(app, sender, post);
  await transition(app, receiver, second, 'decline');
  const third = await sendRequest(app, sender, post);
  await transition(app, receiver, third, 'accept');
  refused(t, await requestPartnership(app, sender, post), 409, 'already_requested');
});

t.test('of twenty at once one is created, told once and mailed once', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const answers = await inParallel(20, () => requestPartnership(app, sender, post));
  t.strictSame(tally(answers), { '201': 1, '409 already_requested': 19 });
  t.strictSame(await counts(post.id), { requests: 1, notifications: 1 });
  await app.mails.next(receiver.email, 1);
  await app.mails.settled();
  t.equal(app.mails.sent.filter(({ to }) => to === receiver.email).length, 2, 'the code and one request');
});

t.test('twenty shops that ask at once all arrive', async (t) => {
  const { receiver, post } = await openTwoShops(app);
  const shops = await inParallel(20, (index) => openShop(app, `가게 ${index}`));
  const answers = await Promise.all(shops.map((shop) => requestPartnership(app, shop, post)));
  t.strictSame(tally(answers), { 201: 20 });
  t.equal((await notificationsOf(app, receiver)).unread_count, 20);
});

t.test('two stores that ask each other at once both arrive', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const posts = await inParallel(6, () => createPost(app, sender.token));
  const others = await inParallel(6, () => createPost(app, receiver.token));
  const answers = await Promise.all([
    ...posts.map((one) => requestPartnership(app, receiver, one)),
    ...[...others, post].map((one) => requestPartnership(app, sender, one)),
  ]);
  t.strictSame(tally(answers), { 201: 13 });
});

t.test('the same key and body give the first answer again and change nothing', async (t) => {
  const { sender, post } = await openTwoShops(app);
  const headers = { 'idempotency-key': 'request-1' };
  const first = await requestPartnership(app, sender, post, headers);
  const again = await requestPartnership(app, sender, post, headers);
  t.equal(first.status, 201);
  t.equal(again.status, 201);
  t.strictSame(again.body, first.body);
  t.strictSame(await counts(post.id), { requests: 1, notifications: 1 });
  const other = await create(sender.token, { post_id: post.id, message: '다른 말' }, headers);
  refused(t, other, 409, 'idempotency_conflict');
  const stranger = await openShop(app, '다른 가게');
  t.equal((await requestPartnership(app, stranger, post, headers)).status, 201, 'keys belong to the caller');
});

t.test('of twenty at once with one key one does the work and all get its answer', async (t) => {
  const { sender, post } = await openTwoShops(app);
  const headers = { 'idempotency-key': 'request-2' };
  const answers = await inParallel(20, () => requestPartnership(app, sender, post, headers));
  t.strictSame(tally(answers), { 201: 20 });
  t.equal(new Set(answers.map(({ text }) => text)).size, 1);
  t.strictSame(await counts(post.id), { requests: 1, notifications: 1 });
});

t.test('a refused request leaves its key free', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const headers = { 'idempotency-key': 'request-3' };
  const id = await sendRequest(app, sender, post);
  refused(t, await requestPartnership(app, sender, post, headers), 409, 'already_requested');
  await transition(app, receiver, id, 'decline');
  t.equal((await requestPartnership(app, sender, post, headers)).status, 201);
});
