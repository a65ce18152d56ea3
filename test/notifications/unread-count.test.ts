import pg from 'pg';
import t from 'tap';
import { createTestApp, deleteAccount } from '../support/app.ts';
import { tally } from '../support/assertions.ts';
import { inParallel, lockRows } from '../support/concurrency.ts';
import { openTwoShops, requestPartnership, sendRequest } from '../support/partner-requests.ts';
import { createPost, openShop, type Shop } from '../support/stores.ts';

const app = await createTestApp();
t.teardown(app.close);

const count = (shop: Shop, headers: Record<string, string> = {}) =>
  app.call('GET', '/api/v1/notifications/unread-count/', { token: shop.token, headers });

t.test('a client that knows the count gets 304 without a body until it changes', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const first = await count(receiver);
  t.strictSame(first.body, {
    success: true,
    message: '읽지 않은 알림 수를 조회했습니다.',
    data: { unread_count: 0 },
  });
  const tag = String(first.headers.etag);
  t.match(tag, /^"[^"]+"$/);
  for (const known of [
    tag,
    `W/${tag}`,
    `"other", ${tag}`,
    `W/"other" ,W/${tag}`,
    `"a,b",${tag}`,
    '*',
    ' * ',
  ]) {
    const answer = await count(receiver, { 'if-none-match': known });
    t.equal(answer.status, 304, known);
    t.equal(answer.text, '');
    t.equal(answer.headers.etag, tag);
    t.equal(answer.headers['cache-control'], 'private, no-cache');
    t.equal(answer.headers.vary, first.headers.vary);
  }
  for (const unknown of ['"other"', tag.slice(1, -1), `${tag.slice(0, -1)}x"`, 'W/"*"', '']) {
    t.equal((await count(receiver, { 'if-none-match': unknown })).status, 200, unknown);
  }
  await sendRequest(app, sender, post);
  const changed = await count(receiver, { 'if-none-match': tag });
  t.equal(changed.status, 200);
  t.equal(changed.body.data.unread_count, 1);
  t.not(changed.headers.etag, tag);
  t.equal((await count(sender)).body.data.unread_count, 0);
});

t.test('the ETag depends on the language', async (t) => {
  const { receiver } = await openTwoShops(app);
  const known = String((await count(receiver)).headers.etag);
  const english = await count(receiver, { 'if-none-match': known, 'accept-language': 'en' });
  t.equal(english.status, 200);
  t.equal(english.body.message, 'Here is the unread count.');
  t.not(english.headers.etag, known);
});

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

t.test('the count is right whatever writes the rows', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const request = await sendRequest(app, sender, post);
  const users = [sender.id, receiver.id];
  for (const [statement, values, kept] of [
    // Many rows of several users at once, read and unread.
    [
      `INSERT INTO notifications (user_id, kind, partner_request_id, is_read)
       SELECT user_id, 'partner_request_received', $2, n % 3 = 0 FROM unnest($1::int[]) user_id, generate_series(1, 9) n`,
      [users, request],
      [6, 7],
    ],
    ['UPDATE notifications SET is_read = NOT is_read WHERE user_id = ANY ($1)', [users], [3, 3]],
    ['UPDATE notifications SET is_read = is_read WHERE user_id = ANY ($1)', [users], [3, 3]],
    ['UPDATE notifications SET user_id = $1 WHERE user_id = $2', [...users], [6, 0]],
    ['DELETE FROM notifications WHERE user_id = $1 AND id % 2 = 0', [sender.id], undefined],
    ['DELETE FROM notifications WHERE user_id = ANY ($1)', [users], [0, 0]],
    [
      `INSERT INTO notifications (user_id, kind, partner_request_id)
       SELECT user_id, 'partner_request_received', $2 FROM unnest($1::int[]) user_id`,
      [users, request],
      [1, 1],
    ],
    ['TRUNCATE notifications', [], [0, 0]],
  ] as const) {
    await app.pool.query(statement, [...values]);
    const counts = await countsOf(sender, receiver);
    t.strictSame(counts.kept, counts.unread, statement);
    if (kept !== undefined) t.strictSame(counts.kept, kept, statement);
  }
});

t.test('concurrent requests, marks and deletions leave the right count', async (t) => {
  const { sender, receiver } = await openTwoShops(app);
  const other = await openShop(app, '강변서점');
  const posts = await inParallel(12, () => createPost(app, receiver.token));
  const body = { up_to_id: Number.MAX_SAFE_INTEGER };
  const mark = ({ token }: Shop) => app.call('POST', '/api/v1/notifications/mark-read/', { token, body });
  const answers = await Promise.all([
    ...posts.map((post, index) => requestPartnership(app, index % 2 ? sender : other, post)),
    ...[receiver, receiver, sender, receiver].map(mark),
  ]);
  t.strictSame(tally(answers), { '200': 4, '201': 12 });
  // Both senders are notified by one statement while they mark.
  const [deleted, ...marks] = await Promise.all([
    deleteAccount(app, receiver),
    ...[sender, other, sender, other].map(mark),
  ]);
  t.equal(deleted.status, 200);
  t.strictSame(tally(marks), { '200': 4 });
  const counts = await countsOf(sender, other);
  t.strictSame(counts.kept, counts.unread);
  t.strictSame(
    (await app.pool.query('SELECT FROM notification_counts WHERE user_id = $1', [receiver.id])).rowCount,
    0,
  );
});

t.test('statements lock the counts of several users in one order', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const request = await sendRequest(app, sender, post);
  const users = [sender.id, receiver.id].sort((a, b) => a - b);
  const pool = new pg.Pool({ connectionString: app.url });
  // The database is dropped before the last connection has ended.
  pool.on('error', () => undefined);
  t.teardown(() => pool.end());
  const notifyAll = (ids: number[]) =>
    pool.query(
      `INSERT INTO notifications (user_id, kind, partner_request_id)
       SELECT user_id, 'partner_request_received', $2 FROM unnest($1::int[]) user_id`,
      [ids, request],
    );
  await notifyAll(users);
  const lockCount = 'SELECT FROM notification_counts WHERE user_id = $1 FOR UPDATE';
  const [first, second] = users;
  const lock = await lockRows(t, app, lockCount, [first]);
  const changes = [
    notifyAll(users),
    notifyAll(users.toReversed()),
    pool.query('UPDATE notifications SET is_read = true WHERE user_id = ANY ($1)', [users]),
  ];
  await lock.waiters(3);
  // All wait for the first user, and none has the second one.
  await t.resolves(pool.query(`${lockCount} NOWAIT`, [second]));
  await lock.release();
  await Promise.all(changes);
  const { kept, unread } = await countsOf(sender, receiver);
  t.strictSame(kept, unread);
});
