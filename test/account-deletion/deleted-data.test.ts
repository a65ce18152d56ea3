import t from 'tap';
import { MailRejectedError } from '../../src/infrastructure/mail/transport.ts';
import { signUpBody } from '../auth/accounts.ts';
import { createSettledUser, latestCode, mailsTo, newResetLink, passTime } from '../auth/mailbox.ts';
import { createTestApp, createUser, deleteAccount, logIn, password, verifyEmails } from '../support/app.ts';
import { refused } from '../support/assertions.ts';
import { openTwoShops, requestPartnership, requestsPath } from '../support/partner-requests.ts';
import { everyRow, tablesWith } from '../support/rows.ts';
import { createPost, createStore } from '../support/stores.ts';

const app = await createTestApp();
t.teardown(app.close);

const validate = (link: Record<string, string>) =>
  app.call('GET', `/auth/reset-password-validate/?${new URLSearchParams(link)}`);
const confirmReset = (link: Record<string, string>) =>
  app.call('POST', '/auth/reset-password-confirm/', {
    body: { ...link, new_password: 'rice-cake-at-dawn-3' },
  });
const confirm = (email: unknown, code: unknown, token?: string) =>
  app.call('POST', '/auth/email-verify/confirm/', { body: { email, code }, token });

t.test('the codes of a verified account that is deleted are void', async (t) => {
  const user = await createUser(app);
  const code = await latestCode(app, user.email);
  await verifyEmails(app, user);
  await deleteAccount(app, user);
  refused(t, await confirm(user.email, code), 400, 'invalid_code', { attempts_left: 0 });
});

t.test('a verification_token is void after the account of its address is deleted', async (t) => {
  const user = await createUser(app);
  const proof = await confirm(user.email, await latestCode(app, user.email), user.token);
  await deleteAccount(app, user);
  const { verification_token } = proof.body.data;
  const answer = await app.call('POST', '/auth/signup/', {
    body: signUpBody({ username: user.username, email: user.email, verification_token }),
  });
  refused(t, answer, 400, 'verification_token_invalid');
});

t.test('a reset link is void after deletion, also when a new account has the address', async (t) => {
  const user = await createSettledUser(app);
  const { email, username } = user;
  const link = await newResetLink(app, email);
  t.equal((await deleteAccount(app, user)).status, 200);
  refused(t, await validate(link), 400, 'reset_link_invalid');
  refused(t, await confirmReset(link), 400, 'reset_link_invalid');
  await createSettledUser(app, { email, username });
  refused(t, await validate(link), 400, 'reset_link_invalid');
  refused(t, await confirmReset(link), 400, 'reset_link_invalid');
  t.ok((await logIn(app, user)).token);
});

t.test('nothing is mailed to the address of a deleted account', async (t) => {
  const user = await createSettledUser(app);
  await deleteAccount(app, user);
  const { email } = user;
  const before = (await mailsTo(app, email)).length;
  t.strictSame((await app.call('POST', '/auth/find-id/', { body: { email } })).body.data, {
    accepted: true,
    resend_after: 60,
  });
  t.equal((await mailsTo(app, email)).length, before);
});

t.test('idempotency keys are deleted with their account', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const kept = await requestPartnership(app, receiver, await createPost(app, sender.token), {
    'idempotency-key': 'mine',
  });
  t.equal(kept.status, 201);
  t.equal((await requestPartnership(app, sender, post, { 'idempotency-key': 'mine' })).status, 201);
  await deleteAccount(app, sender);
  const { rows } = await app.pool.query('SELECT scope FROM idempotency_keys WHERE key = $1', ['mine']);
  t.strictSame(rows, [{ scope: `${receiver.id}:createPartnerRequest` }]);
});

t.test('failed mails are deleted with their account', async (t) => {
  const isRefused = new Set<string>();
  const app = await createTestApp(
    {},
    {
      async deliver({ to }) {
        if (isRefused.has(to)) throw new MailRejectedError('the address does not exist');
      },
    },
  );
  t.teardown(app.close);
  const email = 'refused-owner@example.com';
  isRefused.add(email);
  const user = await createUser(app, { email });
  const { token } = user;
  await app.mails.settled();
  await verifyEmails(app, user);
  await passTime(app, email, 3600);
  for (const path of ['email-verify/send', 'reset-password-request', 'find-id'])
    await app.call('POST', `/auth/${path}/`, { body: { email } });
  await app.mails.settled();
  await createStore(app, token);
  const { sender } = await openTwoShops(app);
  await requestPartnership(app, sender, await createPost(app, token));
  const new_password = 'rice-cake-at-dawn-3';
  const body = { current_password: password, new_password };
  await app.call('POST', '/auth/change-password/', { token, body });
  isRefused.add('stranger@example.com');
  await app.call('POST', '/auth/email-verify/send/', { body: { email: 'stranger@example.com' } });
  await app.mails.settled();
  const failedMails = async () =>
    (await app.pool.query<{ kind: string }>('SELECT kind FROM failed_mails')).rows.map(({ kind }) => kind);
  t.strictSame((await failedMails()).sort(), [
    'partner_request_received',
    'password_changed',
    'reset_link',
    'user_id',
    'verification_code',
    'verification_code',
    'verification_code',
  ]);
  t.equal((await deleteAccount(app, { token, password: new_password })).status, 200);
  t.strictSame(await failedMails(), ['verification_code'], 'that of an address without an account');
});

t.test('a mail that fails after its account was deleted is not kept', async (t) => {
  let reject = () => {};
  const isDeleted = new Promise<void>((resolve) => {
    reject = resolve;
  });
  const app = await createTestApp(
    {},
    {
      async deliver({ to }) {
        if (to !== 'leaving@example.com') return;
        await isDeleted;
        throw new MailRejectedError('the address does not exist');
      },
    },
  );
  t.teardown(app.close);
  const user = await createUser(app, { email: 'leaving@example.com' });
  await app.mails.next(user.email);
  t.equal((await deleteAccount(app, user)).status, 200);
  reject();
  await app.mails.settled();
  t.strictSame((await app.pool.query('SELECT * FROM failed_mails')).rows, []);
});

t.test('nothing of an account is left at rest after it was deleted', async (t) => {
  // No worker takes the queued mails, so that they can be looked through, too.
  const app = await createTestApp({ WORKER_ENABLED: 'false' });
  t.teardown(app.close);
  const username = 'keeper-owner';
  const email = 'keeper@example.com';
  const user = await createUser(app, { username, email });
  const { token, id } = user;
  // The names of the store and the post stay, for the other side of requests.
  await createStore(app, token, { description: username, address: username, business_hours: username });
  const images = [`https://cdn.example.com/${username}.jpg`];
  const content = await createPost(app, token, { content: username, images });
  await app.pool.query('UPDATE mail_sends SET sent_at = $1', [[]]);
  for (const path of ['reset-password-request', 'email-verify/send', 'find-id'])
    await app.call('POST', `/auth/${path}/`, { body: { email } });
  const key = { 'idempotency-key': 'a-post' };
  const body = { title: '제목', content: '내용', images: ['https://cdn.example.com/1.jpg'] };
  t.equal((await app.call('POST', '/api/v1/posts/', { token, headers: key, body: body })).status, 201);
  const lock = ['idempotency_keys', 'known_addresses', 'notification_counts', 'notifications', 'sessions'];
  const other = await createUser(app);
  await createStore(app, other.token);
  const request = { post_id: content.id, message: '함께 해요!' };
  t.equal((await app.call('POST', requestsPath, { token: other.token, body: request })).status, 201);
  t.strictSame(await tablesWith(app, id), lock);
  t.equal((await app.call('DELETE', '/auth/me/', { token, body: { password: user.password } })).status, 200);
  t.strictSame(await tablesWith(app, id), []);
  const rows = (await everyRow(app))
    .split('\n')
    .filter((row) => row.includes(email) || row.includes(username));
  // The cooldowns and caps of the address outlive the account, as does a code, until it expires.
  t.strictSame(
    rows.filter((row) => !/mail_sends|email_codes/.test(row)),
    [],
  );
});
