import t from 'tap';
import { createTestApp, logIn, password, resetLinkIn } from '../support/app.ts';
import { invalid, refused, tally, tokenRefused } from '../support/assertions.ts';
import { inParallel } from '../support/concurrency.ts';
import {
  about,
  comparable,
  createSettledUser,
  createVerifiedUser,
  latestMail,
  mailsTo,
  newResetLink,
  passTime,
} from './mailbox.ts';

const app = await createTestApp();
const secondApp = await createTestApp({ WORKER_ENABLED: 'false' }, { databaseUrl: app.url });
t.teardown(async () => {
  await secondApp.close();
  await app.close();
});

const hour = 3600;
const newPassword = 'rice-cake-at-dawn-3';

interface Link {
  uid: string;
  token: string;
}

const request = (email: unknown, headers: Record<string, string> = {}) =>
  app.call('POST', '/auth/reset-password-request/', { body: { email }, headers });
const validate = (link: Record<string, string> | Link) =>
  app.call('GET', `/auth/reset-password-validate/?${new URLSearchParams({ ...link })}`);
const confirm = (link: Link, new_password: unknown = newPassword) =>
  app.call('POST', '/auth/reset-password-confirm/', { body: { ...link, new_password } });
const tryLogin = (username: string, password: string) =>
  app.call('POST', '/auth/login/', { body: { username, password } });
const me = (token: string, at = app) => at.call('GET', '/auth/me/', { token });
const refresh = (refresh: string, at = app) => at.call('POST', '/auth/token/refresh/', { body: { refresh } });

/** An account, and a link in its mailbox. */
async function createUserWithLink() {
  const user = await createSettledUser(app);
  return { ...user, link: await newResetLink(app, user.email) };
}

t.test('a request is answered the same, whoever the address belongs to', async (t) => {
  const unverified = await createSettledUser(app);
  const verified = await createVerifiedUser(app);
  const answers = [];
  for (const email of ['reset-nobody@example.com', unverified.email, verified.email]) {
    answers.push(await request(email));
  }
  const [nobody, ...others] = answers.map(comparable);
  t.equal(nobody?.status, 200);
  t.equal(answers[0]?.body.success, true);
  t.strictSame(answers[0]?.body.data, { resend_after: 60 });
  for (const answer of others) t.strictSame(answer, nobody);
});

t.test('a link is mailed to an account and to nobody else', async (t) => {
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

t.test('the host of a link never comes from a header', async (t) => {
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

t.test('requests have a cooldown and an hourly cap, also for an address that nobody has', async (t) => {
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

t.test('twenty requests at once mail one link', async (t) => {
  const { email } = await createSettledUser(app);
  const before = (await mailsTo(app, email)).length;
  t.strictSame(tally(await inParallel(20, () => request(email))), { '200': 20 });
  t.equal((await mailsTo(app, email)).length - before, 1);
  t.equal((await validate(resetLinkIn(await latestMail(app, email)))).status, 200);
});

t.test('an address is the same in capitals and with space around it', async (t) => {
  const { email } = await createSettledUser(app);
  await request(`  ${email.toUpperCase()} `);
  t.equal((await validate(resetLinkIn(await latestMail(app, email)))).status, 200);
  about(t, (await request(email)).body.data.resend_after, 60);
});

t.test('validate says when a link expires, and consumes nothing', async (t) => {
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

t.test('a wrong link is refused and leaves the right one as it is', async (t) => {
  const { link, username } = await createUserWithLink();
  const stranger = await createUserWithLink();
  const flipped = link.token.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'));
  const wrong: Link[] = [
    { ...link, token: flipped },
    { ...link, token: link.token.slice(0, -1) },
    { ...link, token: `${link.token}A` },
    { ...link, token: link.token.toLowerCase() },
    { ...link, token: stranger.link.token },
    { ...link, token: link.uid },
    { ...link, uid: stranger.link.uid },
    { ...link, uid: '00000000-0000-4000-8000-000000000000' },
    { ...link, uid: '1' },
    { ...link, uid: `${link.uid}' OR '1'='1` },
    { ...link, uid: '김두레' },
  ];
  for (const parts of wrong) {
    refused(t, await validate(parts), 400, 'reset_link_invalid');
    refused(t, await confirm(parts), 400, 'reset_link_invalid');
  }
  t.equal((await tryLogin(username, password)).status, 200);
  t.equal((await confirm(link)).status, 200);
});

t.test('a link works for an hour', async (t) => {
  for (const [age, status] of [
    [hour - 10, 200],
    [hour, 400],
  ] as const) {
    const { link, email } = await createUserWithLink();
    await app.pool.query(
      'UPDATE password_resets SET expires_at = expires_at - make_interval(secs => $2) WHERE email = $1',
      [email, age],
    );
    const answers = [await validate(link), await confirm(link)];
    for (const answer of answers) {
      t.equal(answer.status, status);
      if (status === 400) refused(t, answer, 400, 'reset_link_invalid');
    }
  }
});

t.test('a link is void after a newer request, but not after one inside the cooldown', async (t) => {
  const { link, email } = await createUserWithLink();
  await request(email);
  t.equal((await validate(link)).status, 200);
  const newer = await newResetLink(app, email);
  refused(t, await validate(link), 400, 'reset_link_invalid');
  refused(t, await confirm(link), 400, 'reset_link_invalid');
  t.equal((await confirm(newer)).status, 200);
});

t.test('a link is void after a password change', async (t) => {
  const { link, token } = await createUserWithLink();
  const body = { current_password: password, new_password: newPassword };
  t.equal((await app.call('POST', '/auth/change-password/', { token, body })).status, 200);
  refused(t, await validate(link), 400, 'reset_link_invalid');
  refused(t, await confirm(link, 'another-good-one-5'), 400, 'reset_link_invalid');
});

t.test('a request for an address that is signed up only later gives it no link', async (t) => {
  const email = 'requested-early@example.com';
  t.equal((await request(email)).status, 200);
  await app.mails.settled();
  await createSettledUser(app, { email });
  await app.mails.settled();
  t.notOk(app.mails.sent.some(({ to, text }) => to === email && text.includes('/reset-password?')));
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

t.test('a link works once', async (t) => {
  const { link, username } = await createUserWithLink();
  t.equal((await confirm(link)).status, 200);
  refused(t, await validate(link), 400, 'reset_link_invalid');
  refused(t, await confirm(link, 'another-good-one-5'), 400, 'reset_link_invalid');
  t.equal((await tryLogin(username, newPassword)).status, 200);
});

t.test('of twenty uses of a link at once, one succeeds and its password is the one', async (t) => {
  const { link, username, email } = await createUserWithLink();
  const mailed = (await mailsTo(app, email)).length;
  const answers = await inParallel(20, (index) => confirm(link, `${newPassword}-${index}`));
  t.strictSame(tally(answers), { '200': 1, '400 reset_link_invalid': 19 });
  const winner = answers.findIndex(({ status }) => status === 200);
  t.equal((await tryLogin(username, `${newPassword}-${winner}`)).status, 200);
  t.equal((await mailsTo(app, email)).length - mailed, 1, 'one notice');
});

t.test('a bad new password is a validation error and does not consume the link', async (t) => {
  const user = await createSettledUser(app, { username: 'resetter', email: 'local-part@example.com' });
  const link = await newResetLink(app, user.email);
  for (const bad of [
    '',
    'short-7',
    'password1234',
    'PassWord',
    'my-Resetter-pass',
    'is-LOCAL-part-ok',
    'x'.repeat(129),
    'with\u0000nul-inside',
    12345678,
    null,
  ]) {
    invalid(t, await confirm(link, bad), 'new_password');
  }
  t.equal((await validate(link)).status, 200);
  t.equal((await tryLogin(user.username, password)).status, 200, 'the password is still the old one');
  const unusual = ` 가나 ${'🔑'.repeat(120)} `;
  t.equal((await confirm(link, unusual)).status, 200);
  t.equal((await tryLogin(user.username, unusual.normalize('NFD'))).status, 200);
  refused(t, await tryLogin(user.username, unusual.trim()), 401, 'invalid_credentials');
});

t.test('a login with the old password during a reset leaves no session behind', async (t) => {
  const user = await createUserWithLink();
  const [reset, ...logins] = await Promise.all([
    confirm(user.link),
    ...Array.from({ length: 9 }, () => tryLogin(user.username, password)),
  ]);
  t.equal(reset.status, 200);
  t.strictSame(
    Object.keys(tally(logins)).filter((kind) => !/^200$|invalid_credentials/.test(kind)),
    [],
  );
  for (const { status, body } of logins) {
    if (status === 200) tokenRefused(t, await me(body.data.access), 'revoked');
  }
});

t.test('of a reset and a password change at once, one password is left and no other session', async (t) => {
  const user = await createUserWithLink();
  const body = { current_password: password, new_password: `${newPassword}-changed` };
  const [reset, change] = await Promise.all([
    confirm(user.link),
    app.call('POST', '/auth/change-password/', { token: user.token, body }),
  ]);
  t.ok([reset, change].some(({ status }) => status === 200));
  t.ok([reset, change].every(({ status }) => status < 500));
  const works = [newPassword, body.new_password, password].map(async (word) => tryLogin(user.username, word));
  t.strictSame(tally(await Promise.all(works)), { '200': 1, '401 invalid_credentials': 2 });
  if (reset.status === 200) tokenRefused(t, await me(user.token), 'revoked');
});

t.test('a reset and a newer request at once end in one way or the other', async (t) => {
  const { link, username, email } = await createUserWithLink();
  await passTime(app, email, 60);
  const [reset, newer] = await Promise.all([confirm(link), request(email)]);
  t.equal(newer.status, 200);
  if (reset.status !== 200) refused(t, reset, 400, 'reset_link_invalid');
  const login = await tryLogin(username, reset.status === 200 ? newPassword : password);
  t.equal(login.status, 200);
  refused(t, await confirm(link, 'another-good-one-5'), 400, 'reset_link_invalid');
});

t.test('a link lives through a new JWT_SECRET as long as the old one is kept', async (t) => {
  const { link, email } = await createUserWithLink();
  const old = 'a secret that only tests have 0123456789';
  const fresh = 'a newer secret that only tests have 9876543210';
  const query = new URLSearchParams({ ...link });
  const body = { email, code: '123456' };

  const rotated = await createTestApp({ JWT_SECRET: `${fresh},${old}` }, { databaseUrl: app.url });
  t.equal((await rotated.call('GET', `/auth/reset-password-validate/?${query}`)).status, 200);
  await rotated.close();

  const forgetful = await createTestApp({ JWT_SECRET: fresh }, { databaseUrl: app.url });
  const validated = await forgetful.call('GET', `/auth/reset-password-validate/?${query}`);
  const confirmed = await forgetful.call('POST', '/auth/email-verify/confirm/', { body });
  await forgetful.close();
  refused(t, validated, 400, 'reset_link_invalid');
  refused(t, confirmed, 400, 'invalid_code', { attempts_left: 4 });
});
