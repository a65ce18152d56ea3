import t, { type Test } from 'tap';
import { type Answer, createTestApp, createUser } from '../support/app.ts';
import { exhausted, refused, tally } from '../support/assertions.ts';
import { lockRows } from '../support/concurrency.ts';
import {
  notificationsOf,
  openTwoShops,
  requestPartnership,
  sendRequest,
  transition,
} from '../support/partner-requests.ts';
import { createPost, openShop, type Shop, type TestPost } from '../support/stores.ts';

const app = await createTestApp({ QUOTA_REQUESTS_PER_DAY: '8', DATABASE_POOL_SIZE: '20' });
t.teardown(app.close);

const day = 86_400;

function usedUp(t: Test, answer: Answer, most = day): void {
  exhausted(t, answer, most, most - 120);
}

/** Sends a request and withdraws it, so that another one for the post is possible. */
async function askAndWithdraw(sender: Shop, post: Pick<TestPost, 'id'>): Promise<number> {
  const id = await sendRequest(app, sender, post);
  await transition(app, sender, id, 'withdraw');
  return id;
}

/** Makes a request older. */
const age = (id: number, interval: string) =>
  app.pool.query('UPDATE partner_requests SET created_at = created_at - $2::interval WHERE id = $1', [
    id,
    interval,
  ]);

t.test('of concurrent requests of a store, as many as its quota are sent', async (t) => {
  // Stores with smaller and larger ids than the sender's, because stores are locked in the order of their ids.
  const older = [await openShop(app, '가게 1'), await openShop(app, '가게 2')];
  const sender = await openShop(app, '보내는 가게');
  const others = [...older, await openShop(app, '가게 3'), await openShop(app, '가게 4')];
  const own = await createPost(app, sender.token);
  const posts: TestPost[] = [];
  for (const { token } of [...others, ...others, ...others]) posts.push(await createPost(app, token));
  // All requests wait for the sender's store, so that they continue at the same moment.
  const lock = await lockRows(t, app, 'SELECT FROM stores WHERE id = $1 FOR UPDATE', [sender.store.id]);
  const sent = posts.map((post) => requestPartnership(app, sender, post));
  const received = others.map((shop) => requestPartnership(app, shop, own));
  await lock.waiters(sent.length + received.length);
  await lock.release();
  t.strictSame(tally(await Promise.all(sent)), { '201': 8, '429 quota_exceeded': 4 });
  t.strictSame(tally(await Promise.all(received)), { 201: 4 }, 'what a store receives does not count');
  const { rows } = await app.pool.query(
    'SELECT count(*)::int AS sent FROM partner_requests WHERE sender_store_id = $1',
    [sender.store.id],
  );
  t.equal(rows[0].sent, 8);
});

t.test('a quota has room again 24 hours after its oldest request, in whatever state that is', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const oldest = await askAndWithdraw(sender, post);
  for (let turn = 0; turn < 3; turn++) await askAndWithdraw(sender, post);
  const other = await createPost(app, receiver.token);
  for (let turn = 0; turn < 4; turn++) await askAndWithdraw(sender, other);
  const { unread_count: before } = await notificationsOf(app, receiver);
  usedUp(t, await requestPartnership(app, sender, post));
  t.equal(
    (await notificationsOf(app, receiver)).unread_count,
    before,
    'a rejected request notifies of nothing',
  );
  await age(oldest, '23 hours');
  usedUp(t, await requestPartnership(app, sender, post), 3_600);
  await age(oldest, '1 hour');
  t.equal((await requestPartnership(app, sender, post)).status, 201);
  usedUp(t, await requestPartnership(app, sender, await createPost(app, receiver.token)));
});

t.test('a store sends five requests a day for one post', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const oldest = await askAndWithdraw(sender, post);
  for (let turn = 0; turn < 4; turn++) await askAndWithdraw(sender, post);
  usedUp(t, await requestPartnership(app, sender, post));
  const other = await createPost(app, receiver.token);
  t.equal((await requestPartnership(app, sender, other)).status, 201, 'another post has five more');
  const third = await openShop(app, '셋째 가게');
  t.equal((await requestPartnership(app, third, post)).status, 201, 'another store has five more');
  await age(oldest, '24 hours');
  t.equal((await requestPartnership(app, sender, post)).status, 201);
});

t.test('a used-up quota is the last thing that is checked', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  await transition(app, receiver, await sendRequest(app, sender, post), 'accept');
  const own = await createPost(app, sender.token);
  const other = await createPost(app, receiver.token);
  for (let turn = 0; turn < 5; turn++) await askAndWithdraw(sender, other);
  for (let turn = 0; turn < 2; turn++) await askAndWithdraw(sender, await createPost(app, receiver.token));
  usedUp(t, await requestPartnership(app, sender, other));
  refused(t, await requestPartnership(app, sender, post), 409, 'already_requested');
  refused(t, await requestPartnership(app, sender, own), 409, 'own_post');
  refused(t, await requestPartnership(app, sender, { id: 2_147_483_647 }), 404, 'post_not_found');
  refused(t, await requestPartnership(app, await createUser(app), post), 403, 'store_required');
});

t.test('a first answer is given again, whatever the quota', async (t) => {
  const { sender, post } = await openTwoShops(app);
  const headers = { 'idempotency-key': 'request-quota' };
  const first = await requestPartnership(app, sender, post, headers);
  await transition(app, sender, first.body.data.id, 'withdraw');
  for (let turn = 0; turn < 4; turn++) await askAndWithdraw(sender, post);
  const refusedKey = { 'idempotency-key': 'request-quota-refused' };
  usedUp(t, await requestPartnership(app, sender, post, refusedKey));
  const again = await requestPartnership(app, sender, post, headers);
  t.strictSame([again.status, again.body], [201, first.body]);
  t.equal(again.headers['idempotency-replayed'], 'true');
  await age(first.body.data.id, '24 hours');
  const retried = await requestPartnership(app, sender, post, refusedKey);
  t.equal(retried.status, 201, 'the key of a refused request is free');
});

t.test('without a quota a store asks as often as it likes', async (t) => {
  const free = await createTestApp({ QUOTA_REQUESTS_PER_DAY: '0' });
  t.teardown(free.close);
  const { sender, post } = await openTwoShops(free);
  for (let turn = 0; turn < 6; turn++) {
    await transition(free, sender, await sendRequest(free, sender, post), 'withdraw');
  }
  t.equal((await requestPartnership(free, sender, post)).status, 201);
});
