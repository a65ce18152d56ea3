import t from 'tap';
import { mailsTo } from '../auth/mailbox.ts';
import { createTestApp, deleteAccount, suspend } from '../support/app.ts';
import { exhausted, rejected, tally } from '../support/assertions.ts';
import { inOrder, inParallel, rowOf } from '../support/concurrency.ts';
import {
  becomePartners,
  notificationsOf,
  notifiedOf,
  openTwoShops,
  openTwoVerifiedShops,
  requestPartnership,
  requestsPath,
  sendRequest,
  strandedRequests,
  transition,
} from '../support/partner-requests.ts';
import { countRows } from '../support/rows.ts';
import { createPost, openShop, type Shop, type TestPost } from '../support/stores.ts';

const app = await createTestApp();

const actions = ['accept', 'decline', 'withdraw'] as const;
const deletePost = (shop: Shop, id: number) =>
  app.call('DELETE', `/api/v1/posts/${id}/`, { token: shop.token });

/** Kinds of the notifications of two owners. */
const kindsTo = async (one: Shop, other: Shop) =>
  [...(await notifiedOf(app, one)), ...(await notifiedOf(app, other))].map(([kind]) => kind);

t.test('of 20 concurrent requests for a post, one is created, notified and mailed', async (t) => {
  const { sender, receiver, post } = await openTwoVerifiedShops(app);
  const responses = await inParallel(20, () => requestPartnership(app, sender, post));
  t.strictSame(tally(responses), { '201': 1, '409 already_requested': 19 });
  t.equal(await countRows(app, 'partner_requests WHERE post_id = $1', post.id), 1);
  t.strictSame(await kindsTo(sender, receiver), ['received']);
  t.equal((await mailsTo(app, receiver.email)).length, 1, 'one request');
});

t.test('of 20 concurrent transitions, one succeeds', async (t) => {
  for (let round = 0; round < 3; round++) {
    const { sender, receiver, post } = await openTwoShops(app);
    const id = await sendRequest(app, sender, post);
    const responses = await inParallel(20, (index) => {
      const action = actions[(index + round) % 3] ?? 'accept';
      return transition(app, action === 'withdraw' ? sender : receiver, id, action);
    });
    t.strictSame(tally(responses), { '200': 1, '409 invalid_transition': 19 });
    const won = responses.find(({ status }) => status === 200)?.body.data.status;
    const kind = { 수락됨: 'accepted', 거절됨: 'declined', 취소됨: 'withdrawn' }[String(won)];
    t.strictSame((await kindsTo(sender, receiver)).sort(), [`${kind}`, 'received'].sort());
  }
});

t.test('of both sides that end a partnership at once, one does; asking again waits for it', async (t) => {
  const shops = await openTwoShops(app);
  const { sender, receiver, post } = shops;
  const id = await becomePartners(app, shops);
  const [asked, ...ended] = await Promise.all([
    requestPartnership(app, sender, post),
    ...Array.from({ length: 10 }, (_, index) => transition(app, index % 2 ? sender : receiver, id, 'end')),
  ]);
  t.strictSame(tally(ended), { '200': 1, '409 invalid_transition': 9 });
  if (asked?.status !== 201) rejected(t, asked ?? ended[0], 409, 'already_requested');
  t.equal((await kindsTo(sender, receiver)).filter((kind) => kind === 'ended').length, 1);
  const open = "partner_requests WHERE status IN ('requested', 'accepted') AND post_id = $1";
  t.equal(await countRows(app, open, post.id), asked?.status === 201 ? 1 : 0);
});

t.test('an acceptance during the deletion of an account is ended by it', async (t) => {
  for (const leaving of ['sender', 'receiver'] as const) {
    const { sender, receiver, post } = await openTwoShops(app);
    const id = await sendRequest(app, sender, post);
    const [gone, left] = leaving === 'sender' ? [sender, receiver] : [receiver, sender];
    // The acceptance has changed the request and waits before it notifies the sender.
    const count: [string, number] = ['INSERT INTO notification_counts VALUES ($1, 0)', sender.id];
    const accept = () => transition(app, receiver, id, 'accept');
    const [accepted, deleted] = await inOrder(t, app, count, accept, () => deleteAccount(app, gone));
    t.strictSame([accepted.status, deleted.status], [200, 200], leaving);
    t.strictSame((await notifiedOf(app, left))[0], ['ended', id, '종료됨'], leaving);
    t.strictSame(await strandedRequests(app), []);
  }
});

t.test('the deletion of a post withdraws an uncommitted request', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const ask = () => requestPartnership(app, sender, post);
  const [asked, deleted] = await inOrder(t, app, receiver, ask, () => deletePost(receiver, post.id));
  t.strictSame([asked.status, deleted.status], [201, 200]);
  t.strictSame(await notifiedOf(app, sender), [['withdrawn', asked.body.data.id, '취소됨']]);
  t.strictSame(await strandedRequests(app), []);
});

t.test('a request for a post in deletion is rejected', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const earlier = await openShop(app, '먼저 온 가게');
  const id = await sendRequest(app, earlier, post);
  const row = rowOf('partner_requests', { id });
  const remove = () => deletePost(receiver, post.id);
  const [deleted, asked] = await inOrder(t, app, row, remove, () => requestPartnership(app, sender, post));
  t.equal(deleted.status, 200);
  rejected(t, asked, 404, 'post_not_found');
  t.strictSame(await strandedRequests(app), []);
});

t.test('a post deleted during an acceptance leaves the request accepted', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const id = await sendRequest(app, sender, post);
  const accept = () => transition(app, receiver, id, 'accept');
  const [accepted, deleted] = await inOrder(t, app, sender, accept, () => deletePost(receiver, post.id));
  t.strictSame([accepted.status, deleted.status], [200, 200]);
  t.strictSame(await notifiedOf(app, sender), [['accepted', id, '수락됨']]);
});

t.test('requests, answers and deletions at once leave no open request of what is deleted', async (t) => {
  for (const [receiverLeaves, senderLeaves, isSuspended] of [
    [false, false],
    [false, true],
    [true, false],
    [true, true],
    [true, true, true],
  ]) {
    const { sender, receiver, post } = await openTwoVerifiedShops(app);
    const shops = await Promise.all([1, 2, 3].map((index) => openShop(app, `가게 ${index}`)));
    const own = await createPost(app, sender.token);
    const pending = await sendRequest(app, receiver, own);
    const other = await createPost(app, receiver.token);
    const partnership = await becomePartners(app, { sender, receiver, post: other });
    const crossing = await Promise.all([
      ...shops.map((shop) => requestPartnership(app, shop, post)),
      receiverLeaves ? deleteAccount(app, receiver) : deletePost(receiver, post.id),
      ...shops.map((shop) => requestPartnership(app, shop, own)),
      senderLeaves ? deleteAccount(app, sender) : deletePost(sender, own.id),
      transition(app, sender, pending, 'accept'),
      transition(app, receiver, pending, 'withdraw'),
      transition(app, receiver, partnership, 'end'),
      ...(isSuspended ? [sender, receiver].map((one) => suspend(app, one).then(() => [])) : []),
      transition(app, receiver, partnership, 'end'),
      transition(app, sender, partnership, 'end'),
      app.call('GET', requestsPath, { token: receiver.token }),
    ]);
    t.notMatch(JSON.stringify(tally(crossing.flat())), /"5\d\d/);
    t.strictSame(await strandedRequests(app), []);
  }
});

/** Sends a request and withdraws it, so that another one for the post is possible. */
async function askAndWithdraw(sender: Shop, post: Pick<TestPost, 'id'>): Promise<number> {
  const id = await sendRequest(app, sender, post);
  await transition(app, sender, id, 'withdraw');
  return id;
}

t.test('what a store receives does not count for its quota', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  await app.pool.query(
    `INSERT INTO partner_requests (post_id, sender_store_id, receiver_store_id, status, message)
     SELECT $1, $2, $3, 'withdrawn', '함께' FROM generate_series(1, 100)`,
    [post.id, sender.store.id, receiver.store.id],
  );
  await sendRequest(app, receiver, await createPost(app, sender.token));
  t.equal((await notifiedOf(app, sender)).length, 1);
});

t.test('a store sends five requests a day for one post', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const oldest = await askAndWithdraw(sender, post);
  for (let turn = 0; turn < 4; turn++) await askAndWithdraw(sender, post);
  const { unread_count: before } = await notificationsOf(app, receiver);
  exhausted(t, await requestPartnership(app, sender, post), 86_400, 86_280);
  const { unread_count } = await notificationsOf(app, receiver);
  t.equal(unread_count, before, 'a rejected request notifies of nothing');
  const other = await createPost(app, receiver.token);
  t.equal((await requestPartnership(app, sender, other)).status, 201, 'another post has five more');
  const third = await openShop(app, '셋째 가게');
  t.equal((await requestPartnership(app, third, post)).status, 201, 'another store has five more');
  const aDayLater = "UPDATE partner_requests SET created_at = created_at - interval '24 hours' WHERE id = $1";
  await app.pool.query(aDayLater, [oldest]);
  t.equal((await requestPartnership(app, sender, post)).status, 201);
});
