import t from 'tap';
import { mailsTo } from '../auth/mailbox.ts';
import { createTestApp, createUser, logIn, queuedFor } from '../support/app.ts';
import { invalid, tokenRefused } from '../support/assertions.ts';
import { lockRows } from '../support/concurrency.ts';
import { notifiedOf, openTwoVerifiedShops, sendRequest, transition } from '../support/partner-requests.ts';
import { everyMail, preferencesOf, preferencesPath } from './mails.ts';

const app = await createTestApp();
t.teardown(app.close);

const change = (token: string, body: unknown) => app.call('PATCH', preferencesPath, { token, body });

t.test('a new user gets every mail, in the language of the sign-up', async (t) => {
  const user = await createUser(app);
  t.strictSame(await preferencesOf(app, user), { language: 'ko', email: everyMail });
});

t.test('a change changes the given fields only, and answers with all of them', async (t) => {
  const user = await createUser(app);
  const off = await change(user.token, { email: { partner_request_answered: false } });
  const email = { ...everyMail, partner_request_answered: false };
  t.equal(off.status, 200);
  t.strictSame(off.body.data, { language: 'ko', email });
  const again = await change(user.token, {
    language: 'en',
    email: { partner_request_answered: false, partner_request_ended: false },
  });
  t.strictSame(again.body.data, { language: 'en', email: { ...email, partner_request_ended: false } });
  const on = await change(user.token, { email: { partner_request_answered: true } });
  t.strictSame(on.body.data.email, { ...everyMail, partner_request_ended: false });
  t.strictSame(await preferencesOf(app, user), on.body.data);
});

t.test('nothing, or what is not known, is a validation error', async (t) => {
  const { token } = await createUser(app);
  invalid(t, await change(token, {}), 'body');
  invalid(t, await change(token, { email: {} }), 'email');
  invalid(t, await change(token, { language: 'fr' }), 'language');
  invalid(
    t,
    await change(token, { email: { partner_request_received: 'false' } }),
    '/email/partner_request_received',
  );
  invalid(t, await change(token, { email: { password_changed: false } }), '/email/password_changed');
  tokenRefused(t, await app.call('GET', preferencesPath, { token: 'x' }), 'malformed');
});

t.test('a login changes the language of emails until the user has chosen one', async (t) => {
  const user = await createUser(app);
  const body = { username: user.username, password: user.password };
  const logInIn = (language: string) =>
    app.call('POST', '/auth/login/', { body, headers: { 'accept-language': language } });
  await logInIn('en');
  t.equal((await preferencesOf(app, user)).language, 'en');
  await change(user.token, { email: { partner_request_ended: false } });
  await logInIn('ko');
  t.equal((await preferencesOf(app, user)).language, 'ko', 'another preference chooses no language');
  await change(user.token, { language: 'en' });
  await logInIn('ko');
  t.equal((await preferencesOf(app, user)).language, 'en');
});

t.test('emails are in the chosen language, notifications in that of the request', async (t) => {
  const { sender, receiver, post } = await openTwoVerifiedShops(app);
  await change(receiver.token, { language: 'en' });
  await logIn(app, receiver);
  const mailed = (await mailsTo(app, receiver.email)).length;
  await sendRequest(app, sender, post);
  t.equal((await app.mails.next(receiver.email, mailed)).language, 'en');
  const { items } = (await app.call('GET', '/api/v1/notifications/mypage/', { token: receiver.token })).body
    .data;
  t.match(items[0].message, /[가-힣]/);
});

t.test('a kind of mail that is switched off is not sent; its notification is there', async (t) => {
  const { sender, receiver, post } = await openTwoVerifiedShops(app);
  await change(receiver.token, { email: { partner_request_received: false } });
  await change(sender.token, { email: { partner_request_answered: false } });
  const before = [await mailsTo(app, receiver.email), await mailsTo(app, sender.email)];
  const accepted = await sendRequest(app, sender, post);
  await transition(app, receiver, accepted, 'accept');
  t.strictSame([await mailsTo(app, receiver.email), await mailsTo(app, sender.email)], before);
  t.strictSame(await notifiedOf(app, receiver), [['received', accepted, '수락됨']]);
  t.strictSame(await notifiedOf(app, sender), [['accepted', accepted, '수락됨']]);
  const { rows } = await app.pool.query(
    "SELECT FROM mail_sends WHERE purpose = 'partner_request' AND email = ANY ($1)",
    [[receiver.email, sender.email]],
  );
  t.equal(rows.length, 0, 'it does not count for the cap either');

  // The other kinds are still sent.
  await change(sender.token, { email: { partner_request_answered: true, partner_request_received: false } });
  const other = await openTwoVerifiedShops(app);
  const declined = await sendRequest(app, sender, other.post);
  await transition(app, other.receiver, declined, 'decline');
  t.match((await app.mails.next(sender.email, before[1]?.length)).subject, '거절했습니다');
});

t.test('notices about the account cannot be switched off', async (t) => {
  const { sender } = await openTwoVerifiedShops(app);
  const off = Object.fromEntries(Object.keys(everyMail).map((name) => [name, false]));
  await change(sender.token, { email: off });
  const mailed = (await mailsTo(app, sender.email)).length;
  const body = { current_password: sender.password, new_password: 'rice-cake-at-dawn-3' };
  await app.call('POST', '/auth/change-password/', { token: sender.token, body });
  t.match((await app.mails.next(sender.email, mailed)).subject, '비밀번호가 변경');
});

t.test('an email that was queued before it was switched off is not sent', async (t) => {
  const waiting = await createTestApp({ WORKER_ENABLED: 'false' });
  t.teardown(waiting.close);
  const { sender, receiver, post } = await openTwoVerifiedShops(waiting);
  await sendRequest(waiting, sender, post);
  t.strictSame(await queuedFor(waiting, receiver), ['partner_request_received']);
  const off = { email: { partner_request_received: false } };
  await waiting.call('PATCH', preferencesPath, { token: receiver.token, body: off });
  const mailer = await createTestApp({}, { databaseUrl: waiting.url });
  t.teardown(mailer.close);
  await mailer.mails.settled();
  t.ok(mailer.mails.sent.length > 0, 'other mails are sent');
  t.notOk(mailer.mails.sent.some(({ subject }) => subject.includes('제휴')));
});

t.test('of concurrent changes of different preferences, all count', async (t) => {
  const user = await createUser(app);
  const row = await lockRows(t, app, 'SELECT FROM users WHERE id = $1 FOR UPDATE', [user.id]);
  const changes = Object.keys(everyMail).map((name) => change(user.token, { email: { [name]: false } }));
  await row.waiters(3);
  await row.release();
  await Promise.all(changes);
  const { email } = await preferencesOf(app, user);
  t.strictSame(Object.values(email), [false, false, false]);
});
