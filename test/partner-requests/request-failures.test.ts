import t from 'tap';
import { createTestApp } from '../support/app.ts';
import { refused } from '../support/assertions.ts';
import { lockRows } from '../support/concurrency.ts';
import {
  notifiedOf,
  openTwoShops,
  requestPartnership,
  sendRequest,
  transition,
} from '../support/partner-requests.ts';

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

t.test('a request whose connection is lost before the commit leaves nothing, and its key free', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const before = await written();
  const headers = { 'idempotency-key': 'dies' };
  const lock = await lockRows(t, app, 'SELECT FROM users WHERE id = $1 FOR UPDATE', [receiver.id]);
  const asked = requestPartnership(app, sender, post, headers);
  const [backend] = await lock.waiters(1);
  await app.pool.query('SELECT pg_terminate_backend($1)', [backend]);
  const answer = await asked;
  refused(t, answer, 503, 'service_unavailable');
  t.match(answer.headers['retry-after'], /^\d+$/);
  await lock.release();
  t.strictSame(await written(), before);
  const again = await requestPartnership(app, sender, post, headers);
  t.equal(again.status, 201);
  t.strictSame(await notifiedOf(app, receiver), [['received', again.body.data.id, '요청됨']]);
});

t.test('a transition whose connection is lost before the commit leaves the request pending', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const id = await sendRequest(app, sender, post);
  const before = await written();
  const lock = await lockRows(t, app, 'SELECT FROM users WHERE id = $1 FOR UPDATE', [sender.id]);
  const answered = transition(app, receiver, id, 'accept');
  const [backend] = await lock.waiters(1);
  await app.pool.query('SELECT pg_terminate_backend($1)', [backend]);
  refused(t, await answered, 503, 'service_unavailable');
  await lock.release();
  t.strictSame(await written(), before);
  t.equal((await transition(app, receiver, id, 'accept')).status, 200);
});

t.test('a deletion whose connection is lost before the commit leaves post and requests', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const id = await sendRequest(app, sender, post);
  const before = await written();
  const lock = await lockRows(t, app, 'SELECT FROM users WHERE id = $1 FOR UPDATE', [sender.id]);
  const deleted = app.call('DELETE', `/api/v1/posts/${post.id}/`, { token: receiver.token });
  const [backend] = await lock.waiters(1);
  await app.pool.query('SELECT pg_terminate_backend($1)', [backend]);
  refused(t, await deleted, 503, 'service_unavailable');
  await lock.release();
  t.strictSame(await written(), before);
  t.equal((await transition(app, receiver, id, 'accept')).status, 200);
});

t.test('a request that waits too long for a lock is answered with 503', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const lock = await lockRows(t, app, 'SELECT FROM posts WHERE id = $1 FOR UPDATE', [post.id]);
  const started = Date.now();
  refused(t, await requestPartnership(app, sender, post), 503, 'service_unavailable');
  t.ok(Date.now() - started < 10_000);
  await lock.release();
  t.strictSame(await notifiedOf(app, receiver), []);
});
