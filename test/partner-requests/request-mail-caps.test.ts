import t from 'tap';
import { createTestApp, createUser, deleteAccount, verifyEmails } from '../support/app.ts';
import { tally } from '../support/assertions.ts';
import { inParallel } from '../support/concurrency.ts';
import {
  notifiedOf,
  openTwoVerifiedShops,
  requestPartnership,
  sendRequest,
  transition,
} from '../support/partner-requests.ts';
import { createPost, createStore, type Shop } from '../support/stores.ts';

// The day's allowance for one post is smaller than the cap on its mails.
const app = await createTestApp({ QUOTA_REQUESTS_PER_DAY: '0' });
t.teardown(app.close);

/** Mails about requests that an owner got. */
const mailsTo = (shop: Shop) =>
  app.mails.sent.filter(({ to, text }) => to === shop.email && text.includes('/requests/'));

/** Sends a request and waits for its mail, which is dropped once the request no longer waits for an answer. */
async function sendAndMail(sender: Shop, post: { id: number }) {
  const id = await sendRequest(app, sender, post);
  await app.mails.settled();
  return id;
}

/** Counts further emails about requests to an address, as if they had been sent some minutes ago. */
async function countMails({ email }: Shop, mails: number, minutes = 1): Promise<void> {
  await app.pool.query(
    `UPDATE mail_sends SET sent_at = sent_at || array_fill(now() - make_interval(mins => $3), ARRAY[$2::int])
     WHERE purpose = 'partner_request' AND email = $1`,
    [email, mails, minutes],
  );
}

/** How many emails about requests to an address are counted. */
async function countedMails({ email }: Shop): Promise<number> {
  const { rows } = await app.pool.query(
    `SELECT cardinality(sent_at) AS count FROM mail_sends WHERE purpose = 'partner_request' AND email = $1`,
    [email],
  );
  return rows[0]?.count ?? 0;
}

t.test('repeated requests and withdrawals mail the receiver at most five times an hour', async (t) => {
  const { sender, receiver, post } = await openTwoVerifiedShops(app);
  const mails = async () => {
    await app.mails.settled();
    return mailsTo(receiver).length;
  };
  const askAndWithdraw = async (target: typeof post) =>
    transition(app, sender, await sendAndMail(sender, target), 'withdraw');
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
  const { sender, receiver, post } = await openTwoVerifiedShops(app);
  for (let turn = 0; turn < 7; turn++)
    await transition(app, receiver, await sendAndMail(sender, post), 'decline');
  await app.mails.settled();
  t.equal(mailsTo(sender).length, 5);
  t.equal(mailsTo(receiver).length, 5);
});

t.test('an address gets at most 60 emails an hour about requests', async (t) => {
  const { sender, receiver, post } = await openTwoVerifiedShops(app);
  await sendAndMail(sender, post);
  await countMails(receiver, 58);
  for (const _ of [60, 61]) await sendRequest(app, sender, await createPost(app, receiver.token));
  await app.mails.settled();
  t.equal(mailsTo(receiver).length, 2, 'the first and the sixtieth');
  t.equal((await notifiedOf(app, receiver)).length, 3, 'but gets all notifications');
  await app.pool.query(
    `UPDATE mail_sends SET sent_at = ARRAY(SELECT sent - interval '61 minutes' FROM unnest(sent_at) sent) WHERE email = $1`,
    [receiver.email],
  );
  await sendRequest(app, sender, await createPost(app, receiver.token));
  await app.mails.settled();
  t.equal(mailsTo(receiver).length, 3, 'an hour later as well');
  t.equal(await countedMails(receiver), 1, 'older mails are not kept');
});

t.test('answers count for the address of the sender, requests for that of the receiver', async (t) => {
  const { sender, receiver, post } = await openTwoVerifiedShops(app);
  for (const counted of [0, 59]) {
    await countMails(sender, counted);
    await transition(app, receiver, await sendAndMail(sender, post), 'decline');
    await app.mails.settled();
  }
  t.equal(mailsTo(sender).length, 1);
  t.equal(mailsTo(receiver).length, 2);
});

t.test('20 concurrent requests do not exceed the cap of the address', async (t) => {
  const { sender, receiver, post } = await openTwoVerifiedShops(app);
  await sendRequest(app, sender, post);
  await countMails(receiver, 54);
  const posts = await inParallel(20, () => createPost(app, receiver.token));
  const answers = await Promise.all(posts.map((one) => requestPartnership(app, sender, one)));
  t.strictSame(tally(answers), { '201': 20 });
  await app.mails.settled();
  t.equal(mailsTo(receiver).length, 6);
  t.equal(await countedMails(receiver), 60);
});

t.test('20 concurrent first requests count every mail', async (t) => {
  const { sender, receiver } = await openTwoVerifiedShops(app);
  const posts = await inParallel(20, () => createPost(app, receiver.token));
  await Promise.all(posts.map((one) => requestPartnership(app, sender, one)));
  await app.mails.settled();
  t.equal(mailsTo(receiver).length, 20);
  t.equal(await countedMails(receiver), 20);
});

t.test('the cap outlives the account of the address', async (t) => {
  const { sender, receiver, post } = await openTwoVerifiedShops(app);
  await sendAndMail(sender, post);
  await countMails(receiver, 59);
  t.equal((await deleteAccount(app, receiver)).status, 200);
  const { username, email } = receiver;
  const user = await createUser(app, { username, email });
  await verifyEmails(app, user);
  const again: Shop = { ...user, store: await createStore(app, user.token) };
  await sendRequest(app, sender, await createPost(app, again.token));
  await app.mails.settled();
  t.equal(mailsTo(again).length, 1, 'the one before the deletion');
  t.equal((await notifiedOf(app, again)).length, 1);
});

t.test('requests of new accounts of one person stay within the cap of the address', async (t) => {
  const { sender, receiver, post } = await openTwoVerifiedShops(app);
  await sendAndMail(sender, post);
  await countMails(receiver, 58);
  t.equal((await deleteAccount(app, sender)).status, 200);
  for (const _ of [60, 61]) {
    const user = await createUser(app, { username: sender.username, email: sender.email });
    const again = { ...user, store: await createStore(app, user.token) };
    await sendAndMail(again, post);
    t.equal((await deleteAccount(app, again)).status, 200);
  }
  t.equal(mailsTo(receiver).length, 2, 'the first and the sixtieth');
});

t.test('concurrent requests and answers between two stores cause no deadlock', async (t) => {
  const { sender: one, receiver: other } = await openTwoVerifiedShops(app);
  const ids = await inParallel(4, async (index) => {
    const [from, to] = index % 2 ? [one, other] : [other, one];
    return { from, to, id: await sendRequest(app, from, await createPost(app, to.token)) };
  });
  const posts = await inParallel(10, (index) => createPost(app, (index % 2 ? one : other).token));
  await app.mails.settled();
  const answers = await Promise.all([
    ...ids.map(({ to, id }, index) => transition(app, to, id, index < 2 ? 'accept' : 'decline')),
    ...posts.map((post, index) => requestPartnership(app, index % 2 ? other : one, post)),
  ]);
  t.strictSame(tally(answers), { '200': 4, '201': 10 });
  await app.mails.settled();
  t.equal(mailsTo(one).length + mailsTo(other).length, 18);
});
