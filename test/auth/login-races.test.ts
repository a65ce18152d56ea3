import argon2 from 'argon2';
import t from 'tap';
import { createTestApp, createUser, password, suspend } from '../support/app.ts';
import { delayed, rejected } from '../support/assertions.ts';
import { during, inOrder, inParallel } from '../support/concurrency.ts';
import { countRows } from '../support/rows.ts';
import { accountsOf, newPassword } from './accounts.ts';
import { newResetLink } from './mailbox.ts';

const app = await createTestApp();

const { tryLogin, changePassword, confirmReset } = accountsOf(app);

/** Fails so many times, so that a counter exists. */
async function fail(username: string, times: number) {
  for (let time = 0; time < times; time++) await tryLogin(username, 'not the password');
}

/** What a login changes. */
async function stateOf({ id }: { id: number }) {
  const { rows } = await app.pool.query(
    `SELECT last_login_at, (SELECT count(*)::int FROM sessions WHERE user_id = u.id) AS sessions
     FROM users u WHERE id = $1`,
    [id],
  );
  return rows[0];
}

const delay = "locked_until = clock_timestamp() + interval '30 seconds'";

t.test('a delay that begins while the password is verified rejects the right one, too', async (t) => {
  for (const name of ['username', 'email'] as const) {
    const user = await createUser(app);
    await fail(user[name], 9);
    const before = await stateOf(user);
    const newest = 'updated_at = (SELECT max(updated_at) FROM login_failures)';
    const tenth = `UPDATE login_failures SET ${delay} WHERE ${newest}`;
    delayed(t, await during(t, app, [tenth], () => tryLogin(user[name])), 31);
    t.strictSame(await stateOf(user), before, 'nothing was written');
    t.equal((await tryLogin(user[name === 'email' ? 'username' : 'email'])).status, 200, 'by the other name');
  }
});

t.test('nor is it confirmed for a suspended account, or to change the password', async (t) => {
  const [suspended, user] = [await createUser(app), await createUser(app)];
  await suspend(app, suspended);
  for (const { username } of [suspended, user]) await fail(username, 1);
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
  await fail(user.username, 9);
  const logIn = (given?: string) => () => tryLogin(user.username, given);
  const [login, failure] = await inOrder(t, app, user, logIn(), logIn('not the password'));
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
    await fail(user.username, 1);
    const login = await during(t, app, [change, user.id], () => tryLogin(user.username));
    rejected(t, login, status, code);
    t.equal(await countRows(app, 'sessions WHERE user_id = $1', user.id), sessions, change);
  }
});

t.test('a reset and a login with the old password at once do not deadlock', async (t) => {
  const user = await createUser(app);
  await fail(user.username, 1);
  const link = await newResetLink(app, user.email);
  const logIn = () => tryLogin(user.username, password);
  const [reset, login] = await inOrder(t, app, user, () => confirmReset(link), logIn);
  t.equal(reset.status, 200);
  rejected(t, login, 401, 'invalid_credentials');
  t.equal((await tryLogin(user.username, newPassword)).status, 200);
});

t.test('concurrent logins of one account with failures forget them once', async (t) => {
  const { username, email } = await createUser(app);
  await fail(username, 9);
  await fail(email, 9);
  const responses = await inParallel(20, (index) => tryLogin(index % 2 ? username : email));
  for (const { status } of responses) t.equal(status, 200);
  await fail(username, 9);
  t.equal((await tryLogin(username)).status, 200);
});
