import t from 'tap';
import { createTestApp, createUser, logIn, password, verifyEmails } from '../support/app.ts';
import { invalid, refused, tally, tokenRefused } from '../support/assertions.ts';
import { mailsTo } from './mailbox.ts';

const app = await createTestApp();
const secondApp = await createTestApp({ WORKER_ENABLED: 'false' }, { databaseUrl: app.url });
t.teardown(async () => {
  await secondApp.close();
  await app.close();
});

const newPassword = 'rice-cake-at-dawn-3';

const me = (token: string, at = app) => at.call('GET', '/auth/me/', { token });
const refresh = (refresh: string, at = app) => at.call('POST', '/auth/token/refresh/', { body: { refresh } });
const change = (token: string, current_password: unknown, new_password: unknown = newPassword) =>
  app.call('POST', '/auth/change-password/', { token, body: { current_password, new_password } });
const tryLogin = (username: string, password: string) =>
  app.call('POST', '/auth/login/', { body: { username, password } });

t.test('change-password sets the new password and mails a notice', async (t) => {
  const user = await createUser(app);
  await verifyEmails(app, user);
  const mailed = (await mailsTo(app, user.email)).length;
  const answer = await change(user.token, password);
  t.equal(answer.status, 200);
  t.equal(answer.body.success, true);
  t.strictSame(answer.body.data, {});
  refused(t, await tryLogin(user.username, password), 401, 'invalid_credentials');
  refused(t, await tryLogin(user.email, password), 401, 'invalid_credentials');
  t.equal((await tryLogin(user.username, newPassword)).status, 200);
  const notices = (await mailsTo(app, user.email)).slice(mailed);
  t.equal(notices.length, 1);
  t.match(notices[0]?.subject, '비밀번호가 변경');
});

t.test('change-password ends every other session at once; the current one stays', async (t) => {
  const user = await createUser(app);
  const others = [await logIn(app, user), await logIn(secondApp, user)];
  for (const { token } of others) t.equal((await me(token, secondApp)).status, 200);
  t.equal((await change(user.token, password)).status, 200);
  for (const session of others) {
    for (const at of [app, secondApp]) {
      tokenRefused(t, await me(session.token, at), 'revoked');
      tokenRefused(t, await refresh(session.refresh, at), 'revoked', 'refresh');
    }
  }
  t.equal((await me(user.token)).status, 200);
  const refreshed = await refresh(user.refresh, secondApp);
  t.equal(refreshed.status, 200);
  t.equal((await me(refreshed.body.data.access)).status, 200);
});

t.test('change-password with a wrong current password is refused and changes nothing', async (t) => {
  const user = await createUser(app);
  const other = await logIn(app, user);
  for (const wrong of ['wrong-password', `${password} `, newPassword]) {
    refused(t, await change(user.token, wrong), 401, 'invalid_credentials');
  }
  t.equal((await me(other.token)).status, 200);
  t.equal((await tryLogin(user.username, password)).status, 200);
  t.equal((await mailsTo(app, user.email)).length, 1, 'only the code of the sign-up');
});

t.test('change-password refuses a bad new password and changes nothing', async (t) => {
  const user = await createUser(app, { username: 'changer', email: 'local-part@example.com' });
  const other = await logIn(app, user);
  for (const bad of [
    undefined,
    '',
    'short-7',
    'password1234',
    'ILoveYou',
    'my-Changer-pass',
    'is-LOCAL-part-ok',
    'x'.repeat(129),
    'with\u0000nul-inside',
    12345678,
  ]) {
    const body = { current_password: password, new_password: bad };
    invalid(t, await app.call('POST', '/auth/change-password/', { token: user.token, body }), 'new_password');
  }
  invalid(t, await change(user.token, undefined), 'current_password');
  const body = { current_password: password, new_password: newPassword, username: 'other-name' };
  invalid(t, await app.call('POST', '/auth/change-password/', { token: user.token, body }), 'username');
  t.equal((await me(other.token)).status, 200);
  t.equal((await tryLogin(user.username, password)).status, 200);
});

t.test('a password is compared in NFC and never trimmed', async (t) => {
  const user = await createUser(app);
  const spaced = ' caf\u00e9 가나다 ';
  t.equal((await change(user.token, password, spaced)).status, 200);
  refused(t, await change(user.token, spaced.trim()), 401, 'invalid_credentials');
  t.equal((await change(user.token, spaced.normalize('NFD'))).status, 200);
});

t.test('of concurrent password changes, one succeeds', async (t) => {
  const user = await createUser(app);
  const sessions = [user];
  for (let logins = 0; logins < 8; logins++) sessions.push({ ...user, ...(await logIn(app, user)) });
  const answers = await Promise.all(
    sessions.map(({ token }, index) => change(token, password, `${newPassword}-${index}`)),
  );
  const winner = answers.findIndex(({ status }) => status === 200);
  t.equal(answers.filter(({ status }) => status === 200).length, 1);
  t.ok(
    answers.every(({ status }) => status === 200 || status === 401),
    JSON.stringify(tally(answers)),
  );
  t.equal((await tryLogin(user.username, `${newPassword}-${winner}`)).status, 200);
  for (const [index, { token }] of sessions.entries()) {
    const answer = await me(token);
    if (index === winner) t.equal(answer.status, 200);
    else tokenRefused(t, answer, 'revoked');
  }
});

t.test('a login with the old password during a change leaves no session', async (t) => {
  const user = await createUser(app);
  const [changed, ...logins] = await Promise.all([
    change(user.token, password),
    ...Array.from({ length: 9 }, () => tryLogin(user.username, password)),
  ]);
  t.equal(changed.status, 200);
  for (const answer of logins) {
    if (answer.status === 200) tokenRefused(t, await me(answer.body.data.access), 'revoked');
    else refused(t, answer, 401, 'invalid_credentials');
  }
  const { rows } = await app.pool.query('SELECT 1 FROM sessions WHERE user_id = $1', [user.id]);
  t.equal(rows.length, 1, 'the current session is the only one');
});
