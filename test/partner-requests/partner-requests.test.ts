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

t.test('a request notifies the receiver and answers with the fields of the specification', async (t) => {
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
  t.strictSame((await notificationsOf(app, sender)).items, [], 'the sender knows');
});

t.test('the receiver accepts, and the sender is notified', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const id = await sendRequest(app, sender, post);
  const answer = await transition(app, receiver, id, 'accept');
  t.equal(answer.status, 200);
  t.equal(answer.body.message, '제휴 요청을 수락했습니다.');
  t.strictSame(answer.body.data, {
    box: 'received',
    id,
    post_id: post.id,
    post_title: '주말 공동 할인',
    sender_store: {
      id: sender.store.id,
      name: '두레 베이커리',
      store_categories: [
        { id: 3, name: '베이커리' },
        { id: 1, name: '카페' },
      ],
    },
    status: '수락됨',
    message: '함께 해요!',
    created_at: answer.body.data.created_at,
    updated_at: answer.body.data.updated_at,
  });
  t.strictSame(await notifiedOf(app, sender), [['accepted', id, '수락됨']]);
  t.strictSame(
    await notifiedOf(app, receiver),
    [['received', id, '수락됨']],
    'shown with its present status',
  );
  const [notification] = (await notificationsOf(app, sender)).items;
  t.equal(notification.message, '‘주말 공동 할인’ 글에 보내신 제휴 요청을 햇살카페에서 수락했습니다.');
});

t.test('the receiver declines, and the sender is notified', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const id = await sendRequest(app, sender, post);
  const answer = await transition(app, receiver, id, 'decline');
  t.equal(answer.status, 200);
  t.equal(answer.body.data.status, '거절됨');
  t.equal(answer.body.data.post_title, '주말 공동 할인');
  t.strictSame(await notifiedOf(app, sender), [['declined', id, '거절됨']]);
  const [notification] = (await notificationsOf(app, sender)).items;
  t.equal(notification.message, '‘주말 공동 할인’ 글에 보내신 제휴 요청을 햇살카페에서 거절했습니다.');
});

t.test('the sender withdraws, and the receiver is notified without a mail', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const id = await sendRequest(app, sender, post);
  const answer = await transition(app, sender, id, 'withdraw');
  t.equal(answer.status, 200);
  t.strictSame(answer.body.data, {
    box: 'sent',
    id,
    post_id: post.id,
    post_title: '주말 공동 할인',
    receiver_store_id: receiver.store.id,
    receiver_store_name: '햇살카페',
    status: '취소됨',
    message: '함께 해요!',
    created_at: answer.body.data.created_at,
    updated_at: answer.body.data.updated_at,
  });
  t.strictSame(await notifiedOf(app, receiver), [
    ['withdrawn', id, '취소됨'],
    ['received', id, '취소됨'],
  ]);
  const [notification] = (await notificationsOf(app, receiver)).items;
  t.equal(notification.message, '두레 베이커리에서 ‘주말 공동 할인’ 글에 보낸 제휴 요청을 취소했습니다.');
  await app.mails.settled();
  const subjects = app.mails.sent.filter(({ to }) => to === receiver.email).map(({ subject }) => subject);
  t.strictSame(
    subjects.filter((subject) => subject.includes('취소')),
    [],
  );
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

t.test('a repeated Idempotency-Key replays the first answer', async (t) => {
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
