import t from 'tap';
import { createNotificationRepository } from '../../src/domains/notifications/inbox/repository.ts';
import { createTestApp, deleteAccount } from '../support/app.ts';
import { tally } from '../support/assertions.ts';
import { inOrder, inParallel, lockRows, pauseInserts } from '../support/concurrency.ts';
import { openTestDatabase } from '../support/database.ts';
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

const all = { up_to_id: Number.MAX_SAFE_INTEGER };
const lockCount = 'SELECT FROM notification_counts WHERE user_id = $1 FOR UPDATE';

/** What each user's count is, and what it must be: the unread rows. */
async function countsOf(...shops: Shop[]) {
  const { rows } = await app.pool.query(
    `SELECT u.id, coalesce(c.unread, 0) AS kept,
       (SELECT count(*)::int FROM notifications WHERE user_id = u.id) AS unread
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
