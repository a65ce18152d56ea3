import t from 'tap';
import { createTestApp, createUser } from '../support/app.ts';
import { refused, tally } from '../support/assertions.ts';
import { lockRows, waitForSleep } from '../support/concurrency.ts';
import {
  notificationsOf,
  notifiedOf,
  openTwoShops,
  requestPartnership,
  requestsPath,
  sendRequest,
  transition,
} from '../support/partner-requests.ts';
import { createPost, createStore, openShop, type Shop } from '../support/stores.ts';

const app = await createTestApp();
t.teardown(app.close);

const deletePost = (shop: Shop, id: number) =>
  app.call('DELETE', `/api/v1/posts/${id}/`, { token: shop.token });
const deleteAccount = ({ token, password }: Shop) =>
  app.call('DELETE', '/auth/me/', { token, body: { password } });

/** Pending requests that nobody can answer any more; there must never be one. */
async function stranded(): Promise<number[]> {
  const { rows } = await app.pool.query(`
    SELECT r.id FROM partner_requests r
    JOIN posts p ON p.id = r.post_id
    JOIN stores s ON s.id = r.sender_store_id
    JOIN stores v ON v.id = r.receiver_store_id
    WHERE r.status = 'requested'
      AND (p.deleted_at IS NOT NULL OR s.closed_at IS NOT NULL OR v.closed_at IS NOT NULL
        OR s.owner_id IS NULL OR v.owner_id IS NULL)`);
  return rows.map(({ id }) => id);
}

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

t.test('deleting an account withdraws what it sent and received, and tells the other sides', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const third = await openShop(app, '셋째 가게');
  const own = await createPost(app, sender.token, { title: '내 글' });
  const sent = await sendRequest(app, sender, post);
  const received = await sendRequest(app, third, own);
  const settled = await sendRequest(app, receiver, own);
  await transition(app, sender, settled, 'accept');
  t.equal((await deleteAccount(sender)).status, 200);
  t.strictSame(
    (await notifiedOf(app, receiver)).sort(),
    [
      ['withdrawn', sent, '취소됨'],
      ['received', sent, '취소됨'],
      ['accepted', settled, '수락됨'],
    ].sort(),
  );
  t.strictSame(await notifiedOf(app, third), [['withdrawn', received, '취소됨']]);
  const sentence = async (shop: Shop) => (await notificationsOf(app, shop)).items[0].message;
  t.equal(
    await sentence(receiver),
    '두레 베이커리에서 ‘주말 공동 할인’ 글에 보낸 제휴 요청이 취소되었습니다.',
  );
  t.equal(await sentence(third), '두레 베이커리에서 올린 ‘내 글’ 글이 삭제되어 제휴 요청이 취소되었습니다.');
  refused(t, await transition(app, receiver, sent, 'accept'), 409, 'invalid_transition');
  refused(t, await transition(app, third, received, 'withdraw'), 409, 'invalid_transition');
  t.strictSame(await stranded(), []);
});

t.test('the store of a deleted account keeps its name and loses how to reach it', async (t) => {
  const shop = await openShop(app, '떠나는 가게', {
    description: '소개',
    address: '서울',
    phone_number: '02-123-4567',
    business_hours: '매일',
  });
  const post = await createPost(app, shop.token);
  t.equal((await deleteAccount(shop)).status, 200);
  const { rows } = await app.pool.query(
    `SELECT owner_id, name, description, address, phone_number, business_hours, closed_at IS NOT NULL AS closed
     FROM stores WHERE id = $1`,
    [shop.store.id],
  );
  const blank = { description: '', address: '', phone_number: '', business_hours: '' };
  t.strictSame(rows, [{ owner_id: null, name: '떠나는 가게', ...blank, closed: true }]);
  const posts = await app.pool.query('SELECT deleted_at FROM posts WHERE id = $1', [post.id]);
  t.ok(posts.rows[0].deleted_at);
});

t.test('the answers that were kept for the keys of a deleted account go with it', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const kept = await requestPartnership(app, receiver, await createPost(app, sender.token), {
    'idempotency-key': 'mine',
  });
  t.equal(kept.status, 201);
  t.equal((await requestPartnership(app, sender, post, { 'idempotency-key': 'mine' })).status, 201);
  await deleteAccount(sender);
  const { rows } = await app.pool.query('SELECT scope FROM idempotency_keys WHERE key = $1', ['mine']);
  t.strictSame(rows, [{ scope: `${receiver.id}:createPartnerRequest` }]);
});

t.test('an account without a store, and one without requests, can be deleted', async (t) => {
  const shop = await openShop(app, '조용한 가게');
  t.equal((await deleteAccount(shop)).status, 200);
  const again = await openShop(app, '조용한 가게');
  t.not(again.store.id, shop.store.id);
});

t.test('a store that is being registered while its account is deleted is closed', async (t) => {
  const user = await createUser(app);
  await app.pool.query(`
    CREATE FUNCTION pause() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.7); RETURN NEW; END $$;
    CREATE TRIGGER pause BEFORE INSERT ON store_category_links FOR EACH ROW EXECUTE FUNCTION pause()`);
  t.teardown(() => app.pool.query('DROP FUNCTION pause CASCADE'));
  const registered = createStore(app, user.token);
  await waitForSleep(app);
  const body = { password: user.password };
  t.equal((await app.call('DELETE', '/auth/me/', { token: user.token, body })).status, 200);
  const { id } = await registered;
  const { rows } = await app.pool.query('SELECT owner_id, closed_at FROM stores WHERE id = $1', [id]);
  t.equal(rows[0].owner_id, null);
  t.ok(rows[0].closed_at);
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
  t.strictSame(await stranded(), []);
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
  t.strictSame(await stranded(), []);
});

t.test('requests from and to an account that is being deleted are refused', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const own = await createPost(app, sender.token);
  const id = await sendRequest(app, receiver, own);
  const held = await lockRows(t, app, 'SELECT FROM partner_requests WHERE id = $1 FOR UPDATE', [id]);
  const deleted = deleteAccount(sender);
  await held.waiters(1);
  const third = await openShop(app, '셋째 가게');
  const asked = requestPartnership(app, third, own);
  const asking = requestPartnership(app, sender, post, { 'idempotency-key': 'leaving' });
  await held.waiters(3);
  await held.release();
  t.equal((await deleted).status, 200);
  refused(t, await asked, 404, 'post_not_found');
  refused(t, await asking, 403, 'store_required');
  t.strictSame(await stranded(), []);
  const { rows } = await app.pool.query("SELECT FROM idempotency_keys WHERE key = 'leaving'");
  t.equal(rows.length, 0);
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
    t.strictSame(await stranded(), []);
  }
});

t.test('two accounts with requests for each other can be deleted at once', async (t) => {
  for (let round = 0; round < 4; round++) {
    const { sender, receiver } = await openTwoShops(app);
    for (let index = 0; index < 4; index++) {
      await sendRequest(app, sender, await createPost(app, receiver.token));
      await sendRequest(app, receiver, await createPost(app, sender.token));
    }
    const deletions = await Promise.all([deleteAccount(sender), deleteAccount(receiver)]);
    t.strictSame(tally(deletions), { 200: 2 });
    t.strictSame(await stranded(), []);
  }
});
