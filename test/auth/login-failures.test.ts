import argon2 from 'argon2';
import t, { type Test } from 'tap';
import { createTestApp, createUser, password, suspend, type TestResponse } from '../support/app.ts';
import { delayed, rejected, tally } from '../support/assertions.ts';
import { during, inOrder, inParallel } from '../support/concurrency.ts';
import { countRows } from '../support/rows.ts';
import { accountsOf, newPassword } from './accounts.ts';
import { newResetLink } from './mailbox.ts';

const app = await createTestApp();

const { post, tryLogin, changePassword, confirmReset } = accountsOf(app);

/** Where the users of the tests log in first, which makes it known. */
const home = '127.0.0.1';
const stranger = '203.0.113.7';
const wrong = 'not the password';

/** Asserts a delay of so many seconds, of which no half is over. The clocks of two processor cores may differ a little. */
function delayedFor(t: Test, response: TestResponse, seconds: number): void {
  delayed(t, response, seconds + 1, seconds / 2 + 1);
}

const logIn = (username: string, given = password, remoteAddress = stranger, at = app) =>
  post('login', { username, password: given }, { remoteAddress }, at);

/** Fails so many times, and asserts that the response to each is that of a failed login. */
async function fail(t: Test, times: number, username: string, remoteAddress?: string) {
  for (let time = 0; time < times; time++) {
    rejected(t, await logIn(username, wrong, remoteAddress), 401, 'invalid_credentials');
  }
}

/** Lets every delay pass. */
const passDelays = () =>
  app.pool.query(`UPDATE login_failures SET locked_until = clock_timestamp() - interval '1 millisecond'
    WHERE locked_until > clock_timestamp()`);

/** Moves everything that is remembered of failures into the past. */
const age = (interval: string) =>
  app.pool.query(
    `UPDATE login_failures SET locked_until = locked_until - $1::interval,
      failed_at = ARRAY(SELECT t - $1::interval FROM unnest(failed_at) t)`,
    [interval],
  );

t.test('accounts that do not exist are delayed the same', async (t) => {
  const { username } = await createUser(app);
  for (let time = 0; time < 10; time++) {
    const [one, other] = [await logIn(username, wrong), await logIn('no.such.user', wrong)];
    t.equal(other.status, 401);
    t.equal(other.text, one.text);
  }
  delayedFor(t, await logIn(username, wrong), 30);
  delayedFor(t, await logIn('no.such.user', wrong), 30);
  const [one, other] = [await logIn(username, wrong), await logIn('NO.such.User', wrong)];
  delayedFor(t, other, 30);
  t.equal(one.body.message, other.body.message);
});

t.test('a username and an email have a counter each, and none tells that they are of one user', async (t) => {
  const { username, email } = await createUser(app);
  await fail(t, 5, username);
  await fail(t, 5, username.toUpperCase());
  delayedFor(t, await logIn(username, wrong), 30);
  await fail(t, 10, email);
  delayedFor(t, await logIn(email.toUpperCase(), wrong), 30);

  const other = await createUser(app);
  await fail(t, 10, other.username);
  t.equal((await logIn(other.email)).status, 200);
});

t.test('each failure after a delay doubles it, from 30 s up to 15 min', async (t) => {
  const { username } = await createUser(app);
  for (const login of [username, 'unknown.user']) {
    await fail(t, 10, login);
    for (const seconds of [30, 60, 120, 240, 480, 900, 900]) {
      delayedFor(t, await logIn(login, wrong), seconds);
      delayedFor(t, await logIn(login, wrong), seconds);
      await passDelays();
      await fail(t, 1, login);
    }
  }
});

t.test('an attempt during the delay does not prolong it', async (t) => {
  const { username } = await createUser(app);
  await fail(t, 10, username);
  // So long that it does not end meanwhile.
  await app.pool.query(`UPDATE login_failures SET locked_until = locked_until + interval '10 minutes'
    WHERE locked_until > clock_timestamp()`);
  const remembered = `SELECT locked_until, failed_at FROM login_failures
    WHERE locked_until > clock_timestamp() + interval '5 minutes' ORDER BY key`;
  const before = (await app.pool.query(remembered)).rows;
  for (let time = 0; time < 5; time++) delayedFor(t, await logIn(username, wrong), 630);
  t.strictSame((await app.pool.query(remembered)).rows, before);
  await passDelays();
});

t.test('a successful login forgets the failures with the username and the email alike', async (t) => {
  for (const from of [stranger, home]) {
    const { username, email } = await createUser(app);
    const names = [username, email];
    for (const name of names) await fail(t, 10, name, from);
    await passDelays();
    t.equal((await logIn(username, password, from)).status, 200);
    for (const name of names) await fail(t, 9, name, from);
    t.equal((await logIn(email, password, from)).status, 200);
    for (const name of names) await fail(t, 2, name, from);
  }
});

t.test('a completed reset lifts every delay, and forgets the known addresses', async (t) => {
  const { username, email } = await createUser(app);
  for (const name of [username, email]) {
    await fail(t, 10, name, home);
    delayedFor(t, await logIn(name, password, home), 30);
    await fail(t, 10, name);
    delayedFor(t, await logIn(name), 30);
  }
  t.equal((await confirmReset(await newResetLink(app, email))).status, 200);
  await fail(t, 9, username);
  await fail(t, 9, email);
  await fail(t, 1, email, home);
  delayedFor(t, await logIn(email, newPassword, home), 30);
  t.equal((await logIn(username, newPassword, home)).status, 200);
  t.equal((await logIn(username, newPassword)).status, 200);
});

t.test('only failures within 15 min count, also after a delay', async (t) => {
  const { username } = await createUser(app);
  await fail(t, 9, username);
  await age('15 minutes 1 second');
  await fail(t, 10, username);
  delayedFor(t, await logIn(username), 30);

  const other = await createUser(app);
  await fail(t, 9, other.username);
  await age('14 minutes');
  await fail(t, 1, other.username);
  delayedFor(t, await logIn(other.username), 30);
  await age('16 minutes');
  await fail(t, 10, other.username);
  delayedFor(t, await logIn(other.username), 30);
});

t.test('of 30 concurrent wrong guesses ten are checked, and one after the delay', async (t) => {
  const other = await app.startInstance();
  const { username } = await createUser(app);
  for (const name of [username, 'other.unknown']) {
    const responses = await inParallel(30, (index) =>
      logIn(name, wrong, `198.51.100.${index % 2}`, index % 2 ? other : app),
    );
    t.strictSame(tally(responses), { '401 invalid_credentials': 10, '429 too_many_attempts': 20 });
    for (const response of responses.filter(({ status }) => status === 429)) delayed(t, response, 31);
  }
  delayed(t, await logIn(username, password, stranger, other), 31);
  await passDelays();
  const next = await inParallel(30, () => logIn(username, wrong));
  t.strictSame(tally(next), { '401 invalid_credentials': 1, '429 too_many_attempts': 29 });
});

t.test('concurrent failures and logins with both names do not deadlock', async (t) => {
  const { username, email } = await createUser(app);
  const responses = await inParallel(40, (index) =>
    logIn(index % 2 ? username : email, index % 4 < 2 ? password : wrong, home),
  );
  for (const { status } of responses) t.ok([200, 401, 429].includes(status), `${status}`);
});

t.test('a validation error is not a failed login', async (t) => {
  const { username } = await createUser(app);
  for (let time = 0; time < 12; time++) t.equal((await logIn(username, '')).status, 400);
  t.equal((await logIn(username)).status, 200);
});

t.test('failed logins are stored without the name that was typed', async (t) => {
  await fail(t, 1, 'a.very.special.name');
  const { rows } = await app.pool.query('SELECT f::text AS row FROM login_failures f');
  t.ok(rows.length > 0);
  for (const { row } of rows) t.notMatch(row, 'special');
});

t.test('the owner can log in from a known address while other addresses are delayed', async (t) => {
  const { username, email } = await createUser(app);
  await fail(t, 10, username);
  delayedFor(t, await logIn(username), 30);
  t.equal((await logIn(username, password, home)).status, 200);
  t.equal((await logIn(email, password, home)).status, 200);
  delayedFor(t, await logIn(username), 30);
});

t.test('failures from a known address delay only that address', async (t) => {
  const { username } = await createUser(app);
  t.equal((await logIn(username, password, '198.51.100.200')).status, 200);
  await fail(t, 10, username, home);
  delayedFor(t, await logIn(username, password, home), 30);
  t.equal((await logIn(username, password, '198.51.100.200')).status, 200);
  t.equal((await logIn(username)).status, 200);
});

t.test('an address is known for 30 days after a login', async (t) => {
  const { username, id } = await createUser(app);
  await fail(t, 10, username);
  const lastUsed = (interval: string) => {
    const used = `last_used_at = now() - interval '${interval}'`;
    return app.pool.query(`UPDATE known_addresses SET ${used} WHERE user_id = $1`, [id]);
  };
  await lastUsed('30 days 1 second');
  delayedFor(t, await logIn(username, password, home), 30);
  await lastUsed('29 days 23 hours');
  t.equal((await logIn(username, password, home)).status, 200);
  await lastUsed('0 seconds');
});

t.test('an address is known to one account only', async (t) => {
  const [one, other] = [await createUser(app), await createUser(app)];
  t.equal((await logIn(other.username, password, '198.51.100.201')).status, 200);
  await fail(t, 10, one.username);
  delayedFor(t, await logIn(one.username, password, '198.51.100.201'), 30);
});

t.test('IPv6 addresses are known by their /64', async (t) => {
  const { username } = await createUser(app);
  t.equal((await logIn(username, password, '2001:db8:1:2::1')).status, 200);
  await fail(t, 10, username);
  t.equal((await logIn(username, password, '2001:db8:1:2:ffff:ffff:ffff:ffff')).status, 200);
  delayedFor(t, await logIn(username, password, '2001:db8:1:3::1'), 30);
});

const delay = "locked_until = clock_timestamp() + interval '30 seconds'";

t.test('a delay that begins while the password is verified rejects the right one, too', async (t) => {
  for (const name of ['username', 'email'] as const) {
    const user = await createUser(app);
    await fail(t, 9, user[name], home);
    const changed = `SELECT last_login_at, s.id FROM users u JOIN sessions s ON user_id = u.id WHERE u.id = ${user.id}`;
    const before = (await app.pool.query(changed)).rows;
    const newest = 'updated_at = (SELECT max(updated_at) FROM login_failures)';
    const tenth = `UPDATE login_failures SET ${delay} WHERE ${newest}`;
    delayed(t, await during(t, app, [tenth], () => tryLogin(user[name])), 31);
    t.strictSame((await app.pool.query(changed)).rows, before, 'nothing was written');
    t.equal((await tryLogin(user[name === 'email' ? 'username' : 'email'])).status, 200, 'by the other name');
  }
});

t.test('nor is it confirmed for a suspended account, or to change the password', async (t) => {
  const [suspended, user] = [await createUser(app), await createUser(app)];
  await suspend(app, suspended);
  for (const { username } of [suspended, user]) await fail(t, 1, username, home);
  const verify = argon2.verify.bind(argon2);
  t.capture(argon2, 'verify', async (hash: string, given: string) => {
    await app.pool.query(`UPDATE login_failures SET ${delay}`);
    return verify(hash, given);
  });
  delayed(t, await tryLogin(suspended.username), 31);
  await app.pool.query('UPDATE login_failures SET locked_until = NULL');
  delayed(t, await changePassword(user.token, password), 31);
});

t.test('no failure is counted between the check of the delay and the login', async (t) => {
  const user = await createUser(app);
  await fail(t, 9, user.username, home);
  const logIn = (given?: string) => () => tryLogin(user.username, given);
  const [login, failure] = await inOrder(t, app, user, logIn(), logIn(wrong));
  t.equal(login.status, 200);
  rejected(t, failure, 401, 'invalid_credentials');
  const { rows } = await app.pool.query(
    'SELECT cardinality(failed_at) AS failures FROM login_failures ORDER BY updated_at DESC LIMIT 1',
  );
  t.strictSame(rows, [{ failures: 1 }], 'the login came first');
});

t.test('an account that is suspended, deleted or gets a password meanwhile begins no session', async (t) => {
  for (const [change, status, code, sessions] of [
    ['UPDATE users SET suspended_at = now() WHERE id = $1', 403, 'account_suspended', 0],
    ['DELETE FROM users WHERE id = $1', 401, 'invalid_credentials', 0],
    ["UPDATE users SET password_hash = 'another' WHERE id = $1", 401, 'invalid_credentials', 1],
  ] as const) {
    const user = await createUser(app);
    await fail(t, 1, user.username, home);
    const login = await during(t, app, [change, user.id], () => tryLogin(user.username));
    rejected(t, login, status, code);
    t.equal(await countRows(app, 'sessions WHERE user_id = $1', user.id), sessions, change);
  }
});

t.test('a reset and a login with the old password at once do not deadlock', async (t) => {
  const user = await createUser(app);
  await fail(t, 1, user.username, home);
  const link = await newResetLink(app, user.email);
  const logIn = () => tryLogin(user.username, password);
  const [reset, login] = await inOrder(t, app, user, () => confirmReset(link), logIn);
  t.equal(reset.status, 200);
  rejected(t, login, 401, 'invalid_credentials');
  t.equal((await tryLogin(user.username, newPassword)).status, 200);
});

t.test('concurrent logins of one account with failures forget them once', async (t) => {
  const { username, email } = await createUser(app);
  await fail(t, 9, username, home);
  await fail(t, 9, email, home);
  const responses = await inParallel(20, (index) => tryLogin(index % 2 ? username : email));
  for (const { status } of responses) t.equal(status, 200);
  await fail(t, 9, username, home);
  t.equal((await tryLogin(username)).status, 200);
});
