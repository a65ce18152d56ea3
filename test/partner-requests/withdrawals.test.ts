import t from 'tap';
import { createTestApp } from '../support/app.ts';
import { refused, tally } from '../support/assertions.ts';
import { lockRows } from '../support/concurrency.ts';
import {
  notificationsOf,
  notifiedOf,
  openTwoShops,
  requestPartnership,
  requestsPath,
  sendRequest,
  strandedRequests,
  transition,
} from '../support/partner-requests.ts';
import { createPost, openShop, type Shop } from '../support/stores.ts';

const app = await createTestApp();
t.teardown(app.close);

const deletePost = (shop: Shop, id: number) =>
  app.call('DELETE', `/api/v1/posts/${id}/`, { token: shop.token });
const deleteAccount = ({ token, password }: Shop) =>
  app.call('DELETE', '/auth/me/', { token, body: { password } });

t.test('deleting a post withdraws its pending requests and tells their senders', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const second = await openShop(app, '둘째 가게');
  const accepted = await openShop(app, '수락된 가게');
  const other = await createPost(app, receiver.token);
  const ids = [await sendRequest(app, sender, post), await sendRequest(app, second, post)];
  const acceptedId = await sendRequest(app, accepted, post);
  await transition(app, receiver, acceptedId, 'accept');
  const otherId = await sendRequest(app, sender, other);
  t.equal((await deletePost(receiver, post.id)).status, 200);
  t.strictSame(await notifiedOf(app, sender), [['withdrawn', ids[0], '취소됨']]);
  t.strictSame(await notifiedOf(app, second), [['withdrawn', ids[1], '취소됨']]);
  t.strictSame(
    await notifiedOf(app, accepted),
    [['accepted', acceptedId, '수락됨']],
    'what is settled stays',
  );
  const [newest] = await notifiedOf(app, receiver);
  t.strictSame(newest, ['received', otherId, '요청됨'], 'who deletes is not told');
  const { items } = await notificationsOf(app, sender);
  t.equal(items[0].partner_request.post_title, '주말 공동 할인', 'the title stays readable');
  refused(t, await transition(app, receiver, ids[0] ?? 0, 'accept'), 409, 'invalid_transition');
});

t.test('a request that is being sent is seen by the deletion of the post', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const held = await lockRows(t, app, 'SELECT FROM users WHERE id = $1 FOR UPDATE', [receiver.id]);
  const asked = requestPartnership(app, sender, post);
  await held.waiters(1);
  const deleted = deletePost(receiver, post.id);
  await held.waiters(2);
  await held.release();
  t.equal((await asked).status, 201);
  t.equal((await deleted).status, 200);
  const id = (await asked).body.data.id;
  t.strictSame(await notifiedOf(app, sender), [['withdrawn', id, '취소됨']]);
  t.strictSame(await strandedRequests(app), []);
});

t.test('a request for a post that is being deleted is refused', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const earlier = await openShop(app, '먼저 온 가게');
  const id = await sendRequest(app, earlier, post);
  const held = await lockRows(t, app, 'SELECT FROM partner_requests WHERE id = $1 FOR UPDATE', [id]);
  const deleted = deletePost(receiver, post.id);
  await held.waiters(1);
  const asked = requestPartnership(app, sender, post);
  await held.waiters(2);
  await held.release();
  t.equal((await deleted).status, 200);
  refused(t, await asked, 404, 'post_not_found');
  t.strictSame(await strandedRequests(app), []);
});

t.test('an answer and the deletion of the post or the account: one wins', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const id = await sendRequest(app, sender, post);
  const held = await lockRows(t, app, 'SELECT FROM users WHERE id = $1 FOR UPDATE', [sender.id]);
  const accepted = transition(app, receiver, id, 'accept');
  await held.waiters(1);
  const deleted = deletePost(receiver, post.id);
  await held.waiters(2);
  await held.release();
  t.equal((await accepted).status, 200);
  t.equal((await deleted).status, 200);
  t.strictSame(await notifiedOf(app, sender), [['accepted', id, '수락됨']]);
});

t.test('whatever crosses, no pending request is left on what is gone', async (t) => {
  for (let round = 0; round < 6; round++) {
    const { sender, receiver, post } = await openTwoShops(app);
    const shops = await Promise.all([1, 2, 3].map((index) => openShop(app, `가게 ${index}`)));
    const own = await createPost(app, sender.token);
    const pending = await sendRequest(app, receiver, own);
    const crossing = await Promise.all([
      ...shops.map((shop) => requestPartnership(app, shop, post)),
      round % 2 === 0 ? deletePost(receiver, post.id) : deleteAccount(receiver),
      ...shops.map((shop) => requestPartnership(app, shop, own)),
      round % 3 === 0 ? deleteAccount(sender) : deletePost(sender, own.id),
      transition(app, sender, pending, 'accept'),
      transition(app, receiver, pending, 'withdraw'),
      app.call('GET', requestsPath, { token: receiver.token }),
    ]);
    const broken = crossing.filter(({ status }) => status >= 500);
    t.strictSame(
      broken.map(({ text }) => text),
      [],
      JSON.stringify(tally(crossing)),
    );
    t.strictSame(await strandedRequests(app), []);
  }
});
