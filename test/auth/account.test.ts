import t from 'tap';
import { createTestApp, createUser, logIn, password } from '../support/app.ts';
import { delayed, invalid, refused, tally, tokenRefused } from '../support/assertions.ts';
import { inParallel } from '../support/concurrency.ts';
import { createVerifiedUser, mailsTo } from './mailbox.ts';

const app = await createTestApp();
const secondApp = await createTestApp({ WORKER_ENABLED: 'false' }, { databaseUrl: app.url });
t.teardown(async () => {
  await secondApp.close();
  await app.close();
});

const newPassword = 'rice-cake-at-dawn-3';

const me = (token: string, at = app) => at.call('GET', '/auth/me/', { token });
const refresh = (refresh: string, at = app) => at.call('POST', '/auth/token/refresh/', { body: { refresh } });
const patch = (token: string, body: unknown) => app.call('PATCH', '/auth/me/', { token, body });
const remove = (token: string, password: unknown, remoteAddress?: string) =>
  app.call('DELETE', '/auth/me/', { token, body: { password }, ...(remoteAddress ? { remoteAddress } : {}) });
const change = (token: string, current_password: unknown, new_password: unknown = newPassword) =>
  app.call('POST', '/auth/change-password/', { token, body: { current_password, new_password } });
const tryLogin = (username: string, password: string) =>
  app.call('POST', '/auth/login/', { body: { username, password } });
const signUp = (username: string, email: string) =>
  app.call('POST', '/auth/signup/', { body: { username, email, name: '김두레', password } });

t.test('me is exactly the six fields of a user', async (t) => {
  const { id, username, email, token } = await createVerifiedUser(app, { name: '  이 웃 ' });
  const answer = await me(token);
  t.equal(answer.status, 200);
  t.equal(answer.body.success, true);
  t.match(answer.body.message, /\S/);
  t.strictSame(answer.body.data, { id, username, name: '이 웃', email, role: 'user', is_verified: true });
});

t.test('the account needs a login', async (t) => {
  for (const [method, path] of [
    ['GET', '/auth/me/'],
    ['PATCH', '/auth/me/'],
    ['DELETE', '/auth/me/'],
    ['POST', '/auth/change-password/'],
  ] as const) {
    refused(t, await app.call(method, path), 401, 'not_authenticated');
    tokenRefused(t, await app.call(method, path, { token: 'x' }), 'malformed');
  }
});

t.test('PATCH changes the name, trimmed and in NFC, and answers with the user', async (t) => {
  const { id, username, email, token } = await createUser(app);
  for (const [given, kept] of [
    ['  박 두레\t', '박 두레'],
    ['\u1112\u1161\u11ab글', '한글'],
    ['e\u0301'.repeat(50), 'é'.repeat(50)],
    ['🦊'.repeat(50), '🦊'.repeat(50)],
    ['A', 'A'],
    [`O'Neil <b>"&\\`, `O'Neil <b>"&\\`],
  ] as const) {
    const answer = await patch(token, { name: given });
    t.equal(answer.status, 200, answer.text);
    const user = { id, username, name: kept, email, role: 'user', is_verified: false };
    t.strictSame(answer.body.data, user);
    t.strictSame((await me(token)).body.data, user);
  }
});

t.test('a name has 1-50 characters', async (t) => {
  const { token } = await createUser(app);
  for (const name of [
    '',
    '   ',
    'x'.repeat(51),
    '🦊'.repeat(51),
    'a\u0000b',
    'a\nb',
    '\ud800',
    '\u3164',
    5,
    null,
    ['김'],
  ]) {
    invalid(t, await patch(token, { name }), 'name');
  }
  t.equal((await me(token)).body.data.name, '김두레');
});

t.test('PATCH with no field is a validation error', async (t) => {
  const { token } = await createUser(app);
  invalid(t, await patch(token, {}), 'body');
  invalid(t, await app.call('PATCH', '/auth/me/', { token }), 'body');
});

t.test('PATCH refuses every other field and stores nothing then', async (t) => {
  const { token } = await createUser(app);
  const before = (await me(token)).body.data;
  for (const [field, value] of Object.entries({
    email: 'other@example.com',
    username: 'other-name',
    role: 'admin',
    is_verified: true,
    id: 1,
    password: newPassword,
    passwordHash: 'x',
    language: 'en',
    nickname: '두레',
  })) {
    invalid(t, await patch(token, { name: '바뀐 이름', [field]: value }), field);
    invalid(t, await patch(token, { [field]: value }), field);
  }
  t.strictSame((await me(token)).body.data, before);
});

t.test('DELETE with a wrong password is refused and removes nothing', async (t) => {
  const { token } = await createUser(app);
  for (const wrong of ['wrong-password', `${password} `, password.toUpperCase()]) {
    refused(t, await remove(token, wrong), 401, 'invalid_credentials');
  }
  for (const wrong of [undefined, '', null, 5, 'x'.repeat(129)]) {
    invalid(t, await remove(token, wrong), 'password');
  }
  invalid(t, await app.call('DELETE', '/auth/me/', { token }), 'password');
  const body = { password, confirm: true };
  invalid(t, await app.call('DELETE', '/auth/me/', { token, body }), 'confirm');
  t.equal((await me(token)).status, 200);
});

t.test('DELETE removes the account, and its tokens are refused at once on every instance', async (t) => {
  const user = await createUser(app);
  const sessions = [user, await logIn(app, user), await logIn(secondApp, user)];
  const answer = await remove(user.token, password);
  t.equal(answer.status, 200);
  t.equal(answer.body.success, true);
  t.strictSame(answer.body.data, {});
  for (const session of sessions) {
    for (const at of [app, secondApp]) {
      tokenRefused(t, await me(session.token, at), 'revoked');
      tokenRefused(t, await refresh(session.refresh, at), 'revoked', 'refresh');
    }
    tokenRefused(t, await remove(session.token, password), 'revoked');
    tokenRefused(t, await change(session.token, password), 'revoked');
  }
  for (const login of [user.username, user.email]) {
    refused(t, await tryLogin(login, password), 401, 'invalid_credentials');
  }
});

t.test('username and e-mail of a deleted account are free, again and again', async (t) => {
  const [username, email] = ['phoenix', 'phoenix@example.com'];
  const ids = new Set<number>();
  const tokens: string[] = [];
  for (let lives = 0; lives < 3; lives++) {
    refused(t, await tryLogin(username, password), 401, 'invalid_credentials');
    const user = await createUser(app, { username, email });
    ids.add(user.id);
    for (const token of tokens) tokenRefused(t, await me(token), 'revoked');
    tokens.push(user.token);
    t.equal((await remove(user.token, password)).status, 200);
  }
  t.equal(ids.size, 3, 'an id is never given twice');
});

t.test('of twenty deletions at once, one removes the account', async (t) => {
  const user = await createUser(app);
  const answers = await inParallel(20, () => remove(user.token, password));
  t.strictSame(tally(answers), { '200': 1, '401 token_not_valid': 19 });
  for (const answer of answers) if (answer.status !== 200) tokenRefused(t, answer, 'revoked');
});

t.test('of sign-ups while the account is deleted, at most one gets the username', async (t) => {
  const user = await createUser(app);
  const [deleted, ...signups] = await Promise.all([
    remove(user.token, password),
    ...Array.from({ length: 10 }, () => signUp(user.username, user.email)),
  ]);
  t.equal(deleted.status, 200);
  const { '201': created = 0, '409 username_taken': taken = 0, '409 email_taken': used = 0 } = tally(signups);
  t.ok(created <= 1);
  t.equal(created + taken + used, 10, JSON.stringify(tally(signups)));
});

t.test(
  'a login, a refresh and a change of the account while it is deleted leave nothing behind',
  async (t) => {
    const user = await createUser(app);
    const answers = await Promise.all([
      remove(user.token, password),
      ...Array.from({ length: 5 }, () => tryLogin(user.username, password)),
      ...Array.from({ length: 5 }, () => refresh(user.refresh)),
      ...Array.from({ length: 5 }, () => patch(user.token, { name: '바뀐 이름' })),
      change(user.token, password),
    ]);
    t.ok(
      answers.every(({ status }) => status === 200 || status === 401),
      JSON.stringify(tally(answers)),
    );
    for (const { status, body } of answers) {
      if (status === 200 && body.data.access) tokenRefused(t, await me(body.data.access), 'revoked');
    }
    const { rows } = await app.pool.query('SELECT 1 FROM users WHERE id = $1', [user.id]);
    t.equal(rows.length, answers[0]?.status === 200 ? 0 : 1);
  },
);

t.test('change-password sets the new password and mails a notice', async (t) => {
  const user = await createUser(app);
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

t.test('of password changes at once, one wins', async (t) => {
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

t.test('a login with the old password during a change leaves no session behind', async (t) => {
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

t.test(
  'guessing the password with a stolen token is delayed like a login, wherever it comes from',
  async (t) => {
    const user = await createUser(app);
    for (let guesses = 0; guesses < 10; guesses++) {
      const guess = await remove(user.token, `guess-number-${guesses}`, `198.51.100.${guesses + 1}`);
      refused(t, guess, 401, 'invalid_credentials');
    }
    delayed(t, await remove(user.token, password, '198.51.100.77'), 30);
    const body = { current_password: password, new_password: newPassword };
    const remoteAddress = '198.51.100.78';
    const options = { token: user.token, body, remoteAddress };
    delayed(t, await app.call('POST', '/auth/change-password/', options), 30);
    const login = { body: { username: user.username, password }, remoteAddress };
    delayed(t, await app.call('POST', '/auth/login/', login), 30);
    t.equal((await tryLogin(user.username, password)).status, 200, 'the owner has a counter of their own');
    t.equal((await change(user.token, password)).status, 200);
  },
);

t.test('of many guesses at once with a stolen token, none after the tenth is judged', async (t) => {
  const user = await createUser(app);
  const answers = await inParallel(60, (index) =>
    change(user.token, index === 59 ? password : `guess-number-${index}`),
  );
  const { '401 invalid_credentials': judged = 0, '200': right = 0 } = tally(answers);
  t.equal(judged, 10, JSON.stringify(tally(answers)));
  t.equal(right, 0);
});
