import t from 'tap';
import { createTestApp } from '../support/app.ts';
import { openTwoShops, sendRequest } from '../support/partner-requests.ts';
import { createPost, type Shop } from '../support/stores.ts';

const app = await createTestApp();
t.teardown(app.close);

const count = (shop: Shop, headers: Record<string, string> = {}) =>
  app.call('GET', '/api/v1/notifications/unread-count/', { token: shop.token, headers });

t.test('the count follows what is added and read', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  t.strictSame((await count(receiver)).body, {
    success: true,
    message: '읽지 않은 알림 수를 조회했습니다.',
    data: { unread_count: 0 },
  });
  await sendRequest(app, sender, post);
  await sendRequest(app, sender, await createPost(app, receiver.token));
  t.equal((await count(receiver)).body.data.unread_count, 2);
  t.equal((await count(sender)).body.data.unread_count, 0);
  const body = { up_to_id: Number.MAX_SAFE_INTEGER };
  await app.call('POST', '/api/v1/notifications/mark-read/', { token: receiver.token, body });
  t.equal((await count(receiver)).body.data.unread_count, 0);
});

t.test('a client that knows the count gets 304 without a body until it changes', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const first = await count(receiver);
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
});

t.test('the ETag depends on the language', async (t) => {
  const { receiver } = await openTwoShops(app);
  const known = String((await count(receiver)).headers.etag);
  const english = await count(receiver, { 'if-none-match': known, 'accept-language': 'en' });
  t.equal(english.status, 200);
  t.equal(english.body.message, 'Here is the unread count.');
  t.not(english.headers.etag, known);
});

t.test('counting reads the index of unread notifications only', async (t) => {
  const { receiver } = await openTwoShops(app);
  const client = await app.pool.connect();
  try {
    await client.query('SET enable_seqscan = off');
    const { rows } = await client.query(
      `EXPLAIN SELECT count(*)::int AS unread_count FROM notifications WHERE user_id = ${receiver.id} AND NOT is_read`,
    );
    t.match(rows.map((row) => row['QUERY PLAN']).join('\n'), 'notifications_unread_idx');
  } finally {
    client.release(true);
  }
});
