import t from 'tap';
import { MailRejectedError, type OutgoingMail } from '../../src/infrastructure/mail/transport.ts';
import { accountsOf, newPassword, signUpBody } from '../auth/accounts.ts';
import { createSettledUser, latestCode, newResetLink, passTime } from '../auth/mailbox.ts';
import { notificationsIn } from '../notifications/notified.ts';
import { createTestApp, deleteAccount, logIn, password, signUpUser, verifyEmails } from '../support/app.ts';
import { rejected } from '../support/assertions.ts';
import { gate } from '../support/concurrency.ts';
import { notificationsOf, openTwoShops, requestPartnership } from '../support/partner-requests.ts';
import { countRows, everyRow, tablesWith } from '../support/rows.ts';
import { createPost, createStore, openShop } from '../support/stores.ts';

const app = await createTestApp();

const { signUp, confirm, validateReset, confirmReset } = accountsOf(app);

t.test('the codes of a verified account that is deleted are void', async (t) => {
  const user = await signUpUser(app);
  const code = await latestCode(app, user.email);
  await verifyEmails(app, user);
  await deleteAccount(app, user);
  rejected(t, await confirm({ email: user.email, code }), 400, 'invalid_code', { attempts_left: 0 });
});

t.test('a verification_token is void after the account of its address is deleted', async (t) => {
  const user = await signUpUser(app);
  const proof = await confirm({ email: user.email, code: await latestCode(app, user.email) }, user.token);
  await deleteAccount(app, user);
  const { verification_token } = proof.body.data;
  const response = await signUp(signUpBody({ email: user.email, verification_token }));
  rejected(t, response, 400, 'verification_token_invalid');
});

t.test('a reset link is void after deletion, also when a new account has the address', async (t) => {
  const user = await createSettledUser(app);
  const { email, username } = user;
  const link = await newResetLink(app, email);
  t.equal((await deleteAccount(app, user)).status, 200);
  rejected(t, await validateReset(link), 400, 'reset_link_invalid');
  rejected(t, await confirmReset(link), 400, 'reset_link_invalid');
  await createSettledUser(app, { email, username });
  rejected(t, await validateReset(link), 400, 'reset_link_invalid');
  rejected(t, await confirmReset(link), 400, 'reset_link_invalid');
  t.ok((await logIn(app, user)).token);
});

/** Addresses that the provider rejects, the first one late. */
const [leaving, rejecting, stranger] = ['leaving@example.com', 'owner@example.com', 'stranger@example.com'];
const { open: fail, opened: isDeleted } = gate();
const deliveries: string[] = [];
const deliver = async ({ to, subject }: OutgoingMail) => {
  deliveries.push(`${to} ${subject}`);
  if (to === leaving) await isDeleted;
  if ([leaving, rejecting, stranger].includes(to)) throw new MailRejectedError('no such address');
};
const withProvider = await createTestApp({}, { deliver });

t.test('failed emails are deleted with their account', async (t) => {
  const app = withProvider;
  const failedMails = async () =>
    (await app.pool.query<{ kind: string }>('SELECT kind FROM failed_mails')).rows.map(({ kind }) => kind);
  const late = await signUpUser(app, { email: leaving });
  await app.mails.next(leaving);
  t.equal((await deleteAccount(app, late)).status, 200);
  fail();
  await app.mails.settled();
  t.strictSame(await failedMails(), [], 'nor is one kept that fails after the deletion');

  const { post, changePassword } = accountsOf(app);
  const user = await signUpUser(app, { email: rejecting });
  const { token } = user;
  await app.mails.settled();
  await verifyEmails(app, user);
  await passTime(app, rejecting, 3600);
  for (const path of ['email-verify/send', 'reset-password-request', 'find-id'])
    await post(path, { email: rejecting });
  await app.mails.settled();
  await createStore(app, token);
  const { sender } = await openTwoShops(app);
  await requestPartnership(app, sender, await createPost(app, token));
  await changePassword(token, password);
  await post('email-verify/send', { email: stranger });
  await app.mails.settled();
  const codes = ['verification_code', 'verification_code', 'verification_code'];
  const kinds = ['partner_request_received', 'password_changed', 'reset_link', 'user_id', ...codes];
  t.strictSame((await failedMails()).sort(), kinds);
  t.equal((await deleteAccount(app, { token, password: newPassword })).status, 200);
  t.strictSame(await failedMails(), ['verification_code'], 'that of an address without an account');
});

t.test('a verified address gets an email that its account is deleted, as the last one', async (t) => {
  const app = withProvider;
  const verified = 'verified@example.com';
  for (const [email, language, isVerified, expected] of [
    [verified, 'ko', true, [`${verified} [두레] 회원 탈퇴가 완료되었습니다`]],
    ['unverified@example.com', 'ko', false, []],
    [rejecting, 'en', true, [`${rejecting} Your Dure account was deleted`]],
  ] as const) {
    const user = await createSettledUser(app, { email });
    deliveries.length = 0;
    if (isVerified) await verifyEmails(app, user);
    const body = { password };
    const headers = { 'accept-language': language };
    t.equal((await app.call('DELETE', '/auth/me/', { token: user.token, body, headers })).status, 200);
    await app.mails.settled();
    t.strictSame(deliveries, expected);
  }
  const failed = await countRows(app, "failed_mails WHERE kind = 'account_deleted'");
  t.equal(failed, 0, 'nor is it kept when it fails');
});

t.test('nothing of an account is left at rest after it was deleted', async (t) => {
  // No worker takes the queued emails, so that they can be looked through, too.
  const app = await createTestApp({ WORKER_ENABLED: 'false' });
  const username = 'keeper-owner';
  const email = 'keeper@example.com';
  const user = await signUpUser(app, { username, email });
  const { token, id } = user;
  await verifyEmails(app, user);
  // The names of the store and the post stay, for the other side of requests.
  await createStore(app, token, { description: username, address: username, business_hours: username });
  const images = [`https://cdn.example.com/${username}.jpg`];
  const content = await createPost(app, token, { content: username, images });
  await passTime(app, email, 3600);
  for (const path of ['reset-password-request', 'email-verify/send', 'find-id'])
    await accountsOf(app).post(path, { email });
  const key = { 'idempotency-key': 'a-post' };
  const body = { title: '제목', content: '내용', images: ['https://cdn.example.com/1.jpg'] };
  t.equal((await app.call('POST', '/api/v1/posts/', { token, headers: key, body })).status, 201);
  const tables = ['idempotency_keys', 'known_addresses', 'notification_counts'];
  tables.push('notifications', 'sessions');
  const other = await openShop(app);
  for (const post of [content, await createPost(app, token)])
    t.equal((await requestPartnership(app, other, post, { 'idempotency-key': `${post.id}` })).status, 201);
  const { items } = await notificationsOf(app, user);
  t.equal((await notificationsIn(app).markRead(user, { ids: [items[0].id] })).status, 200);
  t.strictSame(await tablesWith(app, id), tables);
  t.equal((await deleteAccount(app, user)).status, 200);
  t.strictSame(await tablesWith(app, id), []);
  t.ok((await tablesWith(app, other.id)).includes('idempotency_keys'), 'what others have stays');
  const rows = (await everyRow(app))
    .split('\n')
    .filter((row) => row.includes(email) || row.includes(username));
  // The cooldowns and caps of the address outlive the account, as does a code, until it expires.
  const others = rows.filter((row) => !/mail_sends|email_codes/.test(row));
  t.strictSame(others, []);
});
