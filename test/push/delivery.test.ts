import t, { type Test } from 'tap';
import { recoverJobs } from '../../src/infrastructure/jobs/jobs.ts';
import { notificationsIn, setPreferences } from '../notifications/notified.ts';
import { createTestApp, createUser, deleteAccount, suspend } from '../support/app.ts';
import { openTestDatabase } from '../support/database.ts';
import { openTwoShops, sendRequest, transition } from '../support/partner-requests.ts';
import type { PushAnswer } from '../support/push-service.ts';
import { createPost, openShop } from '../support/stores.ts';
import { until } from '../support/until.ts';
import { pushesOf } from './subscribed.ts';

const app = await createTestApp({ PUSH_SERVICES: 'push.invalid' }, { isolated: true });
const pushes = await pushesOf(t, app);
const { subscribe, settled, makeDue, readSubscription } = pushes;

/** Two shops, of which the receiver of a request has a browser. */
async function openSubscribedShops(answer?: PushAnswer) {
  const shops = await openTwoShops(app);
  const browser = await subscribe(shops.receiver, answer);
  return { ...shops, browser, request: () => sendRequest(app, shops.sender, shops.post) };
}

/** Adds notifications to users, as changes do. */
async function notify(users: { id: number }[], each: number) {
  await app.pool.query(
    `WITH counted AS (
       INSERT INTO notification_counts (user_id, unread) SELECT unnest($1::int[]), $2 ON CONFLICT DO NOTHING
     ), added AS (
       INSERT INTO notifications (user_id, kind, partner_request_id, created_at)
       SELECT unnest($1::int[]), 'partner_request_received', (SELECT max(id) FROM partner_requests), now()
       FROM generate_series(1, $2) RETURNING user_id, id
     )
     INSERT INTO outbox (user_id, notification_id) SELECT user_id, id FROM added`,
    [users.map(({ id }) => id), each],
  );
}

const hang = () => undefined;

/**
 * Takes the limit in time from attempts: a push service that hangs does so for as long as the test takes.
 *
 * @returns lets the limit of these attempts pass
 */
function hangOn(t: Test): () => void {
  const limit = new AbortController();
  const timeout = AbortSignal.timeout.bind(AbortSignal);
  t.intercept(AbortSignal, 'timeout', {
    // One for each attempt, as there are more of them than a signal should have listeners.
    value: (milliseconds: number) =>
      limit.signal.aborted ? timeout(milliseconds) : AbortSignal.any([limit.signal]),
  });
  const end = () => limit.abort();
  t.teardown(end);
  return end;
}

t.test('each change of a request is pushed to every browser of the side that did not make it', async (t) => {
  const { sender, receiver, browser, request } = await openSubscribedShops();
  const ofSender = await subscribe(sender);
  const other = await subscribe(receiver);
  const id = await request();
  const { message, headers, claims, publicKey } = await browser.next();
  const url = `https://app.example.com/requests/${id}`;
  t.strictSame(message, {
    id: message.id,
    kind: 'partner_request_received',
    title: '새 제휴 요청',
    body: '두레 베이커리에서 ‘주말 공동 할인’ 글을 보고 제휴를 요청했습니다.',
    url,
  });
  t.match(headers, { ttl: '345600', urgency: 'normal', topic: /^[\w-]{32}$/ });
  t.match(headers, { 'content-encoding': 'aes128gcm', 'content-type': 'application/octet-stream' });
  t.match(claims, { sub: 'mailto:no-reply@example.com' });
  const secondsLeft = claims.exp - Date.now() / 1_000;
  t.ok(secondsLeft > 0 && secondsLeft < 24 * 3_600);
  t.equal(publicKey, (await pushes.key(receiver)).body.data.public_key);
  t.strictSame((await other.next()).message, message);

  await transition(app, receiver, id, 'accept');
  const accepted = { kind: 'partner_request_accepted', title: '제휴 요청 수락', url };
  t.match((await ofSender.next()).message, accepted);
  await transition(app, receiver, id, 'end');
  t.match((await ofSender.next(1)).message, { kind: 'partner_request_ended', title: '제휴 종료', url });
  const again = await request();
  await transition(app, receiver, again, 'decline');
  t.match((await ofSender.next(2)).message, { kind: 'partner_request_declined', title: '제휴 요청 거절' });
  const withdrawn = await request();
  await browser.next(2);
  await transition(app, sender, withdrawn, 'withdraw');
  t.match((await browser.next(3)).message, { kind: 'partner_request_withdrawn', title: '제휴 요청 취소' });
  t.strictSame(await settled(), []);
  t.strictSame([browser.received.length, ofSender.received.length], [4, 3], 'once each');
});

t.test('a message is in the language of its user', async (t) => {
  const { receiver, browser, request } = await openSubscribedShops();
  await setPreferences(app, receiver, { language: 'en' });
  await request();
  const body = '두레 베이커리 would like to partner with you on your post “주말 공동 할인”.';
  t.match((await browser.next()).message, { title: 'New partnership request', body });
});

t.test('what became obsolete while it waited is not pushed, all else is', async (t) => {
  const { sender } = await openTwoShops(app);
  /** A shop with a browser, for which the message about a request waits. */
  async function notified() {
    const shop = await openShop(app);
    const browser = await subscribe(shop);
    const later = "retry_at = now() + interval '1 hour'";
    await app.pool.query(`UPDATE push_subscriptions SET ${later} WHERE id = $1`, [browser.id]);
    await sendRequest(app, sender, await createPost(app, shop.token));
    return { shop, browser };
  }
  const [read, muted, removed] = [await notified(), await notified(), await notified()];
  const [suspended, deleted, moved] = [await notified(), await notified(), await notified()];
  const [old, wanted] = [await notified(), await notified()];
  t.equal((await settled()).length, 8);

  await notificationsIn(app).markRead(read.shop, { up_to_id: 2 ** 50 });
  await setPreferences(app, muted.shop, { push: { partner_request_received: false } });
  await pushes.remove(removed.shop, removed.browser.id);
  await suspend(app, suspended.shop);
  await deleteAccount(app, deleted.shop);
  await pushes.add(await createUser(app), moved.browser.subscription);
  const age = "UPDATE notifications SET created_at = now() - interval '4 days' WHERE user_id = $1";
  await app.pool.query(age, [old.shop.id]);
  await makeDue();
  t.match((await wanted.browser.next()).message, { kind: 'partner_request_received' });
  t.strictSame(await settled(), []);
  for (const [state, { browser }] of Object.entries({ read, muted, removed, suspended, deleted, moved, old }))
    t.equal(browser.attempts, 0, state);
});

t.test('a subscription that has ended is removed', async (t) => {
  for (const status of [404, 410]) {
    const { browser, request } = await openSubscribedShops(status);
    await request();
    await until('it is removed', async () => !(await readSubscription(browser.id)));
    t.strictSame(await settled(), []);
    t.equal(browser.attempts, 1);
  }
});

t.test('a message that is rejected is not sent again, and the next one is', async (t) => {
  const { browser, request, sender } = await openSubscribedShops();
  for (const status of [301, 307, 400, 403, 413]) {
    browser.answer = status;
    const { attempts } = browser;
    await transition(app, sender, await request(), 'withdraw');
    await until('both are rejected', () => browser.attempts === attempts + 2);
    t.strictSame(await settled(), []);
    t.match(await readSubscription(browser.id), { failures: 0 });
  }
});

/** Failures of a subscription before a test, so that the next attempt is not due before the end of the test. */
const before = 4;
const wait = Math.exp(before + 1);

const inAnHour = () => new Date(Date.now() + 3_600_000).toUTCString();

/** Answers of push services that may take the message later, and the seconds after which they are asked again. */
const failures: [name: string, answer: PushAnswer, wait: number][] = [
  ['500', 500, wait],
  ['503', 503, wait],
  ['429', 429, wait],
  ['a pause', (response) => response.writeHead(429, { 'retry-after': '900' }).end(), 900],
  ['a date', (response) => response.writeHead(503, { 'retry-after': inAnHour() }).end(), 3_600],
  ['a pause of years', (response) => response.writeHead(429, { 'retry-after': '99999999' }).end(), 86_400],
  ['no seconds', (response) => response.writeHead(503, { 'retry-after': 'soon' }).end(), wait],
  ['a connection that breaks', (response) => response.destroy(), wait],
];

/** Whether a time is so many seconds after a moment between another one and now. */
const isAfter = (time: Date, seconds: number, moment: number) => {
  const begun = time.getTime() - seconds * 1_000;
  const now = Date.now();
  // A date has no milliseconds.
  return begun > moment - 1_000 && begun < now + 50;
};

/** Lets a subscription have failed so many times. */
const setFailures = (id: number, count: number) =>
  app.pool.query('UPDATE push_subscriptions SET failures = $2 WHERE id = $1', [id, count]);

t.test('a push service that fails is asked again later', async (t) => {
  const users = await Promise.all(failures.map(() => createUser(app)));
  const browsers = await Promise.all(
    failures.map(async ([name, answer, wait], index) => {
      const browser = await subscribe({ token: users[index]?.token }, answer);
      await setFailures(browser.id, before);
      return { name, wait, browser };
    }),
  );
  const began = Date.now();
  await notify(users, 1);
  await until('an attempt each', () => browsers.every(({ browser }) => browser.attempts === 1));
  const jobs = await settled();
  for (const { name, wait, browser } of browsers) {
    const job = jobs.find(({ payload }) => payload.subscription_id === browser.id);
    t.match(job, { attempts: 0, priority: 10 }, 'it uses no attempt of the job, and waits for all others');
    t.ok(isAfter(job.run_at, wait, began), `${name}: ${job.run_at}`);
    t.match(await readSubscription(browser.id), { failures: before + 1 });
    browser.answer = 201;
  }
  await makeDue();
  for (const { browser } of browsers) {
    await browser.next();
    t.strictSame(await settled(), []);
    t.match(await readSubscription(browser.id), { failures: 0, retry_at: null });
  }
});

t.test('later messages wait for a push service that fails', async (t) => {
  const { browser, request, sender } = await openSubscribedShops(500);
  await setFailures(browser.id, before);
  const id = await request();
  await until('an attempt', () => browser.attempts === 1);
  await transition(app, sender, id, 'withdraw');
  t.equal((await settled()).length, 2);
  browser.answer = 201;
  await makeDue();
  await browser.next();
  await settled();
  await makeDue();
  await browser.next(1);
  t.strictSame(await settled(), []);
  t.equal(browser.attempts, 3);
});

t.test('delays grow, until the subscription is removed after four days', async (t) => {
  const { browser, request } = await openSubscribedShops(500);
  for (const [count, exponent] of [
    [4, 5],
    [9, 10],
    [23, 10],
  ] as const) {
    await setFailures(browser.id, count);
    const { attempts } = browser;
    const began = Date.now();
    if (attempts === 0) await request();
    else await makeDue();
    await until('an attempt', () => browser.attempts > attempts);
    const [job] = (await settled()).filter(({ payload }) => payload.subscription_id === browser.id);
    t.ok(isAfter(job?.run_at, Math.exp(exponent), began), `after ${count} failures`);
  }
  await makeDue();
  await until('it is removed', async () => !(await readSubscription(browser.id)));
  t.strictSame(await settled(), []);
});

t.test('a name that cannot be resolved, or only to a private address, is a failure', async (t) => {
  const { receiver, request } = await openSubscribedShops();
  const { keys } = pushes.service.subscribe().subscription;
  const { body } = await pushes.add(receiver, { endpoint: 'https://push.invalid/a-secret-of-it', keys });
  await request();
  await until('a failure', async () => (await readSubscription(body.data.id)).failures === 1);
  t.match(app.logs.join(), /"host":"push\.invalid"/);
  // As if `PUSH_SERVICES` had listed it when the browser subscribed.
  const change = "UPDATE push_subscriptions SET endpoint = 'https://other.invalid/' WHERE id = $1";
  await app.pool.query(change, [body.data.id]);
  await makeDue();
  await until('a refusal', () => app.logs.join().includes('other.invalid must not be called'));
});

t.test('a job of a worker that died is run by another one', async (t) => {
  const endAttempt = hangOn(t);
  const { receiver, browser, request } = await openSubscribedShops(hang);
  await request();
  await until('an attempt', () => browser.attempts === 1);
  const database = openTestDatabase(t, app.url);
  const jobs = async () => {
    const statement = `SELECT payload->'subscription_id' AS subscription, locked_at
      FROM graphile_worker._private_jobs WHERE payload->>'user_id' = $1`;
    return (await app.pool.query(statement, [receiver.id])).rows;
  };
  browser.answer = 201;
  t.match(await jobs(), [{ locked_at: Date }]);
  // As after the death of a worker, whose job is released after 45 seconds.
  await recoverJobs({ database, lanes: [], logger: app.app.log, lockAge: 0 });
  t.match(await jobs(), [{ locked_at: null }]);
  // This worker lives, and takes no other job of the user while the attempt lasts.
  endAttempt();
  const isWaiting = async () => (await jobs()).some(({ subscription }) => subscription === browser.id);
  await until('its retry', isWaiting);
  await makeDue();
  await browser.next();
  t.notOk((await settled()).some(({ payload }) => payload.user_id === receiver.id));
});

t.test('browsers whose push service never responds do not delay others', async (t) => {
  hangOn(t);
  const { browser, request, sender } = await openSubscribedShops();
  const id = await request();
  await browser.next();
  // Together they have two more jobs than there are workers.
  const users = await Promise.all(Array.from({ length: 21 }, () => createUser(app)));
  const slow = await Promise.all(users.map((user) => subscribe(user, hang)));
  await notify(users, 2);
  await until('slow ones', () => slow.filter(({ attempts }) => attempts > 0).length >= 15);
  await transition(app, sender, id, 'withdraw');
  t.match((await browser.next(1)).message, { kind: 'partner_request_withdrawn' });
});

t.test('of one user one message is sent at once', async (t) => {
  hangOn(t);
  const { browser, receiver, request } = await openSubscribedShops();
  await request();
  await browser.next();
  browser.answer = hang;
  const other = await openSubscribedShops();
  await notify([receiver], 30);
  await until('an attempt', () => browser.attempts === 2);
  await other.request();
  await other.browser.next();
  t.equal(browser.attempts, 2, 'others are not delayed');
});

t.test('no line of the log has an endpoint or a key', async (t) => {
  const lines = app.logs.filter((line) => /push/.test(line));
  t.match(lines.join(), /push message sent.*/);
  t.notMatch(lines.join(), /\/send\/|a-secret-of-it|p256dh/);
});
