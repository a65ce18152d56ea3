import t, { type Test } from 'tap';
import { type Answer, createTestApp, createUser } from '../support/app.ts';
import { refused } from '../support/assertions.ts';
import { lockRows } from '../support/concurrency.ts';
import {
  notifiedOf,
  openTwoShops,
  requestPartnership,
  sendRequest,
  transition,
} from '../support/partner-requests.ts';
import { createPost, openShop } from '../support/stores.ts';

const app = await createTestApp();
t.teardown(app.close);

const actions = ['accept', 'decline', 'withdraw', 'end'] as const;

t.test('a user without a store cannot send a request', async (t) => {
  const { post } = await openTwoShops(app);
  const user = await createUser(app);
  refused(t, await requestPartnership(app, user, post), 403, 'store_required');
  refused(t, await requestPartnership(app, user, { id: 2_000_000_000 }), 403, 'store_required');
});

t.test('unknown, deleted and closed posts are post_not_found', async (t) => {
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

t.test('a store cannot send a request for its own post', async (t) => {
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
  await transition(app, receiver, third, 'end');
  t.equal((await requestPartnership(app, sender, post)).status, 201, 'and may ask again once it ended');
});

t.test('a rejected request takes no id', async (t) => {
  const { sender, post } = await openTwoShops(app);
  const other = await openShop(app, '다른 가게');
  const first = await sendRequest(app, sender, post);
  for (let attempt = 0; attempt < 5; attempt++)
    refused(t, await requestPartnership(app, sender, post), 409, 'already_requested');
  t.equal(await sendRequest(app, other, post), first + 1);
});

t.test('an accepted request can only be ended, and nothing follows the other states', async (t) => {
  for (const first of [undefined, ...actions]) {
    const { sender, receiver, post } = await openTwoShops(app);
    const sideOf = (action: (typeof actions)[number]) => (action === 'withdraw' ? sender : receiver);
    const id = await sendRequest(app, sender, post);
    if (first === 'end') await transition(app, receiver, id, 'accept');
    if (first) t.equal((await transition(app, sideOf(first), id, first)).status, 200);
    const before = [await notifiedOf(app, sender), await notifiedOf(app, receiver)];
    const refusedActions = first
      ? actions.filter((one) => first !== 'accept' || one !== 'end')
      : ['end' as const];
    for (const second of refusedActions) {
      refused(t, await transition(app, sideOf(second), id, second), 409, 'invalid_transition');
      if (second === 'end') refused(t, await transition(app, sender, id, second), 409, 'invalid_transition');
    }
    t.strictSame(
      [await notifiedOf(app, sender), await notifiedOf(app, receiver)],
      before,
      'no side is notified',
    );
  }
});

t.test('a request is not found for third parties, nor for actions of the other side', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const stranger = await openShop(app, '다른 가게');
  const user = await createUser(app);
  const id = await sendRequest(app, sender, post);
  const missing = await transition(app, stranger, 2_147_483_647, 'accept');
  refused(t, missing, 404, 'partner_request_not_found');
  for (const [who, may] of [
    [sender, ['withdraw', 'end']],
    [receiver, ['accept', 'decline', 'end']],
    [stranger, []],
    [user, []],
  ] as const) {
    for (const action of actions.filter((one) => !may.some((allowed) => allowed === one))) {
      const answer = await transition(app, who, id, action);
      t.equal(answer.status, 404);
      t.strictSame(answer.body, missing.body);
    }
  }
  await transition(app, receiver, id, 'accept');
  for (const action of ['accept', 'end'] as const) {
    const answer = await transition(app, stranger, id, action);
    t.strictSame(answer.body, missing.body, 'also once it is accepted');
  }
});

t.test('a rejected request leaves its idempotency key free', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const headers = { 'idempotency-key': 'request-3' };
  const id = await sendRequest(app, sender, post);
  refused(t, await requestPartnership(app, sender, post, headers), 409, 'already_requested');
  await transition(app, receiver, id, 'decline');
  const { status, headers: responded } = await requestPartnership(app, sender, post, headers);
  t.equal(status, 201);
  t.notOk(responded['idempotency-replayed'], 'the rejection was not stored');
});

/** All that sending and answering requests writes. */
async function written() {
  await app.mails.settled();
  const { rows } = await app.pool.query(`
    SELECT (SELECT json_agg(r ORDER BY id) FROM partner_requests r) AS requests,
      (SELECT json_agg(n ORDER BY id) FROM notifications n) AS notifications,
      (SELECT json_agg(k ORDER BY key) FROM idempotency_keys k) AS keys`);
  return { ...rows[0], mails: app.mails.sent.length };
}

/** Makes a change wait for a user's row, ends its connection, and asserts that nothing was written. */
async function loseConnection(t: Test, userId: number, change: () => Promise<Answer>) {
  const before = await written();
  const lock = await lockRows(t, app, 'SELECT FROM users WHERE id = $1 FOR UPDATE', [userId]);
  const changed = change();
  const [backend] = await lock.waiters(1);
  await app.pool.query('SELECT pg_terminate_backend($1)', [backend]);
  const answer = await changed;
  refused(t, answer, 503, 'service_unavailable');
  t.match(answer.headers['retry-after'], /^\d+$/);
  await lock.release();
  t.strictSame(await written(), before);
}

t.test('a request whose connection is lost before the commit leaves nothing, and its key free', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const send = () => requestPartnership(app, sender, post, { 'idempotency-key': 'dies' });
  await loseConnection(t, receiver.id, send);
  const again = await send();
  t.equal(again.status, 201);
  t.strictSame(await notifiedOf(app, receiver), [['received', again.body.data.id, '요청됨']]);
});

t.test('a transition or deletion whose connection is lost before the commit changes nothing', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const id = await sendRequest(app, sender, post);
  const { token } = receiver;
  await loseConnection(t, sender.id, () => transition(app, receiver, id, 'accept'));
  await loseConnection(t, sender.id, () => app.call('DELETE', `/api/v1/posts/${post.id}/`, { token }));
  t.equal((await transition(app, receiver, id, 'accept')).status, 200);
});

t.test('a request that waits too long for a lock gets 503', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const lock = await lockRows(t, app, 'SELECT FROM posts WHERE id = $1 FOR UPDATE', [post.id]);
  const started = Date.now();
  refused(t, await requestPartnership(app, sender, post), 503, 'service_unavailable');
  t.ok(Date.now() - started < 10_000);
  await lock.release();
  t.strictSame(await notifiedOf(app, receiver), []);
});
