import t from 'tap';
import { createTestApp, createUser, deleteAccount, suspend, verifyEmails } from '../support/app.ts';
import { tally } from '../support/assertions.ts';
import { inParallel } from '../support/concurrency.ts';
import {
  becomePartners,
  notifiedOf,
  openTwoVerifiedShops,
  requestPartnership,
  requestsPath,
  sendRequest,
  transition,
} from '../support/partner-requests.ts';
import { countRows } from '../support/rows.ts';
import { createPost, createStore, type Shop } from '../support/stores.ts';
import { until } from '../support/until.ts';

// Without a quota, so that the caps on emails come first.
const app = await createTestApp({ QUOTA_REQUESTS_PER_DAY: '0' });

/** Emails about requests to an owner, once the queue is empty. */
async function mailsTo({ email }: Pick<Shop, 'email'>) {
  await app.mails.settled();
  return app.mails.sent.filter(({ to, text }) => to === email && text.includes('/requests/'));
}

/** Two shops with quiet hours, so that their emails wait in the queue until {@link endQuietHours}. */
async function openTwoQuietShops() {
  const shops = await openTwoVerifiedShops(app);
  const inKorea = (hours: number) =>
    `to_char(now() AT TIME ZONE 'Asia/Seoul' + interval '${hours} hours', 'HH24:MI')`;
  await app.pool.query(
    `UPDATE users SET quiet_from = ${inKorea(-1)}, quiet_to = ${inKorea(1)} WHERE id = ANY ($1)`,
    [[shops.sender.id, shops.receiver.id]],
  );
  return shops;
}

/** Ends all quiet hours, once every email waits for that. */
async function endQuietHours() {
  await until('every email waits', async () => {
    const due = 'graphile_worker.jobs WHERE run_at <= now() OR locked_at IS NOT NULL';
    return (await countRows(app, `outbox UNION ALL SELECT FROM ${due}`)) === 0;
  });
  await app.pool.query(`UPDATE users SET quiet_from = NULL, quiet_to = NULL;
    UPDATE graphile_worker._private_jobs SET run_at = now();
    NOTIFY "jobs:insert"`);
}

t.test('the receiver of a request gets an email, and the sender when it is answered', async (t) => {
  const { sender, receiver, post } = await openTwoVerifiedShops(app);
  const id = await sendRequest(app, sender, post);
  const [received, ...others] = await mailsTo(receiver);
  t.equal(received?.subject, '[두레] 새로운 제휴 요청이 도착했습니다 · 두레 베이커리');
  const link = `https://app.example.com/requests/${id}\n`;
  const asked = '두레 베이커리에서 ‘주말 공동 할인’ 글을 보고 제휴를 요청했습니다.';
  for (const part of ['김두레님', asked, '함께 해요!', link]) t.match(received?.text, part);
  t.strictSame([others, await mailsTo(sender)], [[], []]);
  await transition(app, receiver, id, 'decline');
  const acceptedId = await becomePartners(app, { sender, receiver, post });
  const answers = await mailsTo(sender);
  const subjects = ['거절', '수락'].map((answer) => `[두레] 제휴 요청이 ${answer}되었습니다 · 햇살카페`);
  t.strictSame(answers.map(({ subject }) => subject).sort(), subjects.toSorted());
  const accepted = answers.find(({ subject }) => subject === subjects[1]);
  t.match(accepted?.text, '‘주말 공동 할인’ 글에 보내신 제휴 요청을 햇살카페에서 수락했습니다.');
  t.match(accepted?.text, `연락처 보기:\nhttps://app.example.com/requests/${acceptedId}\n`);
  t.notMatch(accepted?.text, receiver.email, 'the contact is not in the email');
});

t.test('the other side gets an email when a partnership ends, also with an account', async (t) => {
  const { sender, receiver, post } = await openTwoVerifiedShops(app);
  const partners = { sender, receiver, post };
  const id = await becomePartners(app, partners);
  await transition(app, sender, id, 'end');
  const ended = { subject: '[두레] 제휴가 종료되었습니다 · 두레 베이커리' };
  const sent = (await mailsTo(receiver)).find(({ subject }) => subject === ended.subject);
  t.match(sent?.text, `https://app.example.com/requests/${id}\n`);
  await transition(app, receiver, await becomePartners(app, partners), 'end');
  const subjects = (await mailsTo(sender)).map(({ subject }) => subject);
  t.ok(subjects.includes('[두레] 제휴가 종료되었습니다 · 햇살카페'));
  await becomePartners(app, partners);
  await becomePartners(app, { ...partners, post: await createPost(app, receiver.token) });
  const before = (await mailsTo(receiver)).length;
  t.equal((await deleteAccount(app, sender)).status, 200);
  const [last, ...others] = (await mailsTo(receiver)).slice(before);
  t.match(last, ended);
  t.strictSame(others, [], 'one email, however many requests end');
});

t.test("emails are in the recipient's language; withdrawals and rejected actions send none", async (t) => {
  const { sender, receiver, post } = await openTwoVerifiedShops(app);
  const { username, password } = receiver;
  const headers = { 'accept-language': 'en' };
  await app.call('POST', '/auth/login/', { body: { username, password }, headers });
  const id = await sendRequest(app, sender, post);
  t.match(await mailsTo(receiver), [{ subject: 'Dure: You have a new partnership request · 두레 베이커리' }]);
  await transition(app, sender, id, 'withdraw');
  await transition(app, receiver, id, 'accept');
  await transition(app, sender, id, 'decline');
  t.strictSame([(await mailsTo(receiver)).length, (await mailsTo(sender)).length], [1, 0]);
  const other = await sendRequest(app, sender, post);
  await app.call('POST', `${requestsPath}${other}/accept/`, { token: receiver.token, headers });
  t.match(await mailsTo(sender), [{ subject: '[두레] 제휴 요청이 수락되었습니다 · 햇살카페' }]);
});

t.test('queued emails follow what happens to the request and its accounts meanwhile', async (t) => {
  type Asked = Awaited<ReturnType<typeof openTwoQuietShops>> & { id: number };
  type Side = 'sender' | 'receiver';
  const step = (side: Side, action: Parameters<typeof transition>[3]) => (asked: Asked) =>
    transition(app, asked[side], asked.id, action);
  const update = (side: Side, change: string) => (asked: Asked) =>
    app.pool.query(`UPDATE users SET ${change} WHERE id = $1`, [asked[side].id]);
  const hideStore = ({ sender: { store } }: Asked) =>
    app.pool.query('UPDATE stores SET hidden_at = now() WHERE id = $1', [store.id]);
  const [accept, end] = [step('receiver', 'accept'), step('receiver', 'end')];
  const leave = (side: Side) => (asked: Asked) => deleteAccount(app, asked[side]);
  const hide = (side: Side) => (asked: Asked) => suspend(app, asked[side]);
  const deletePost = ({ post, receiver: { token } }: Asked) =>
    app.call('DELETE', `/api/v1/posts/${post.id}/`, { token });
  type Steps = ((asked: Asked) => Promise<unknown>)[];
  // What happens after the request, and the emails to the receiver and to the sender: kinds of those that are still true.
  const cases: [what: string, steps: Steps, receiver: string, sender: string][] = [
    ['pending', [], '요청', ''],
    ['accepted', [accept], '요청', '수락'],
    ['withdrawn', [step('sender', 'withdraw')], '', ''],
    ['declined', [step('receiver', 'decline')], '요청', '거절'],
    ['ended: no longer new', [accept, end], '', '수락 종료'],
    ['pending, the sender deleted', [leave('sender')], '', ''],
    ['pending, the sender suspended', [hide('sender')], '', ''],
    ['pending, the store of the sender hidden', [hideStore], '', ''],
    ['pending, the post deleted', [deletePost], '', ''],
    ['pending, the receiver deleted', [leave('receiver')], '', ''],
    ['pending, the receiver suspended', [hide('receiver')], '', ''],
    ['pending, the receiver unverified', [update('receiver', 'is_verified = false')], '', ''],
    ['accepted, the sender deleted', [accept, leave('sender')], '종료', ''],
    ['accepted, the sender suspended', [accept, hide('sender')], '', ''],
    ['accepted, the receiver suspended', [accept, hide('receiver')], '', ''],
    ['accepted, the sender unverified', [accept, update('sender', 'is_verified = false')], '요청', ''],
    ['ended, the receiver suspended', [accept, end, hide('receiver')], '', ''],
    ['the receiver with another address', [update('receiver', "email = 'moved-shop@example.com'")], '', ''],
  ];
  const queued = new Map<string, Asked>();
  for (const [what, steps] of cases) {
    const shops = await openTwoQuietShops();
    const asked = { ...shops, id: await sendRequest(app, shops.sender, shops.post) };
    for (const next of steps) await next(asked);
    queued.set(what, asked);
  }
  await endQuietHours();
  const kindsTo = async (shop: Pick<Shop, 'email'> | undefined) =>
    (await mailsTo({ email: '', ...shop }))
      .map(({ subject }) => /제휴.*(요청|수락|거절|종료)/.exec(subject)?.[1])
      .sort();
  const kinds = (kinds: string) => kinds.split(' ').filter(Boolean);
  for (const [what, , receiver, sender] of cases) {
    t.strictSame(await kindsTo(queued.get(what)?.receiver), kinds(receiver), `${what}: receiver`);
    t.strictSame(await kindsTo(queued.get(what)?.sender), kinds(sender), `${what}: sender`);
  }
  t.strictSame(await kindsTo({ email: 'moved-shop@example.com' }), ['요청'], 'to the current address');
  t.strictSame((await app.pool.query('SELECT * FROM failed_mails')).rows, []);
});

/** Sends a request and waits for its email. */
async function sendAndMail(sender: Shop, post: { id: number }) {
  const id = await sendRequest(app, sender, post);
  await app.mails.settled();
  return id;
}

/** Counts further emails about requests to an address, as if they had been sent a minute ago. */
async function countMails({ email }: Shop, mails: number): Promise<void> {
  await app.pool.query(
    `UPDATE mail_sends SET sent_at = sent_at || array_fill(now() - interval '1 minute', ARRAY[$2::int])
     WHERE purpose = 'partner_request' AND email = $1`,
    [email, mails],
  );
}

/** How many emails about requests to an address are counted. */
const countedMails = ({ email }: Shop) =>
  countRows(app, "mail_sends, unnest(sent_at) WHERE purpose = 'partner_request' AND email = $1", email);

t.test('repeated requests email the receiver, and declines the sender, five times an hour', async (t) => {
  const { sender, receiver, post } = await openTwoVerifiedShops(app);
  for (let turn = 0; turn < 7; turn++)
    await transition(app, receiver, await sendAndMail(sender, post), 'decline');
  t.strictSame([(await mailsTo(sender)).length, (await mailsTo(receiver)).length], [5, 5]);
  const received = (await notifiedOf(app, receiver)).filter(([kind]) => kind === 'received');
  t.equal(received.length, 7, 'but gets all notifications');

  const other = await createPost(app, receiver.token, { title: '다른 이야기' });
  await transition(app, sender, await sendAndMail(sender, other), 'withdraw');
  t.equal((await mailsTo(receiver)).length, 6, 'another post is another matter');
  await app.pool.query("UPDATE partner_requests SET created_at = created_at - interval '61 minutes'");
  await sendRequest(app, sender, post);
  t.equal((await mailsTo(receiver)).length, 7, 'an hour later as well');
});

t.test('an address gets at most 60 emails an hour about requests, also of concurrent ones', async (t) => {
  const { sender, receiver, post } = await openTwoVerifiedShops(app);
  await sendAndMail(sender, post);
  await countMails(receiver, 44);
  const posts = await inParallel(20, () => createPost(app, receiver.token));
  const responses = await Promise.all(posts.map((one) => requestPartnership(app, sender, one)));
  t.strictSame(tally(responses), { '201': 20 });
  t.equal((await mailsTo(receiver)).length, 1 + 15);
  t.equal(await countedMails(receiver), 60);
  t.equal((await notifiedOf(app, receiver)).length, 21, 'but gets all notifications');
  await app.pool.query(
    `UPDATE mail_sends SET sent_at = ARRAY(SELECT sent - interval '61 minutes' FROM unnest(sent_at) sent) WHERE email = $1`,
    [receiver.email],
  );
  await sendRequest(app, sender, await createPost(app, receiver.token));
  t.equal((await mailsTo(receiver)).length, 17, 'an hour later as well');
  t.equal(await countedMails(receiver), 1, 'older emails are not kept');
});

t.test('answers count for the address of the sender, requests for that of the receiver', async (t) => {
  const { sender, receiver, post } = await openTwoVerifiedShops(app);
  for (const counted of [0, 59]) {
    await countMails(sender, counted);
    await transition(app, receiver, await sendAndMail(sender, post), 'decline');
    await app.mails.settled();
  }
  t.equal((await mailsTo(sender)).length, 1);
  t.equal((await mailsTo(receiver)).length, 2);
});

t.test('the cap of an address outlives its account', async (t) => {
  const { sender, receiver, post } = await openTwoVerifiedShops(app);
  const openAgain = async ({ username, email }: Shop): Promise<Shop> => {
    const user = await createUser(app, { username, email });
    await verifyEmails(app, user);
    return { ...user, store: await createStore(app, user.token) };
  };
  await sendAndMail(sender, post);
  await countMails(receiver, 59);
  t.equal((await deleteAccount(app, receiver)).status, 200);
  const again = await openAgain(receiver);
  await sendRequest(app, sender, await createPost(app, again.token));
  t.equal((await mailsTo(again)).length, 1, 'the one before the deletion');
  t.equal((await notifiedOf(app, again)).length, 1);
});
