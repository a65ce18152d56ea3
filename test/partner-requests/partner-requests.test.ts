import t from 'tap';
import { createTestApp } from '../support/app.ts';
import { refused } from '../support/assertions.ts';
import {
  becomePartners,
  notificationsOf,
  notifiedOf,
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

t.test('a request notifies the receiver and responds with the fields of the specification', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const message = '안녕하세요,\r\n저희 빵을 함께 팔아요.  ';
  const answer = await create(sender.token, { post_id: post.id, message });
  t.equal(answer.status, 201);
  t.equal(answer.body.message, '제휴를 요청했습니다.');
  const { id, created_at } = answer.body.data;
  t.strictSame(answer.body.data, {
    box: 'sent',
    id,
    post_id: post.id,
    post_title: '주말 공동 할인',
    receiver_store_id: receiver.store.id,
    receiver_store_name: '햇살카페',
    status: '요청됨',
    message: '안녕하세요,\n저희 빵을 함께 팔아요.',
    created_at,
    updated_at: created_at,
  });
  t.ok(Number.isInteger(id));
  t.match(created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  const notified = await notificationsOf(app, receiver);
  t.equal(notified.unread_count, 1);
  t.strictSame(notified.items, [
    {
      id: notified.items[0].id,
      kind: 'partner_request_received',
      message: '두레 베이커리에서 ‘주말 공동 할인’ 글을 보고 제휴를 요청했습니다.',
      is_read: false,
      created_at: notified.items[0].created_at,
      partner_request: {
        id,
        post_id: post.id,
        post_title: '주말 공동 할인',
        status: '요청됨',
        sender_store_id: sender.store.id,
        sender_store_name: '두레 베이커리',
        receiver_store_id: receiver.store.id,
        receiver_store_name: '햇살카페',
        message: '안녕하세요,\n저희 빵을 함께 팔아요.',
      },
    },
  ]);
  t.strictSame((await notificationsOf(app, sender)).items, [], 'the sender is not notified');
});

for (const [action, status, kind, message, sentence] of [
  [
    'accept',
    '수락됨',
    'accepted',
    '제휴 요청을 수락했습니다.',
    '보내신 제휴 요청을 햇살카페에서 수락했습니다.',
  ],
  [
    'decline',
    '거절됨',
    'declined',
    '제휴 요청을 거절했습니다.',
    '보내신 제휴 요청을 햇살카페에서 거절했습니다.',
  ],
] as const) {
  t.test(`the receiver can ${action} a request, and the sender is notified`, async (t) => {
    const { sender, receiver, post } = await openTwoShops(app);
    const { receiver_store_id, receiver_store_name, updated_at, ...request } = (
      await requestPartnership(app, sender, post)
    ).body.data;
    const answer = await transition(app, receiver, request.id, action);
    t.equal(answer.status, 200);
    t.equal(answer.body.message, message);
    const { id, name, store_categories } = sender.store;
    t.strictSame(store_categories, [
      { id: 3, name: '베이커리' },
      { id: 1, name: '카페' },
    ]);
    t.strictSame(answer.body.data, {
      ...request,
      box: 'received',
      status,
      sender_store: { id, name, store_categories },
      updated_at: answer.body.data.updated_at,
    });
    t.strictSame(await notifiedOf(app, sender), [[kind, request.id, status]]);
    t.strictSame(await notifiedOf(app, receiver), [['received', request.id, status]], 'its current status');
    const [notification] = (await notificationsOf(app, sender)).items;
    t.equal(notification.message, `‘주말 공동 할인’ 글에 ${sentence}`);
  });
}

t.test('the sender withdraws, and the receiver is notified without an email', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const created = (await requestPartnership(app, sender, post)).body.data;
  const answer = await transition(app, sender, created.id, 'withdraw');
  t.equal(answer.status, 200);
  const { updated_at } = answer.body.data;
  t.strictSame(answer.body.data, { ...created, status: '취소됨', updated_at });
  t.strictSame(await notifiedOf(app, receiver), [
    ['withdrawn', created.id, '취소됨'],
    ['received', created.id, '취소됨'],
  ]);
  const [notification] = (await notificationsOf(app, receiver)).items;
  t.equal(notification.message, '두레 베이커리에서 ‘주말 공동 할인’ 글에 보낸 제휴 요청을 취소했습니다.');
  await app.mails.settled();
  t.notOk(app.mails.sent.some(({ to, subject }) => to === receiver.email && subject.includes('취소')));
});

t.test('either side ends an accepted request, and the other one is notified', async (t) => {
  const shops = await openTwoShops(app);
  const { sender, receiver } = shops;
  for (const [own, other, box] of [
    [sender, receiver, 'sent'],
    [receiver, sender, 'received'],
  ] as const) {
    const id = await becomePartners(app, shops);
    const before = await notifiedOf(app, own);
    const answer = await transition(app, own, id, 'end');
    t.equal(answer.status, 200);
    t.equal(answer.body.message, '제휴를 종료했습니다.');
    const side =
      box === 'sent' ? { receiver_store_id: receiver.store.id } : { sender_store: { id: sender.store.id } };
    t.match(answer.body.data, { box, id, status: '종료됨', post_title: '주말 공동 할인', ...side });
    const { items } = await notificationsOf(app, other);
    t.match(items[0], {
      kind: 'partner_request_ended',
      message: `${own.store.name}에서 ‘주말 공동 할인’ 글로 맺은 제휴를 종료했습니다.`,
      partner_request: { id, status: '종료됨' },
    });
    t.equal((await notifiedOf(app, own)).length, before.length, 'the side that ended it is not notified');
  }
});

t.test('deleting a post withdraws its pending requests and notifies their senders', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const second = await openShop(app, '둘째 가게');
  const accepted = await openShop(app, '수락된 가게');
  const other = await createPost(app, receiver.token);
  const ids = [await sendRequest(app, sender, post), await sendRequest(app, second, post)];
  const acceptedId = await sendRequest(app, accepted, post);
  await transition(app, receiver, acceptedId, 'accept');
  const otherId = await sendRequest(app, sender, other);
  t.equal((await app.call('DELETE', `/api/v1/posts/${post.id}/`, { token: receiver.token })).status, 200);
  t.strictSame(await notifiedOf(app, sender), [['withdrawn', ids[0], '취소됨']]);
  t.strictSame(await notifiedOf(app, second), [['withdrawn', ids[1], '취소됨']]);
  t.strictSame(
    await notifiedOf(app, accepted),
    [['accepted', acceptedId, '수락됨']],
    'an accepted request stays',
  );
  const [newest] = await notifiedOf(app, receiver);
  t.strictSame(newest, ['received', otherId, '요청됨'], 'the deleting side is not notified');
  const { items } = await notificationsOf(app, sender);
  t.equal(items[0].partner_request.post_title, '주말 공동 할인', 'the title stays readable');
  refused(t, await transition(app, receiver, ids[0] ?? 0, 'accept'), 409, 'invalid_transition');
});

t.test('a repeated Idempotency-Key replays the first response', async (t) => {
  const { sender, post } = await openTwoShops(app);
  const headers = { 'idempotency-key': 'request-1' };
  const first = await requestPartnership(app, sender, post, headers);
  const again = await requestPartnership(app, sender, post, headers);
  t.equal(first.status, 201);
  t.equal(again.status, 201);
  t.strictSame(again.body, first.body);
  t.equal(again.headers['idempotency-replayed'], 'true');
  t.equal((await app.pool.query('SELECT FROM partner_requests WHERE post_id = $1', [post.id])).rowCount, 1);
  const other = await create(sender.token, { post_id: post.id, message: '다른 말' }, headers);
  refused(t, other, 409, 'idempotency_conflict');
  const stranger = await openShop(app, '다른 가게');
  t.equal((await requestPartnership(app, stranger, post, headers)).status, 201, 'keys belong to the caller');
});

t.test('markup, SQL and placeholders in names are plain text', async (t) => {
  const sender = await openShop(app, `'; DROP TABLE "stores"; -- <b>`);
  const { receiver } = await openTwoShops(app);
  const post = await createPost(app, receiver.token, { title: '$1 {{title}} %s' });
  const id = await sendRequest(app, sender, post);
  const [item] = (await notificationsOf(app, receiver)).items;
  t.equal(item.partner_request.id, id);
  t.equal(
    item.message,
    `'; DROP TABLE "stores"; -- <b>에서 ‘$1 {{title}} %s’ 글을 보고 제휴를 요청했습니다.`,
  );
});
