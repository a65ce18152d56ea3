import t from 'tap';
import { createNotificationRepository } from '../../src/domains/notifications/inbox/repository.ts';
import { savedSearchesIn } from '../saved-searches/searching.ts';
import { createTestApp, createUser, deleteAccount } from '../support/app.ts';
import { invalid, tally } from '../support/assertions.ts';
import { during, inOrder, inParallel, lockRows, pauseInserts } from '../support/concurrency.ts';
import { openTestDatabase } from '../support/database.ts';
import type { Json } from '../support/json.ts';
import {
  notificationsOf,
  notifiedOf,
  openTwoShops,
  requestPartnership,
  sendRequest,
} from '../support/partner-requests.ts';
import { countRows, tablesWith } from '../support/rows.ts';
import { createPost, openShop, type Shop } from '../support/stores.ts';
import { notificationsIn } from './notified.ts';

const app = await createTestApp();
const { idsOf, markRead, notified } = notificationsIn(app);
const { search, matched, remove } = savedSearchesIn(app);
const images = ['https://cdn.example.com/a.jpg'];
const all = { up_to_id: Number.MAX_SAFE_INTEGER };

const idsIn = ({ items }: { items: { id: number }[] }) => items.map(({ id }) => id);

t.test('pages go from the newest to the oldest while notifications are added and removed', async (t) => {
  const { sender, receiver, ids } = await notified(6);
  const first = await notificationsOf(app, receiver, '?limit=2');
  t.strictSame(idsIn(first), ids.slice(0, 2));
  t.equal(first.unread_count, 6);
  await sendRequest(app, sender, await createPost(app, receiver.token));
  await app.pool.query('DELETE FROM notifications WHERE id = ANY ($1)', [[ids[1], ids[2]]]);
  const second = await notificationsOf(app, receiver, `?limit=2&cursor=${first.next_cursor}`);
  t.strictSame(idsIn(second), ids.slice(3, 5));
  const third = await notificationsOf(app, receiver, `?limit=2&cursor=${second.next_cursor}`);
  t.strictSame(idsIn(third), ids.slice(5));
  t.equal(third.next_cursor, null);
  t.equal(third.unread_count, 7, 'counts all pages');
});

t.test('pages that are read together are those that were asked for', async (t) => {
  const { sender, receiver, ids } = await notified(4);
  await sendRequest(app, receiver, await createPost(app, sender.token));
  const ofSender = await idsOf(sender);
  const { next_cursor } = await notificationsOf(app, receiver, '?limit=3');
  await markRead(receiver, { ids: ids.slice(0, 1) });
  const asked = [
    [receiver, '', ids, 3],
    [receiver, '?limit=2', ids.slice(0, 2), 3],
    [sender, '', ofSender, 1],
    [receiver, `?cursor=${next_cursor}`, ids.slice(3), 3],
    [receiver, '?is_read=true', ids.slice(0, 1), 3],
    [receiver, '?is_read=false&limit=1', ids.slice(1, 2), 3],
    [receiver, `?is_read=false&cursor=${next_cursor}`, ids.slice(3), 3],
  ] as const;
  // More than are read with one statement.
  const twice = [...asked, ...asked];
  const pages = await Promise.all(twice.map(([shop, query]) => notificationsOf(app, shop, query)));
  for (const [index, [, query, expected, unread]] of twice.entries()) {
    t.strictSame([idsIn(pages[index]), pages[index].unread_count], [expected, unread], query);
  }
});

t.test('marking ids as read is idempotent; ids of others and unknown ones are not counted', async (t) => {
  const { receiver, ids } = await notified(4);
  const stranger = await openShop(app, '다른 가게');
  const nothing = { updated_count: 0, unread_count: 0 };
  t.strictSame((await markRead(stranger, { ids })).body.data, nothing);
  t.strictSame((await markRead(stranger, all)).body.data, nothing);
  t.strictSame(await idsOf(receiver, '?is_read=false'), ids);
  const some = { ids: [ids[2], ids[0], ids[2], 1, Number.MAX_SAFE_INTEGER] };
  t.strictSame((await markRead(receiver, some)).body.data, { updated_count: 2, unread_count: 2 });
  t.strictSame((await markRead(receiver, some)).body.data, { updated_count: 0, unread_count: 2 });
  t.strictSame(await idsOf(receiver, '?is_read=true'), [ids[0], ids[2]]);
});

t.test('up_to_id marks a notification and all older ones', async (t) => {
  const { receiver, ids } = await notified(4);
  const upTo = { up_to_id: ids[1] };
  t.strictSame((await markRead(receiver, upTo)).body.data, { updated_count: 3, unread_count: 1 });
  t.strictSame((await markRead(receiver, upTo)).body.data, { updated_count: 0, unread_count: 1 });
  t.strictSame(await idsOf(receiver, '?is_read=false'), [ids[0]]);
  t.strictSame((await markRead(receiver, all)).body.data, { updated_count: 1, unread_count: 0 });
});

t.test('marking as read takes either ids or up_to_id', async (t) => {
  const user = await createUser(app);
  const { ids } = invalid(t, await markRead(user, { ids: [1], up_to_id: 1 }), 'ids', 'up_to_id');
  t.strictSame(ids, ['다음 중 하나만 보내 주세요: ids, up_to_id']);
});

const count = (shop: Shop, headers: Record<string, string> = {}) =>
  app.call('GET', '/api/v1/notifications/unread-count/', { token: shop.token, headers });

t.test('a client that knows the count gets 304 without a body until it changes', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const first = await count(receiver);
  t.match(first.body, { message: '읽지 않은 알림 수를 조회했습니다.', data: { unread_count: 0 } });
  const tag = String(first.headers.etag);
  t.match(tag, /^"[^"]+"$/);
  const lists = [`W/"other" ,W/${tag}`, `"a,b",${tag}`];
  const headers = { etag: tag, 'cache-control': 'private, no-cache', vary: first.headers.vary };
  for (const known of [`W/${tag}`, ...lists, '*', ' * '])
    t.match(await count(receiver, { 'if-none-match': known }), { status: 304, text: '', headers }, known);
  for (const unknown of ['"other"', tag.slice(1, -1), `${tag.slice(0, -1)}x"`, 'W/"*"', '']) {
    t.equal((await count(receiver, { 'if-none-match': unknown })).status, 200, unknown);
  }
  await sendRequest(app, sender, post);
  const changed = await count(receiver, { 'if-none-match': tag });
  t.match(changed, { status: 200, body: { data: { unread_count: 1 } } });
  t.not(changed.headers.etag, tag);
  t.equal((await count(sender)).body.data.unread_count, 0);
});

t.test('both kinds are in one list, are counted together and stay the same when they are read', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const searchId = await search(receiver, { q: '같이 만드는 달력' });
  await sendRequest(app, sender, post);
  const found = await createPost(app, sender.token, { title: '같이 만드는 달력', images });
  await matched();
  const { items, unread_count } = await notificationsOf(app, receiver);
  t.equal(unread_count, 2);
  const [match, request] = items;
  t.match(request, { kind: 'partner_request_received', partner_request: { post_id: post.id } });
  t.match(match, { kind: 'saved_search_match', post: { id: found.id }, saved_search_id: searchId });
  const english = await notificationsOf(app, receiver, '', { 'accept-language': 'en' });
  const sentence = '두레 베이커리 published “같이 만드는 달력”, which matches your saved search.';
  t.equal(english.items[0].message, sentence);

  t.match((await markRead(receiver, { ids: [match.id] })).body.data, { updated_count: 1, unread_count: 1 });
  t.strictSame((await notificationsOf(app, receiver, '?is_read=false')).items, [request]);
  t.strictSame((await notificationsOf(app, receiver, '?is_read=true')).items, [{ ...match, is_read: true }]);
  await markRead(receiver, { up_to_id: match.id });
  t.strictSame((await notificationsOf(app, receiver)).items, [
    { ...match, is_read: true },
    { ...request, is_read: true },
  ]);
});

t.test('of a post that is gone, title and store stay', async (t) => {
  const { sender, receiver } = await openTwoShops(app);
  const searchId = await search(receiver, { q: '같이 굽는 쿠키' });
  const kept = await createPost(app, sender.token, { title: '같이 굽는 쿠키', images: [] });
  const hidden = await createPost(app, sender.token, { title: '같이 굽는 쿠키', images });
  await matched();
  await remove(receiver, searchId);
  const show = async () =>
    (await notificationsOf(app, receiver)).items
      .map(({ post, store, saved_search_id }: Json) => ({ ...post, store, saved_search_id }))
      .sort((a: Json, b: Json) => a.id - b.id);
  const { thumbnail } = kept;
  t.match(await show(), [{ thumbnail }, { thumbnail: images[0], saved_search_id: searchId }]);
  const gone = [
    { id: kept.id, thumbnail },
    { id: hidden.id, title: '같이 굽는 쿠키', thumbnail, store: hidden.store, saved_search_id: searchId },
  ];
  await app.pool.query('UPDATE posts SET hidden_at = now() WHERE id = $1', [hidden.id]);
  t.match(await show(), gone);
  await app.pool.query('UPDATE posts SET hidden_at = NULL WHERE id = $1', [hidden.id]);
  await app.pool.query('UPDATE stores SET suspended_at = now() WHERE id = $1', [sender.store.id]);
  t.match(await show(), gone);
  await app.pool.query('UPDATE stores SET suspended_at = NULL WHERE id = $1', [sender.store.id]);
  await app.call('DELETE', `/api/v1/posts/${hidden.id}/`, { token: sender.token });
  t.match(await show(), gone);
});

t.test('what waits while a migration adds a column responds as before', async (t) => {
  const app = await createTestApp({}, { isolated: true });
  const { sender, receiver, post } = await openTwoShops(app);
  await sendRequest(app, sender, post);
  for (const [path, table] of [
    ['notifications/mypage/', 'notifications'],
    ['notifications/mypage/', 'partner_requests'],
    ['notifications/unread-count/', 'notification_counts'],
    ['notifications/partner-request/', 'partner_requests'],
    ['posts/', 'posts'],
    ['posts/?q=%ED%95%A0', 'posts'],
    [`posts/${post.id}/`, 'stores'],
    ['stores/', 'stores'],
    ['stores/mypage/', 'partner_requests'],
    ['saved-searches/', 'saved_searches'],
  ]) {
    const read = () => app.call('GET', `/api/v1/${path}`, { token: receiver.token });
    const before = await read();
    const add = `ALTER TABLE ${table} ADD COLUMN added_${app.logs.length} int`;
    const { status, body } = await during(t, app, [add], read);
    t.strictSame([status, body], [200, before.body], `${path} and ${table}`);
  }
  const { listAfter } = createNotificationRepository(openTestDatabase(t, app.url), { wake: () => undefined });
  const add = 'ALTER TABLE notifications ADD COLUMN added int';
  t.equal(
    (await during(t, app, [add], () => listAfter(receiver.id, 0, 1))).length,
    1,
    'that of streams, too',
  );
});

const lockCount = 'SELECT FROM notification_counts WHERE user_id = $1 FOR UPDATE';

/** What each user's count is, and what it must be: the unread rows. */
async function countsOf(...shops: Shop[]) {
  const { rows } = await app.pool.query(
    `SELECT u.id, coalesce(c.unread, 0) AS kept,
       (SELECT count(*)::int FROM notifications WHERE user_id = u.id AND NOT is_read) AS unread
     FROM users u LEFT JOIN notification_counts c ON c.user_id = u.id WHERE u.id = ANY ($1) ORDER BY u.id`,
    [shops.map(({ id }) => id)],
  );
  return { kept: rows.map((row) => row.kept), unread: rows.map((row) => row.unread) };
}

t.test('any number of notifications is marked, in transactions of bounded length', async (t) => {
  const { receiver, ids } = await notified(1);
  const added = 11_000;
  await app.pool.query(
    `WITH counted AS (UPDATE notification_counts SET unread = unread + $2 WHERE user_id = $1)
     INSERT INTO notifications (user_id, kind, partner_request_id)
     SELECT user_id, kind, partner_request_id FROM notifications, generate_series(1, $2) WHERE user_id = $1`,
    [receiver.id, added],
  );
  // Both wait for the count before their first batch, and one of them finds it marked.
  const mark = () => markRead(receiver, all);
  const responses = await inOrder(t, app, [lockCount, receiver.id], mark, mark);
  const updated = responses.map(({ body }) => body.data.updated_count);
  t.equal(updated[0] + updated[1], added + ids.length);
  const left = responses.map(({ body }) => body.data.unread_count);
  t.strictSame(left, [0, 0], 'neither stops where the other one has marked');
  const batches = 'SELECT count(*)::int AS n FROM notifications WHERE user_id = $1 AND is_read GROUP BY xmin';
  const { rows } = await app.pool.query(`SELECT max(n) AS most FROM (${batches}) batches`, [receiver.id]);
  t.ok(rows[0].most <= 5_000, `${rows[0].most} rows in one transaction`);
});

t.test('notifications of a user become visible in the order of their ids', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const other = await openShop(app, '다른 가게');
  // The end of a transaction with this key waits for the test, after its notification has got its id.
  const end = await pauseInserts(t, app, 'idempotency_keys', "NEW.key = 'slow'");
  const ask = () => requestPartnership(app, sender, post, { 'idempotency-key': 'slow' });
  const [slow, fast] = await inOrder(t, app, end, ask, () => requestPartnership(app, other, post));
  t.equal(fast.status, 201);
  const requests = (await notifiedOf(app, receiver)).map(([, id]) => id);
  const newestFirst = [fast.body.data.id, slow.body.data.id];
  t.strictSame(requests, newestFirst, 'the one with the smaller id was there before');
});

t.test('concurrent requests, marks and deletions count every notification once', async (t) => {
  const { sender, receiver, ids } = await notified(6);
  const other = await openShop(app, '강변서점');
  const posts = await inParallel(12, () => createPost(app, receiver.token));
  const [asked, marked] = await Promise.all([
    Promise.all(posts.map((post, index) => requestPartnership(app, index % 2 ? sender : other, post))),
    Promise.all([
      ...ids.map((_, index) => markRead(receiver, { ids: ids.slice(index, index + 4) })),
      ...ids.map((id) => markRead(receiver, { up_to_id: id })),
      ...[receiver, receiver, sender, receiver].map((shop) => markRead(shop, all)),
    ]),
  ]);
  t.strictSame(tally([...asked, ...marked]), { '200': 16, '201': 12 });
  const updated = marked.reduce((sum, { body }) => sum + body.data.updated_count, 0);
  t.equal(updated, (await idsOf(receiver, '?is_read=true&limit=100')).length);
  const { unread_count } = await notificationsOf(app, receiver);
  t.equal(updated + unread_count, 18);
  t.equal(unread_count, (await idsOf(receiver, '?is_read=false&limit=100')).length);
  // Both senders are notified by one statement while they mark.
  const [deleted, ...marks] = await Promise.all([
    deleteAccount(app, receiver),
    ...[sender, other, sender, other].map((shop) => markRead(shop, all)),
  ]);
  t.strictSame(tally([deleted, ...marks]), { '200': 5 });
  const counts = await countsOf(sender, other);
  t.strictSame(counts.kept, counts.unread);
  t.equal(await countRows(app, 'notification_counts WHERE user_id = $1', receiver.id), 0);
});

t.test('notifying several users locks their counts in one order', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const requestId = await sendRequest(app, sender, post);
  const database = openTestDatabase(t, app.url);
  const repository = createNotificationRepository(database, { wake: () => undefined });
  const kind = 'partner_request_received' as const;
  const recipients = [sender, receiver].map(({ id: userId }) => ({ kind, userId, requestId }));
  const notify = (order: typeof recipients) => database.transaction((tx) => repository.notify(tx, order));
  await notify(recipients);
  const [first, second] = [sender.id, receiver.id].sort((a, b) => a - b);
  const lock = await lockRows(t, app, lockCount, [first]);
  const changes = [recipients, recipients.toReversed()].map(notify);
  await lock.waiters(2);
  // Both wait for the first user, and none has the second one.
  await t.resolves(app.pool.query(`${lockCount} NOWAIT`, [second]));
  await lock.release();
  await Promise.all(changes);
  const { kept, unread } = await countsOf(sender, receiver);
  t.strictSame(kept, unread);
});

t.test('an account that is deleted while its notifications are marked goes with all of them', async (t) => {
  const { receiver } = await notified(2);
  const lock = await lockRows(t, app, lockCount, [receiver.id]);
  const changes = [markRead(receiver, all), deleteAccount(app, receiver), markRead(receiver, all)];
  await lock.waiters(3);
  await lock.release();
  t.strictSame(tally(await Promise.all(changes)), { '200': 3 });
  t.strictSame(await tablesWith(app, receiver.id), []);
});
