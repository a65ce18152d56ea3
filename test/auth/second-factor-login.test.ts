import t, { type Test } from 'tap';
import { createTestApp, createUser, suspend } from '../support/app.ts';
import { delayed, rejected, tally } from '../support/assertions.ts';
import { during, inOrder, inParallel, lockRows } from '../support/concurrency.ts';
import { countRows } from '../support/rows.ts';
import { replace } from '../support/timers.ts';
import { accountsOf } from './accounts.ts';
import { asPasted, authenticatorOf, secondFactorOf } from './authenticator.ts';
import { sessionIdIn } from './tokens.ts';

const app = await createTestApp();
const { pool } = app;
const { tryLogin, me, refresh } = accountsOf(app);
const { begin, confirm, firstFactor, finishLogin, confirmUser, createProtected } = secondFactorOf(app);

const stranger = '203.0.113.9';

type User = Awaited<ReturnType<typeof createUser>>;

const countSessions = ({ id }: { id: number }) => countRows(app, 'sessions WHERE user_id = $1', id);

/** Fails so many times with new tokens, from one address. */
async function fail(user: Pick<User, 'username'> & { wrong(): string }, times: number, address?: string) {
  let token = '';
  for (let time = 0; time < times; time++) {
    if (time % 5 === 0) token = await firstFactor(user);
    await finishLogin(token, user.wrong(), address);
  }
}

/** Asserts that a code begins no session, because it is wrong or was used. */
async function isWrong(t: Test, user: User, code: string) {
  const before = await countSessions(user);
  rejected(t, await finishLogin(await firstFactor(user), code), 400, 'invalid_code', { attempts_left: 4 });
  t.equal(await countSessions(user), before);
}

t.test('a password alone begins no session, and keeps failures of before', async (t) => {
  const user = await createProtected();
  const before = await countSessions(user);
  for (let time = 0; time < 9; time++) await tryLogin(user.username, 'not the password');
  const login = await tryLogin(user.username);
  const { second_factor_token } = login.body.data;
  rejected(t, login, 401, 'second_factor_required', {
    ...{ second_factor_token, methods: ['totp', 'recovery_code'], expires_in: 300 },
  });
  t.equal(await countSessions(user), before);
  await tryLogin(user.username, 'not the password');
  delayed(t, await tryLogin(user.username), 31);
});

t.test('a code or recovery code, in any form, completes the login, and the session knows how', async (t) => {
  const user = await createProtected();
  const [one = '', two = '', three = '', four = ''] = user.recoveryCodes;
  const pasted = ` ${asPasted(four.replaceAll('-', ' '))} `;
  const forms = [one, two.toUpperCase(), three.replaceAll('-', ''), pasted];
  const recovery = forms.map((form) => [form, 'recovery_code']);
  for (const [form = '', method] of [[user.code(), 'totp'], ...recovery]) {
    const login = await finishLogin(await firstFactor(user), form);
    const { access, refresh: given, user: shown } = login.body.data;
    t.equal(shown.id, user.id);
    t.equal((await me(access)).status, 200);
    t.equal((await refresh(given)).status, 200);
    const { rows } = await pool.query('SELECT methods FROM sessions WHERE id = $1', [sessionIdIn(access)]);
    t.strictSame(rows, [{ methods: ['password', method] }]);
  }
  await isWrong(t, user, one);
});

t.test('codes from one step before to one after are accepted, each once, in any order', async (t) => {
  const now = Date.now();
  replace(t, Date, { now: () => now });
  const user = await createProtected();
  const [previous, present, next] = [user.code(-1), user.code(), user.code(1)];
  for (const step of [-2, 2]) await isWrong(t, user, user.code(step));
  for (const code of [present, next, previous]) {
    t.equal((await finishLogin(await firstFactor(user), code)).status, 200);
    await isWrong(t, user, code);
  }
  for (const code of [present, next, previous]) await isWrong(t, user, code);
});

t.test('a step that was used anywhere is used everywhere', async (t) => {
  const user = await createUser(app);
  const { code } = authenticatorOf((await begin(user.token)).body.data.secret);
  const given = code();
  t.equal((await confirm(user.token, given)).status, 200);
  await isWrong(t, user, given);
  const next = code(1);
  t.equal((await confirmUser(user.token, { code: next })).status, 200);
  await isWrong(t, user, next);
});

t.test('of concurrent uses of a code, of the app or a recovery code, one begins a session', async (t) => {
  for (const ofApp of [true, false]) {
    // Each has an account of its own: the tries that fail count, whether they come before the login or after it.
    const user = await createProtected();
    const code = ofApp ? user.code() : (user.recoveryCodes[0] ?? '');
    const before = await countSessions(user);
    const tokens = await inParallel(6, () => firstFactor(user));
    const responses = await Promise.all(tokens.map((token) => finishLogin(token, code)));
    t.strictSame(tally(responses), { '200': 1, '400 invalid_code': 5 });
    t.equal(await countSessions(user), before + 1);
  }
});

t.test('account_suspended comes only after a right code', async (t) => {
  const user = await createProtected();
  const token = await firstFactor(user);
  await suspend(app, user);
  rejected(t, await finishLogin(token, user.wrong()), 400, 'invalid_code', { attempts_left: 4 });
  rejected(t, await finishLogin(token, user.code()), 403, 'account_suspended');
  t.equal(await countSessions(user), 0);
});

t.test('a token has five tries, also when they come at once', async (t) => {
  const user = await createProtected();
  const token = await firstFactor(user);
  for (const attempts_left of [4, 3, 2, 1, 0])
    rejected(t, await finishLogin(token, user.wrong()), 400, 'invalid_code', { attempts_left });
  rejected(t, await finishLogin(token, user.code()), 400, 'second_factor_token_invalid');

  const other = await createProtected();
  const open = await firstFactor(other);
  const responses = await inParallel(12, () => finishLogin(open, other.wrong()));
  t.strictSame(tally(responses), { '400 invalid_code': 5, '400 second_factor_token_invalid': 7 });
  t.equal((await finishLogin(await firstFactor(other), other.code())).status, 200);
});

t.test('ten failures with several tokens delay the account, also with the right code', async (t) => {
  const user = await createProtected();
  const earlier = await firstFactor(user);
  await fail(user, 10);
  for (const code of [user.code(), user.recoveryCodes[0] ?? '', user.wrong()])
    delayed(t, await finishLogin(earlier, code), 31);
  delayed(t, await tryLogin(user.username), 31);
  await pool.query('UPDATE login_failures SET locked_until = clock_timestamp()');
  t.equal((await finishLogin(earlier, user.code())).status, 200, 'the token has all its tries');
  rejected(t, await tryLogin(user.username, 'wrong'), 401, 'invalid_credentials');
});

t.test('a right guess that waits behind the tenth wrong one is not checked', async (t) => {
  const user = await createProtected();
  await fail(user, 9);
  const [one, two] = [await firstFactor(user), await firstFactor(user)];
  const before = await countSessions(user);
  const counters: [string] = ['SELECT FROM login_failures ORDER BY key FOR UPDATE'];
  const guess = () => finishLogin(one, user.wrong());
  const [wrong, right] = await inOrder(t, app, counters, guess, () => finishLogin(two, user.code()));
  rejected(t, wrong, 400, 'invalid_code', { attempts_left: 0 });
  delayed(t, right, 31);
  t.equal(await countSessions(user), before);
});

t.test('a delay that begins between the code and the session rejects the login', async (t) => {
  const user = await createProtected();
  await fail(user, 1);
  const token = await firstFactor(user);
  const code = user.code();
  const factor = 'SELECT FROM second_factors WHERE user_id = $1 FOR UPDATE';
  const account = await lockRows(t, app, factor, [user.id]);
  const login = finishLogin(token, code);
  await account.waiters(1);
  // Locks of a table are granted in the order in which they were asked for.
  const later = lockRows(t, app, 'LOCK TABLE login_failures IN ACCESS EXCLUSIVE MODE');
  await account.waiters(2);
  await account.release();
  const delay = await later;
  await delay.waiters(1);
  await delay.run(`UPDATE login_failures SET locked_until = clock_timestamp() + interval '30 seconds'`, []);
  const before = await countSessions(user);
  await delay.release('COMMIT');
  delayed(t, await login, 31);
  t.equal(await countSessions(user), before);
});

t.test('failures of passwords and codes count together, per address as those of passwords', async (t) => {
  const user = await createProtected();
  await fail(user, 5);
  for (let time = 0; time < 5; time++) await tryLogin(user.username, 'not the password');
  const other = await createProtected();
  const token = await firstFactor(other);
  await fail(other, 10, stranger);
  delayed(t, await finishLogin(token, other.code(), stranger), 31);
  t.equal((await finishLogin(token, other.code())).status, 200, 'from the known address');
  delayed(t, await tryLogin(user.username), 31);
});

t.test('a wrong token costs nothing and says nothing', async (t) => {
  const user = await createProtected();
  const token = await firstFactor(user);
  const [id = '', secret = ''] = token.split('.');
  const other = await firstFactor(await createProtected());
  const forged = [`${id}.${other.split('.')[1]}`, `${id}.`, id, secret, `${token}x`, 'x'];
  for (const one of [...forged, ...forged])
    rejected(t, await finishLogin(one, user.wrong()), 400, 'second_factor_token_invalid');
  t.equal((await finishLogin(token, user.code())).status, 200);
});

t.test('a token works once and for five minutes', async (t) => {
  const user = await createProtected();
  const token = await firstFactor(user);
  t.equal((await finishLogin(token, user.recoveryCodes[0] ?? '')).status, 200);
  rejected(t, await finishLogin(token, user.recoveryCodes[1] ?? ''), 400, 'second_factor_token_invalid');
  const late = await firstFactor(user);
  await pool.query("UPDATE login_flows SET expires_at = expires_at - interval '5 minutes'");
  rejected(t, await finishLogin(late, user.code()), 400, 'second_factor_token_invalid');
  t.equal((await finishLogin(await firstFactor(user), user.recoveryCodes[1] ?? '')).status, 200, 'unused');
});

t.test('concurrent right codes with one token begin one session', async (t) => {
  const user = await createProtected();
  const token = await firstFactor(user);
  const responses = await inParallel(5, (at) => finishLogin(token, user.recoveryCodes[at] ?? ''));
  t.strictSame(tally(responses), { '200': 1, '400 second_factor_token_invalid': 4 });
  t.equal(await countRows(app, 'recovery_codes WHERE user_id = $1', user.id), 9, 'the others are unused');
});

t.test('a token of another kind of flow, or a JWT, completes no login', async (t) => {
  const user = await createProtected();
  for (const kind of ['provider', 'sign_up', 'link', 'passkey_login', 'passkey_registration']) {
    const token = await firstFactor(user);
    const change = 'UPDATE login_flows SET kind = $2::login_flow_kind WHERE id = $1';
    await pool.query(change, [token.split('.')[0], kind]);
    rejected(t, await finishLogin(token, user.code()), 400, 'second_factor_token_invalid');
  }
  for (const token of [user.token, user.refresh])
    rejected(t, await finishLogin(token, user.code()), 400, 'second_factor_token_invalid');
});

t.test('a code or recovery code of another account is wrong', async (t) => {
  const [victim, attacker] = [await createProtected(), await createProtected()];
  await isWrong(t, victim, attacker.code());
  await isWrong(t, victim, attacker.recoveryCodes[0] ?? '');
  const login = await finishLogin(await firstFactor(attacker), attacker.recoveryCodes[0] ?? '');
  t.equal(login.body.data.user.id, attacker.id);
});

t.test('where the second factor is gone or not confirmed, an open login is not completed', async (t) => {
  for (const change of [
    'DELETE FROM second_factors WHERE user_id = $1',
    'UPDATE second_factors SET confirmed_at = NULL WHERE user_id = $1',
  ]) {
    const user = await createProtected();
    const token = await firstFactor(user);
    await pool.query(change, [user.id]);
    for (const code of [user.code(), '000000', ' '.repeat(6), '------'])
      t.match(await finishLogin(token, code), { status: 400 });
  }
});

const reset = "UPDATE users SET password_hash = 'another' WHERE id = $1";

t.test('a password that is reset while a code is checked begins no session', async (t) => {
  const user = await createProtected();
  const token = await firstFactor(user);
  const code = user.code();
  const before = await countSessions(user);
  const login = await during(t, app, [reset, user.id], () => finishLogin(token, code));
  rejected(t, login, 400, 'second_factor_token_invalid');
  t.equal(await countSessions(user), before);
});

t.test('a password that is reset after it was checked leads to no code', async (t) => {
  const user = await createProtected();
  const login = await during(t, app, [reset, user.id], () => tryLogin(user.username));
  rejected(t, login, 401, 'invalid_credentials');
});
