import t, { type Test } from 'tap';
import {
  createTestApp,
  deleteAccount,
  logIn,
  password,
  signUpUser,
  suspend,
  type TestApp,
  verifyEmails,
} from '../support/app.ts';
import { invalid, rejected, tally, tokenRejected } from '../support/assertions.ts';
import { inParallel, lockRows } from '../support/concurrency.ts';
import { tablesWith } from '../support/rows.ts';
import { createStore } from '../support/stores.ts';
import { until } from '../support/until.ts';
import { accountsOf, newPassword, signUpBody, startInstance, verifyAddress } from './accounts.ts';
import { createSettledUser, createUnverifiedUser, latestCode, newResetLink, passTime } from './mailbox.ts';

const app = await createTestApp({}, { isolated: true });
t.teardown(app.close);

const { me, isVerified, signUp, tryLogin, sendCode, newCode, confirm } = accountsOf(app);
const { changePassword, requestReset, validateReset, confirmReset } = accountsOf(app);

/** An account with an email of somebody else, and the sign-up of the owner of the email, who has proved it. */
async function createRivals() {
  const squatter = await createUnverifiedUser(app);
  const { email } = squatter;
  const code = await latestCode(app, email);
  const body = signUpBody({ email, verification_token: await verifyAddress(app, email) });
  return { squatter, body, code };
}

/** How many tokens of an email can still be used. */
const openTokens = async (email: string) =>
  (await app.pool.query('SELECT FROM email_proofs WHERE email = $1', [email])).rowCount;

/** The accounts whose deletion is in the log, oldest first. */
const deletedIds = (): number[] =>
  app.logs
    .map((line) => JSON.parse(line))
    .filter(({ event }) => event === 'account_deleted')
    .map(({ userId }) => userId);

t.test('a suspended account is not replaced', async (t) => {
  const { squatter, body } = await createRivals();
  await suspend(app, squatter);
  rejected(t, await signUp(body), 409, 'email_taken');
});

t.test('a sign-up with a verification_token replaces an unverified account with the address', async (t) => {
  const { squatter, body } = await createRivals();
  const response = await signUp(body);
  t.match(response, { status: 201, body: { data: { is_verified: true, email: squatter.email } } });
  t.not(response.body.data.id, squatter.id);
  tokenRejected(t, await me(squatter.token), 'revoked');
  for (const login of [squatter.username, squatter.email]) {
    rejected(t, await tryLogin(login, `${password}-of-the-squatter`), 401, 'invalid_credentials');
  }
  t.equal((await me((await logIn(app, body)).token)).body.data.username, body.username);
  t.strictSame(await tablesWith(app, squatter.id), []);
  t.ok(deletedIds().includes(squatter.id), 'the deletion is in the log');
});

t.test('the reset link of the account that is replaced is void', async (t) => {
  const { email } = signUpBody();
  const verification_token = await verifyAddress(app, email);
  await passTime(app, email, 3600);
  await signUpUser(app, { email });
  const link = await newResetLink(app, email);
  t.equal((await signUp(signUpBody({ email, verification_token }))).status, 201);
  rejected(t, await validateReset(link), 400, 'reset_link_invalid');
});

t.test('the username of the account is free for the sign-up, and a replay replaces nothing', async (t) => {
  const { squatter, body } = await createRivals();
  const key = { 'idempotency-key': 'replace-once' };
  const own = { ...body, username: squatter.username };
  const first = await signUp(own, key);
  t.equal(first.status, 201);
  const again = await signUp(own, key);
  t.strictSame(again.body, first.body);
});

t.test('without a verification_token the address stays taken', async (t) => {
  const { squatter, body } = await createRivals();
  const { verification_token, ...without } = body;
  rejected(t, await signUp(without), 409, 'email_taken');
  rejected(t, await signUp({ ...body, verification_token: 'x' }), 400, 'verification_token_invalid');
  invalid(t, await signUp({ ...body, password: 'password' }), 'password');
  t.equal((await me(squatter.token)).status, 200);
});

t.test('an account with a store is not replaced; a password reset is the way in', async (t) => {
  const { squatter, body } = await createRivals();
  const store = await createStore(app, squatter.token);
  rejected(t, await signUp(body), 409, 'email_taken');
  t.equal(await openTokens(squatter.email), 1, 'the token is not used up');
  t.equal((await app.call('GET', `/api/v1/stores/${store.id}/`, { token: squatter.token })).status, 200);

  const link = await newResetLink(app, squatter.email);
  const changed = await changePassword(squatter.token, password, `${password}-kept`);
  t.equal(changed.status, 200, 'which does not void the link');
  t.equal((await confirmReset(link)).status, 200);
  tokenRejected(t, await me(squatter.token), 'revoked');
  const { token } = await logIn(app, { username: squatter.email, password: newPassword });
  t.equal(await isVerified(token), true);
});

t.test('a verified account is not replaced, and the token is not used up', async (t) => {
  const { squatter, body } = await createRivals();
  await passTime(app, squatter.email, 3600);
  t.equal(
    (await confirm({ email: squatter.email, code: await newCode(squatter.email) }, squatter.token)).status,
    200,
  );
  rejected(t, await signUp(body), 409, 'email_taken');
  t.equal(await openTokens(squatter.email), 2);
  t.equal(await isVerified(squatter.token), true);
});

t.test(
  'where the username is taken by another account, nothing is replaced and the token is not used up',
  async (t) => {
    const { squatter, body } = await createRivals();
    const other = await signUpUser(app);
    rejected(t, await signUp({ ...body, username: other.username }), 409, 'username_taken');
    t.equal((await me(squatter.token)).status, 200);
    t.equal((await signUp(body)).status, 201);
  },
);

t.test('deleting an unverified account does not void a token or a code', async (t) => {
  const { squatter, body } = await createRivals();
  const { email } = squatter;
  await passTime(app, email, 3600);
  const code = await newCode(email);
  t.equal((await deleteAccount(app, squatter)).status, 200);
  t.equal((await confirm({ email: email, code })).status, 200);
  t.equal((await signUp(body)).status, 201);
});

/** A sign-up that waits for a transaction on the account that it replaces, which then ends. */
async function signUpDuring(t: Test, statement: string, end: 'COMMIT' | 'ROLLBACK') {
  const { squatter, body } = await createRivals();
  const lock = await lockRows(t, app, statement, [squatter.id]);
  const response = signUp(body);
  await lock.waiters(1);
  await lock.release(end);
  return { squatter, body, response: await response };
}

const openStore = `
  WITH store AS (INSERT INTO stores (owner_id, name)
    (SELECT id, '두레 카페' FROM users WHERE id = $1 FOR SHARE) RETURNING id)
  INSERT INTO store_category_links (store_id, category_id, position) SELECT id, 1, 1 FROM store`;
const verify = 'UPDATE users SET is_verified = true WHERE id = $1';
const remove = 'DELETE FROM users WHERE id = $1';

t.test('a sign-up waits for a store or a verification in progress, and replaces neither', async (t) => {
  for (const statement of [openStore, verify]) {
    const { body, response } = await signUpDuring(t, statement, 'COMMIT');
    rejected(t, response, 409, 'email_taken');
    rejected(t, await signUp(body), 409, 'email_taken');
    t.equal((await signUpDuring(t, statement, 'ROLLBACK')).response.status, 201);
  }
});

t.test('a sign-up waits for a concurrent deletion, and succeeds either way', async (t) => {
  t.equal((await signUpDuring(t, remove, 'COMMIT')).response.status, 201);
  t.equal((await signUpDuring(t, remove, 'ROLLBACK')).response.status, 201);
});

t.test(
  'an account that is verified or gets a store before the sign-up locks it is not replaced',
  async (t) => {
    for (const statement of [verify, openStore]) {
      const { squatter, body } = await createRivals();
      await requestReset(squatter.email);
      const link = 'SELECT FROM password_resets WHERE email = $1 FOR UPDATE';
      const lock = await lockRows(t, app, link, [squatter.email]);
      const response = signUp(body);
      await lock.waiters(1);
      await app.pool.query(statement, [squatter.id]);
      await lock.release();
      rejected(t, await response, 409, 'email_taken');
      t.equal((await me(squatter.token)).status, 200);
    }
  },
);

t.test('a sign-up and a code of the account that it replaces do not deadlock', async (t) => {
  const { email } = signUpBody();
  const verification_token = await verifyAddress(app, email);
  await passTime(app, email, 3600);
  const squatter = await signUpUser(app, { email });
  const code = await latestCode(app, email);
  const lock = await lockRows(t, app, 'SELECT FROM users WHERE id = $1 FOR UPDATE', [squatter.id]);
  const replaced = signUp(signUpBody({ email, verification_token }));
  await lock.waiters(1);
  const confirmed = confirm({ email, code });
  await lock.waiters(2);
  await lock.release();
  t.equal((await replaced).status, 201);
  t.equal((await confirmed).status, 200, 'the code proves the address');
});

t.test('a store cannot be opened in an account that is replaced', async (t) => {
  const { squatter, body } = await createRivals();
  const { token } = squatter;
  const lock = await lockRows(t, app, 'SELECT FROM sessions WHERE user_id = $1 FOR UPDATE', [squatter.id]);
  const replaced = signUp(body);
  await lock.waiters(1);
  const opened = app.call('POST', '/api/v1/stores/', { token, body: { name: '두레', category_ids: [1] } });
  await lock.waiters(2);
  await lock.release();
  t.equal((await replaced).status, 201);
  t.equal((await opened).status, 401);
});

t.test('of 12 concurrent sign-ups with a token each, one replaces the account', async (t) => {
  const { squatter, body } = await createRivals();
  const { email } = squatter;
  const tokens = [body.verification_token];
  while (tokens.length < 12) {
    await passTime(app, email, 3600);
    tokens.push(await verifyAddress(app, email));
  }
  const responses = await inParallel(12, (index) =>
    signUp(signUpBody({ email, verification_token: tokens[index] })),
  );
  t.strictSame(tally(responses), { '201': 1, '409 email_taken': 11 });
  t.equal(await openTokens(email), 11, 'the other tokens are not used up');
});

t.test('sign-up, verification, login, store and deletion at once leave one consistent account', async (t) => {
  for (let round = 0; round < 8; round++) {
    const { squatter, body, code } = await createRivals();
    const { email, token, username } = squatter;
    const second = await latestCode(app, email);
    const [replaced, ...others] = await Promise.all([
      signUp(body),
      confirm({ email, code: second }, token),
      confirm({ email, code }),
      tryLogin(username),
      round % 2
        ? deleteAccount(app, squatter)
        : app.call('POST', '/api/v1/stores/', { token, body: { name: '두레', category_ids: [1] } }),
      sendCode(email),
    ]);
    t.ok([201, 409].includes(replaced.status), replaced.text);
    for (const { status, text } of others) t.ok(status < 500, text);
    const { rows } = await app.pool.query(
      `SELECT is_verified, owner_id IS NOT NULL AS has_store, u.id <> $2 AS is_new
       FROM users u LEFT JOIN stores s ON s.owner_id = u.id WHERE u.email = $1`,
      [email, squatter.id],
    );
    t.ok(rows.length <= 1);
    if (replaced.status === 201) t.match(rows, [{ is_verified: true, has_store: false, is_new: true }]);
    else t.notOk(rows[0]?.is_new);
  }
});

/** Starts the clean-up, as its schedule does. */
const startCleanUp = ({ pool } = app) => pool.query("SELECT graphile_worker.add_job('clean_up')");

async function cleanUp(on = app): Promise<void> {
  await startCleanUp(on);
  await on.mails.settled();
}

const exists = async (id: number, { pool } = app) =>
  (await pool.query('SELECT FROM users WHERE id = $1', [id])).rowCount === 1;

/** An account that has not been used for so many days. */
async function createUnused(days: number, on: TestApp = app) {
  const user = await createSettledUser(on);
  await on.pool.query(
    `UPDATE users SET created_at = now() - interval '90 days', last_login_at = now() - make_interval(days => $2)
     WHERE id = $1`,
    [user.id, days],
  );
  await on.pool.query('DELETE FROM sessions WHERE user_id = $1', [user.id]);
  return user;
}

t.test('an unverified account without a store and without a login for 30 days is deleted', async (t) => {
  const user = await createUnused(31);
  const key = { 'idempotency-key': 'long-ago' };
  const body = signUpBody();
  const signup = await signUp(body, key);
  const silent: number = signup.body.data.id;
  await app.pool.query("UPDATE users SET created_at = now() - interval '31 days' WHERE id = $1", [silent]);
  await cleanUp();
  t.notOk(await exists(user.id));
  t.notOk(await exists(silent), 'also one that was never used');
  t.strictSame(await tablesWith(app, user.id), []);
  const { rows } = await app.pool.query("SELECT FROM idempotency_keys WHERE key = 'long-ago'");
  t.equal(rows.length, 0, 'with its stored responses');
  tokenRejected(t, await me(user.token), 'revoked');
  await signUpUser(app, { username: user.username, email: user.email });
  t.strictSame(deletedIds().slice(-2).sort(), [user.id, silent].sort());
});

t.test('every other account is kept', async (t) => {
  const young = await signUpUser(app);
  const recent = await createUnused(29);
  const verified = await createUnused(365);
  await verifyEmails(app, verified);
  const suspended = await createUnused(365);
  await suspend(app, suspended);
  const owner = await signUpUser(app);
  await createStore(app, owner.token);
  const active = await signUpUser(app);
  await app.pool.query(
    "UPDATE users SET created_at = now() - interval '90 days', last_login_at = now() - interval '80 days' WHERE id = ANY ($1)",
    [[owner.id, active.id]],
  );
  await app.pool.query('DELETE FROM sessions WHERE user_id = $1', [owner.id]);
  const gone = await createUnused(31);
  await cleanUp();
  t.notOk(await exists(gone.id));
  for (const [reason, { id }] of Object.entries({ young, recent, verified, suspended, owner, active })) {
    t.ok(await exists(id), reason);
  }
  await app.pool.query('UPDATE sessions SET expires_at = now() WHERE user_id = $1', [active.id]);
  await cleanUp();
  t.notOk(await exists(active.id), 'until its session has expired');
});

t.test('an account that is used, verified or gets a store during the clean-up is kept', async (t) => {
  for (const statement of ['UPDATE users SET last_login_at = now() WHERE id = $1', verify, openStore]) {
    const user = await createUnused(31);
    const lock = await lockRows(t, app, statement, [user.id]);
    await startCleanUp();
    await lock.waiters(1);
    await lock.release('COMMIT');
    await app.mails.settled();
    t.ok(await exists(user.id), statement);
  }
});

t.test('two runs at once delete each account once', async (t) => {
  const other = await startInstance(t, app, { WORKER_ENABLED: 'true' });
  const users = [await createUnused(31), await createUnused(31), await createUnused(31)];
  app.logs.length = 0;
  await Promise.all([startCleanUp(), startCleanUp(), startCleanUp()]);
  await app.mails.settled();
  const deleted = [...app.logs, ...other.logs].filter((line) => line.includes('"account_deleted"'));
  t.equal(deleted.length, 3);
  t.notOk([...app.logs, ...other.logs].some((line) => line.includes('job failed')));
  for (const { id } of users) t.notOk(await exists(id));
});

t.test('UNVERIFIED_ACCOUNT_TTL sets the time; with 0 all accounts are kept', async (t) => {
  const keeper = await createTestApp({ UNVERIFIED_ACCOUNT_TTL: '0' });
  t.teardown(keeper.close);
  const kept = await createUnused(3_000, keeper);
  await cleanUp(keeper);
  t.ok(await exists(kept.id, keeper));
  const hasty = await createTestApp({ UNVERIFIED_ACCOUNT_TTL: '2d' });
  t.teardown(hasty.close);
  const [one, other] = [await createUnused(3, hasty), await createUnused(1, hasty)];
  await cleanUp(hasty);
  await until('the deletion', async () => !(await exists(one.id, hasty)));
  t.ok(await exists(other.id, hasty));
});
