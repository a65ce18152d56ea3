import pg from 'pg';
import t from 'tap';
import { createTestApp } from '../support/app.ts';
import { refused } from '../support/assertions.ts';
import { lockRows, waitForSleep } from '../support/concurrency.ts';
import {
  notificationsOf,
  notifiedOf,
  openTwoShops,
  requestPartnership,
  sendRequest,
  transition,
} from '../support/partner-requests.ts';
import { createPost, openShop } from '../support/stores.ts';

const app = await createTestApp();
t.teardown(app.close);

/** All that sending and answering requests writes. */
async function written() {
  await app.mails.settled();
  const { rows } = await app.pool.query(`
    SELECT (SELECT json_agg(r ORDER BY id) FROM partner_requests r) AS requests,
      (SELECT json_agg(n ORDER BY id) FROM notifications n) AS notifications,
      (SELECT json_agg(k ORDER BY key) FROM idempotency_keys k) AS keys`);
  return { ...rows[0], mails: app.mails.sent.length };
}

t.test('a request whose connection dies before the end leaves nothing, and its key free', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const before = await written();
  const headers = { 'idempotency-key': 'dies' };
  const held = await lockRows(t, app, 'SELECT FROM users WHERE id = $1 FOR UPDATE', [receiver.id]);
  const asked = requestPartnership(app, sender, post, headers);
  const [backend] = await held.waiters(1);
  await app.pool.query('SELECT pg_terminate_backend($1)', [backend]);
  const answer = await asked;
  refused(t, answer, 503, 'service_unavailable');
  t.match(answer.headers['retry-after'], /^\d+$/);
  await held.release();
  t.strictSame(await written(), before);
  const again = await requestPartnership(app, sender, post, headers);
  t.equal(again.status, 201);
  t.strictSame(await notifiedOf(app, receiver), [['received', again.body.data.id, '요청됨']]);
});

t.test('an answer whose connection dies before the end leaves the request pending', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const id = await sendRequest(app, sender, post);
  const before = await written();
  const held = await lockRows(t, app, 'SELECT FROM users WHERE id = $1 FOR UPDATE', [sender.id]);
  const answered = transition(app, receiver, id, 'accept');
  const [backend] = await held.waiters(1);
  await app.pool.query('SELECT pg_terminate_backend($1)', [backend]);
  refused(t, await answered, 503, 'service_unavailable');
  await held.release();
  t.strictSame(await written(), before);
  t.equal((await transition(app, receiver, id, 'accept')).status, 200);
});

t.test('a deletion whose connection dies before the end leaves post and requests', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const id = await sendRequest(app, sender, post);
  const before = await written();
  const held = await lockRows(t, app, 'SELECT FROM users WHERE id = $1 FOR UPDATE', [sender.id]);
  const deleted = app.call('DELETE', `/api/v1/posts/${post.id}/`, { token: receiver.token });
  const [backend] = await held.waiters(1);
  await app.pool.query('SELECT pg_terminate_backend($1)', [backend]);
  refused(t, await deleted, 503, 'service_unavailable');
  await held.release();
  t.strictSame(await written(), before);
  t.equal((await transition(app, receiver, id, 'accept')).status, 200);
});

t.test('a request that waits too long for another is answered with 503 in time', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const held = await lockRows(t, app, 'SELECT FROM posts WHERE id = $1 FOR UPDATE', [post.id]);
  const started = Date.now();
  refused(t, await requestPartnership(app, sender, post), 503, 'service_unavailable');
  t.ok(Date.now() - started < 10_000);
  await held.release();
  t.strictSame(await notifiedOf(app, receiver), []);
});

t.test("a user's notifications appear in the order of their ids", async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const other = await openShop(app, '다른 가게');
  // The end of a transaction with this key takes a while, after its notification has got its id.
  await app.pool.query(`
    CREATE FUNCTION pause() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.7); RETURN NEW; END $$;
    CREATE TRIGGER pause BEFORE UPDATE ON idempotency_keys FOR EACH ROW WHEN (NEW.key = 'slow') EXECUTE FUNCTION pause()`);
  const slow = requestPartnership(app, sender, post, { 'idempotency-key': 'slow' });
  await waitForSleep(app);
  const fast = await requestPartnership(app, other, post);
  t.equal(fast.status, 201);
  const { items } = await notificationsOf(app, receiver);
  t.strictSame(
    items.map((item: { partner_request: { id: number } }) => item.partner_request.id),
    [fast.body.data.id, (await slow).body.data.id],
    'the one with the smaller id was there before',
  );
});

t.test('who listens hears of new and of read notifications, once they are kept', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const client = new pg.Client({ connectionString: app.url });
  await client.connect();
  t.teardown(() => client.end());
  const heard: unknown[] = [];
  client.on('notification', ({ channel, payload }) => heard.push([channel, JSON.parse(payload ?? '')]));
  await client.query('LISTEN notifications');
  const id = await sendRequest(app, sender, post);
  await requestPartnership(app, sender, post);
  await transition(app, receiver, id, 'accept');
  const [received] = (await notificationsOf(app, receiver)).items;
  const [accepted] = (await notificationsOf(app, sender)).items;
  for (let times = 0; times < 2; times++) {
    const body = { ids: [received.id] };
    await app.call('POST', '/api/v1/notifications/mark-read/', { token: receiver.token, body });
  }
  await client.query('SELECT 1');
  t.strictSame(heard, [
    ['notifications', { user_id: receiver.id, notification_id: received.id }],
    ['notifications', { user_id: sender.id, notification_id: accepted.id }],
    ['notifications', { user_id: receiver.id, unread: true }],
  ]);
});

t.test('a name or a message is text, whatever it holds', async (t) => {
  const sender = await openShop(app, `'; DROP TABLE "stores"; -- <b>`);
  const { receiver } = await openTwoShops(app);
  const post = await createPost(app, receiver.token, { title: '$1 {{title}} %s' });
  const id = await sendRequest(app, sender, post);
  const [item] = (await notificationsOf(app, receiver)).items;
  t.equal(item.partner_request.id, id);
  t.equal(item.message, `'; DROP TABLE "stores"; -- <b>에서 ‘$1 {{title}} %s’ 글에 제휴를 요청했습니다.`);
});
