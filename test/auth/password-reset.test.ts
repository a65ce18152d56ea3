import t from 'tap';
import { createTestApp, logIn, password, resetLinkIn } from '../support/app.ts';
import { refused, tokenRefused } from '../support/assertions.ts';
import {
  about,
  comparable,
  createSettledUser,
  createVerifiedUser,
  latestMail,
  mailsTo,
  passTime,
} from './mailbox.ts';
import { newPassword, passwordResetOf } from './password-reset.ts';

const app = await createTestApp();
const secondApp = await createTestApp({ WORKER_ENABLED: 'false' }, { databaseUrl: app.url });
t.teardown(async () => {
  await secondApp.close();
  await app.close();
});

const hour = 3600;
const { request, validate, confirm, tryLogin, createUserWithLink } = passwordResetOf(app);
const me = (token: string, at = app) => at.call('GET', '/auth/me/', { token });
const refresh = (refresh: string, at = app) => at.call('POST', '/auth/token/refresh/', { body: { refresh } });

t.test('a request is answered the same for unknown, unverified and verified addresses', async (t) => {
  const unverified = await createSettledUser(app);
  const verified = await createVerifiedUser(app);
  const answers = [];
  for (const email of ['reset-unknown@example.com', unverified.email, verified.email]) {
    answers.push(await request(email));
  }
  const [unknown, ...others] = answers.map(comparable);
  t.equal(unknown?.status, 200);
  t.equal(answers[0]?.body.success, true);
  t.strictSame(answers[0]?.body.data, { accepted: true, resend_after: 60 });
  for (const answer of others) t.strictSame(answer, unknown);
});

t.test('a link is only mailed to the address of an account', async (t) => {
  const { email } = await createSettledUser(app);
  await request('reset-stranger@example.com');
  await request(email);
  const { url, uid, token } = resetLinkIn(await latestMail(app, email));
  t.equal(url, `https://app.example.com/reset-password?uid=${uid}&token=${token}`);
  t.ok(uid);
  t.match(token, /^[\w-]{22,}$/, 'at least 128 bits in letters that a URL can hold');
  t.match((await latestMail(app, email)).html, `uid=${uid}&amp;token=${token}`);
  t.equal((await mailsTo(app, 'reset-stranger@example.com')).length, 0);
});

t.test('the host of a link never comes from a request header', async (t) => {
  const { email } = await createSettledUser(app);
  await request(email, {
    host: 'evil.example',
    'x-forwarded-host': 'evil.example',
    'x-forwarded-proto': 'http',
    'x-forwarded-for': '203.0.113.9',
    forwarded: 'host=evil.example',
    'x-original-url': 'https://evil.example/',
    origin: 'https://evil.example',
    referer: 'https://evil.example/',
  });
  const mail = await latestMail(app, email);
  t.match(resetLinkIn(mail).url, /^https:\/\/app\.example\.com\/reset-password\?/);
  t.notMatch(JSON.stringify(mail), 'evil');
});

t.test('requests have a cooldown and an hourly cap, also for unknown addresses', async (t) => {
  const user = await createSettledUser(app);
  await passTime(app, user.email, hour);
  for (const [email, mailed] of [
    [user.email, 5],
    ['reset-capped@example.com', 0],
  ] as const) {
    const before = (await mailsTo(app, email)).length;
    t.equal((await request(email)).body.data.resend_after, 60, 'email-verify/send has a cooldown of its own');
    await passTime(app, email, 20);
    about(t, (await request(email)).body.data.resend_after, 40);
    t.equal((await mailsTo(app, email)).length - before, mailed && 1, 'nothing inside the cooldown');
    for (let sends = 1; sends < 5; sends++) {
      await passTime(app, email, 60);
      await request(email);
      // A link that the next one voids before it was mailed is not mailed any more.
      await app.mails.settled();
    }
    await passTime(app, email, 60);
    about(t, (await request(email)).body.data.resend_after, hour - 320);
    t.equal((await mailsTo(app, email)).length - before, mailed);
  }
});

t.test('an address is trimmed and case-folded', async (t) => {
  const { email } = await createSettledUser(app);
  await request(`  ${email.toUpperCase()} `);
  t.equal((await validate(resetLinkIn(await latestMail(app, email)))).status, 200);
  about(t, (await request(email)).body.data.resend_after, 60);
});

t.test('validate answers when a link expires, and does not use it up', async (t) => {
  const { link } = await createUserWithLink();
  const first = await validate(link);
  t.equal(first.status, 200);
  t.equal(first.body.success, true);
  const { expires_at } = first.body.data;
  t.strictSame(first.body.data, { expires_at });
  t.match(expires_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);
  about(t, Math.ceil((Date.parse(expires_at) - Date.now()) / 1000), hour);
  t.strictSame((await validate(link)).body.data, { expires_at });
  t.equal((await confirm(link)).status, 200);
});

t.test('completing a reset sets the password', async (t) => {
  const { link, username, email } = await createUserWithLink();
  const answer = await confirm(link);
  t.equal(answer.status, 200);
  t.equal(answer.body.success, true);
  t.strictSame(answer.body.data, {});
  refused(t, await tryLogin(username, password), 401, 'invalid_credentials');
  t.equal((await tryLogin(username, newPassword)).status, 200);
  t.equal((await tryLogin(email, newPassword)).status, 200);
});

t.test('completing a reset ends every session at once, on every instance', async (t) => {
  const user = await createUserWithLink();
  const sessions = [user, await logIn(app, user), await logIn(secondApp, user)];
  for (const { token } of sessions) t.equal((await me(token, secondApp)).status, 200);
  t.equal((await confirm(user.link)).status, 200);
  for (const session of sessions) {
    for (const at of [app, secondApp]) {
      tokenRefused(t, await me(session.token, at), 'revoked');
      tokenRefused(t, await refresh(session.refresh, at), 'revoked', 'refresh');
    }
  }
});

t.test('completing a reset marks the e-mail verified and mails a notice', async (t) => {
  const { link, token, username, email } = await createUserWithLink();
  t.equal((await me(token)).body.data.is_verified, false);
  const mailed = (await mailsTo(app, email)).length;
  await confirm(link);
  const session = await logIn(app, { username, password: newPassword });
  t.equal((await me(session.token)).body.data.is_verified, true);
  const notices = (await mailsTo(app, email)).slice(mailed);
  t.equal(notices.length, 1);
  t.match(notices[0]?.subject, '비밀번호가 변경');
});
