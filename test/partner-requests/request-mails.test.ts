import t from 'tap';
import { createTestApp } from '../support/app.ts';
import { lockRows } from '../support/concurrency.ts';
import { notifiedOf, openTwoShops, sendRequest, transition } from '../support/partner-requests.ts';
import { createPost, type Shop } from '../support/stores.ts';

// Without a quota, so that the caps on mails come first.
const app = await createTestApp({ QUOTA_REQUESTS_PER_DAY: '0' });
t.teardown(app.close);

/** Logs in in English, which the account's mails then are in. */
async function preferEnglish({ username, password }: Shop) {
  const headers = { 'accept-language': 'en' };
  await app.call('POST', '/auth/login/', { body: { username, password }, headers });
}

/** Mails about requests that an owner got. */
const mailsTo = (shop: Shop) =>
  app.mails.sent.filter(({ to, text }) => to === shop.email && text.includes('/notifications'));

t.test('the receiver of a request gets a mail with its message and a link', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  await sendRequest(app, sender, post);
  const mail = await app.mails.next(receiver.email, 1);
  t.equal(mail.subject, '[두레] 두레 베이커리에서 제휴를 요청했습니다');
  t.match(mail.text, '김두레님');
  t.match(mail.text, '주말 공동 할인');
  t.match(mail.text, '함께 해요!');
  t.match(mail.text, 'https://app.example.com/notifications');
  await app.mails.settled();
  t.equal(mailsTo(receiver).length, 1);
  t.equal(mailsTo(sender).length, 0);
});

t.test('the sender gets a mail when it is accepted or declined', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  await transition(app, receiver, await sendRequest(app, sender, post), 'decline');
  const declined = await app.mails.next(sender.email, 1);
  t.equal(declined.subject, '[두레] 햇살카페에서 제휴 요청을 거절했습니다');
  await transition(app, receiver, await sendRequest(app, sender, post), 'accept');
  const accepted = await app.mails.next(sender.email, 2);
  t.equal(accepted.subject, '[두레] 햇살카페에서 제휴 요청을 수락했습니다');
  t.match(accepted.text, 'https://app.example.com/notifications');
});

t.test("mails are in the recipient's language", async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  await preferEnglish(receiver);
  const id = await sendRequest(app, sender, post);
  t.equal((await app.mails.next(receiver.email, 1)).subject, '두레 베이커리 sent you a partnership request');
  await app.call('POST', `/api/v1/notifications/partner-request/${id}/accept/`, {
    token: receiver.token,
    headers: { 'accept-language': 'en' },
  });
  t.equal((await app.mails.next(sender.email, 1)).subject, '[두레] 햇살카페에서 제휴 요청을 수락했습니다');
});

t.test('repeated requests and withdrawals mail the receiver at most five times an hour', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const mails = async () => {
    await app.mails.settled();
    return mailsTo(receiver).length;
  };
  const askAndWithdraw = async (target: typeof post) =>
    transition(app, sender, await sendRequest(app, sender, target), 'withdraw');
  for (let turn = 0; turn < 7; turn++) await askAndWithdraw(post);
  t.equal(await mails(), 5);
  t.equal(
    (await notifiedOf(app, receiver)).filter(([kind]) => kind === 'received').length,
    7,
    'but gets all notifications',
  );

  const other = await createPost(app, receiver.token, { title: '다른 이야기' });
  await askAndWithdraw(other);
  t.equal(await mails(), 6, 'another post is another matter');
  await app.pool.query("UPDATE partner_requests SET created_at = created_at - interval '61 minutes'");
  await sendRequest(app, sender, post);
  t.equal(await mails(), 7, 'an hour later as well');
});

t.test('repeated requests and declines mail the sender at most five times an hour', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  for (let turn = 0; turn < 7; turn++)
    await transition(app, receiver, await sendRequest(app, sender, post), 'decline');
  await app.mails.settled();
  t.equal(mailsTo(sender).length, 5);
  t.equal(mailsTo(receiver).length, 5);
});

t.test('a recipient gets at most 60 mails an hour about requests', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const first = await sendRequest(app, sender, post);
  await app.pool.query(
    `INSERT INTO notifications (user_id, kind, partner_request_id)
     SELECT $1, 'partner_request_received', $2 FROM generate_series(1, 58)`,
    [receiver.id, first],
  );
  const posts = [await createPost(app, receiver.token), await createPost(app, receiver.token)] as const;
  for (const one of posts) await sendRequest(app, sender, one);
  await app.mails.settled();
  t.equal(mailsTo(receiver).length, 2, 'the first and the sixtieth');
  t.equal((await notifiedOf(app, receiver)).length, 61, 'but gets all notifications');
  await app.pool.query("UPDATE notifications SET created_at = created_at - interval '61 minutes'");
  await sendRequest(app, sender, await createPost(app, receiver.token));
  await app.mails.settled();
  t.equal(mailsTo(receiver).length, 3, 'an hour later as well');
});

t.test('a withdrawal and a refused request send nothing', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const id = await sendRequest(app, sender, post);
  await app.mails.next(receiver.email, 1);
  await transition(app, sender, id, 'withdraw');
  await transition(app, receiver, id, 'accept');
  await transition(app, sender, id, 'decline');
  await app.mails.settled();
  t.equal(mailsTo(receiver).length, 1);
  t.equal(mailsTo(sender).length, 0);
});

t.test('a mail is enqueued in the transaction of its change, with ids only', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  await app.pool.query(`CREATE TABLE queued AS SELECT ''::text AS payload WITH NO DATA;
    CREATE FUNCTION keep_payload() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN INSERT INTO queued VALUES (NEW.payload::text); RETURN NEW; END $$;
    CREATE TRIGGER keep_payload AFTER INSERT ON graphile_worker._private_jobs
      FOR EACH ROW EXECUTE FUNCTION keep_payload()`);
  const lock = await lockRows(t, app, 'SELECT FROM users WHERE id = $1 FOR UPDATE', [receiver.id]);
  const sent = sendRequest(app, sender, post);
  await lock.waiters(1);
  t.equal((await app.pool.query('SELECT FROM queued')).rowCount, 0, 'not before the request is there');
  await lock.release();
  const id = await sent;
  await transition(app, receiver, id, 'accept');
  const { rows } = await app.pool.query('SELECT payload FROM queued');
  t.strictSame(
    rows.map(({ payload }) => {
      const { idempotency_key, ...rest } = JSON.parse(payload);
      t.type(idempotency_key, 'string');
      return rest;
    }),
    [
      { kind: 'partner_request_received', request_id: id },
      { kind: 'partner_request_accepted', request_id: id },
    ],
  );
});

t.test('a mail is dropped when its request or recipient is gone', async (t) => {
  const offline = await createTestApp({ WORKER_ENABLED: 'false' });
  t.teardown(offline.close);
  const one = await openTwoShops(offline);
  await sendRequest(offline, one.sender, one.post);
  await offline.call('DELETE', `/api/v1/posts/${one.post.id}/`, { token: one.receiver.token });
  const two = await openTwoShops(offline);
  await transition(offline, two.receiver, await sendRequest(offline, two.sender, two.post), 'accept');
  const other = await createPost(offline, two.sender.token);
  await sendRequest(offline, two.receiver, other);
  const body = { password: two.sender.password };
  await offline.call('DELETE', '/auth/me/', { token: two.sender.token, body });
  const kept = await openTwoShops(offline);
  await sendRequest(offline, kept.sender, kept.post);

  const online = await createTestApp({}, { databaseUrl: offline.url });
  t.teardown(online.close);
  await online.mails.next(kept.receiver.email, 1);
  await online.mails.settled();
  const about = online.mails.sent.filter(({ text }) => text.includes('/notifications'));
  t.strictSame(
    about.map(({ to }) => to).sort(),
    [kept.receiver.email, two.receiver.email].sort(),
    'the post of the first and the sender of the second are gone, the receiver of the second is not',
  );
  const { rows } = await online.pool.query('SELECT * FROM failed_mails');
  t.strictSame(rows, []);
});
