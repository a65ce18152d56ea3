import t, { type Test } from 'tap';
import { createTestApp, createUser, type TestResponse } from '../support/app.ts';
import { rejected, unavailable } from '../support/assertions.ts';
import { lockRows } from '../support/concurrency.ts';
import {
  becomePartners,
  notificationsOf,
  notifiedOf,
  openTwoShops,
  openTwoVerifiedShops,
  requestPartnership,
  sendRequest,
  transition,
} from '../support/partner-requests.ts';
import { createPost, openShop } from '../support/stores.ts';

const app = await createTestApp();
const failing = await app.startInstance({}, { serverErrors: true });

const english = {
  accept: '햇살카페 accepted your partnership request for “주말 공동 할인”.',
  decline: '햇살카페 declined your partnership request for “주말 공동 할인”.',
  withdraw: '두레 베이커리 withdrew its request for your post “주말 공동 할인”.',
};

for (const [action, kind, status, sentence] of [
  ['accept', 'accepted', '수락됨', '글에 보내신 제휴 요청을 햇살카페에서 수락했습니다.'],
  ['decline', 'declined', '거절됨', '글에 보내신 제휴 요청을 햇살카페에서 거절했습니다.'],
  ['withdraw', 'withdrawn', '취소됨', '글에 보낸 제휴 요청을 취소했습니다.'],
] as const) {
  t.test(`one side can ${action} a request, and the other one is notified`, async (t) => {
    const { sender, receiver, post } = await openTwoShops(app);
    const id = await sendRequest(app, sender, post);
    const [side, other] = action === 'withdraw' ? [sender, receiver] : [receiver, sender];
    t.equal((await transition(app, side, id, action)).body.data.status, status);
    const [first, ...others] = (await notificationsOf(app, other)).items;
    t.match(first, { kind: `partner_request_${kind}`, partner_request: { id, status } });
    t.ok(first.message.endsWith(`‘주말 공동 할인’ ${sentence}`), first.message);
    const inEnglish = await notificationsOf(app, other, '', { 'accept-language': 'en' });
    t.equal(inEnglish.items[0].message, english[action]);
    t.equal(others.length, other === receiver ? 1 : 0);
    const [current] = (await notifiedOf(app, receiver)).slice(-1);
    t.strictSame(current, ['received', id, status], 'the notification of the request has its status');
  });
}

t.test('either side ends an accepted request, and the other one is notified', async (t) => {
  const shops = await openTwoShops(app);
  const { sender, receiver } = shops;
  for (const [own, other, box] of [
    [sender, receiver, 'sent'],
    [receiver, sender, 'received'],
  ] as const) {
    const id = await becomePartners(app, shops);
    const before = await notifiedOf(app, own);
    const response = await transition(app, own, id, 'end');
    t.match(response.body.data, { box, id, status: '종료됨' });
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
  const { sender, receiver } = await openTwoShops(app);
  const title = '$1 {{title}} <b>';
  const post = await createPost(app, receiver.token, { title });
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
  t.strictSame(await notifiedOf(app, accepted), [['accepted', acceptedId, '수락됨']], 'which stays');
  const [newest] = await notifiedOf(app, receiver);
  t.strictSame(newest, ['received', otherId, '요청됨'], 'the deleting side is not notified');
  for (const [language, sentence] of Object.entries({
    en: `Your partnership request for “${title}” was withdrawn because 햇살카페 deleted the post.`,
    ko: `햇살카페에서 올린 ‘${title}’ 글이 삭제되어 제휴 요청이 취소되었습니다.`,
  })) {
    const [item] = (await notificationsOf(app, sender, '', { 'accept-language': language })).items;
    t.equal(item.message, sentence);
    t.equal(item.partner_request.post_title, title, 'the title stays readable');
  }
  rejected(t, await transition(app, receiver, ids[0] ?? 0, 'accept'), 409, 'invalid_transition');
});

const actions = ['accept', 'decline', 'withdraw', 'end'] as const;

t.test('a request needs a store, and an existing post of another store', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const unknown = { id: 2_147_483_647 };
  const deleted = await createPost(app, receiver.token);
  await app.call('DELETE', `/api/v1/posts/${deleted.id}/`, { token: receiver.token });
  const user = await createUser(app);
  const cases = [
    [user, post, 403, 'store_required'],
    [user, unknown, 403, 'store_required'],
    [sender, unknown, 404, 'post_not_found'],
    [sender, deleted, 404, 'post_not_found'],
    [receiver, deleted, 404, 'post_not_found'],
    [receiver, post, 409, 'own_post'],
  ] as const;
  for (const [who, what, status, code] of cases)
    rejected(t, await requestPartnership(app, who, what), status, code);
});

t.test('an accepted request can only be ended, and nothing follows the other states', async (t) => {
  for (const first of [undefined, ...actions]) {
    const { sender, receiver, post } = await openTwoShops(app);
    const sideOf = (action: (typeof actions)[number]) => (action === 'withdraw' ? sender : receiver);
    const id = await sendRequest(app, sender, post);
    if (first === 'end') await transition(app, receiver, id, 'accept');
    if (first) t.equal((await transition(app, sideOf(first), id, first)).status, 200);
    const notified = async () => [await notifiedOf(app, sender), await notifiedOf(app, receiver)];
    const before = await notified();
    const rejectedActions = first
      ? actions.filter((one) => first !== 'accept' || one !== 'end')
      : ['end' as const];
    for (const second of rejectedActions) {
      rejected(t, await transition(app, sideOf(second), id, second), 409, 'invalid_transition');
      if (second === 'end') rejected(t, await transition(app, sender, id, second), 409, 'invalid_transition');
    }
    t.strictSame(await notified(), before, 'no side is notified');
  }
});

t.test('a request is not found for third parties, nor for actions of the other side', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const stranger = await openShop(app, '다른 가게');
  const user = await createUser(app);
  const id = await sendRequest(app, sender, post);
  for (const [who, may] of [
    [sender, ['withdraw', 'end']],
    [receiver, ['accept', 'decline', 'end']],
    [stranger, []],
    [user, []],
  ] as const) {
    for (const action of actions.filter((one) => !may.some((allowed) => allowed === one)))
      rejected(t, await transition(app, who, id, action), 404, 'partner_request_not_found');
  }
  await transition(app, receiver, id, 'accept');
  for (const action of ['accept', 'end'] as const)
    rejected(t, await transition(app, stranger, id, action), 404, 'partner_request_not_found');
});

/** All that sending and answering requests writes. */
async function written() {
  await app.mails.settled();
  const { rows } = await app.pool.query(`
    SELECT (SELECT json_agg(status ORDER BY id) FROM partner_requests) AS requests,
      (SELECT count(*) FROM notifications) AS notifications,
      (SELECT count(*) FROM idempotency_keys) AS keys`);
  return { ...rows[0], mails: app.mails.sent.length };
}

/** Makes a change wait for a user's row, ends its connection, and asserts that nothing was written. */
async function loseConnection(t: Test, userId: number, change: () => Promise<TestResponse>) {
  const before = await written();
  const lock = await lockRows(t, app, 'SELECT FROM users WHERE id = $1 FOR UPDATE', [userId]);
  const changed = change();
  const [backend] = await lock.waiters(1);
  await app.pool.query('SELECT pg_terminate_backend($1)', [backend]);
  unavailable(t, await changed);
  await lock.release();
  t.strictSame(await written(), before);
}

t.test('a request, transition or deletion that loses its connection changes nothing', async (t) => {
  const { sender, receiver, post } = await openTwoVerifiedShops(app);
  const send = () => requestPartnership(failing, sender, post, { 'idempotency-key': 'dies' });
  await loseConnection(t, receiver.id, send);
  const again = await send();
  t.equal(again.status, 201);
  const id = again.body.data.id;
  t.strictSame(await notifiedOf(app, receiver), [['received', id, '요청됨']]);
  const { token } = receiver;
  await loseConnection(t, sender.id, () => transition(failing, receiver, id, 'accept'));
  await loseConnection(t, sender.id, () => failing.call('DELETE', `/api/v1/posts/${post.id}/`, { token }));
  t.equal((await app.call('GET', `/api/v1/posts/${post.id}/`, { token })).status, 200);
  t.equal((await transition(app, receiver, id, 'accept')).status, 200);
});

t.test('a request that waits too long for a lock gets 503', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const limited = await app.startInstance({}, { productionLimits: true, serverErrors: true });
  const lock = await lockRows(t, app, 'SELECT FROM posts WHERE id = $1 FOR UPDATE', [post.id]);
  unavailable(t, await requestPartnership(limited, sender, post));
  await lock.release();
  t.strictSame(await notifiedOf(app, receiver), []);
});
