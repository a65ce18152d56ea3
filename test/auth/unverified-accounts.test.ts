import t, { type Test } from 'tap';
import { createTestApp, createUser, deleteAccount, logIn, suspend, verifyEmails } from '../support/app.ts';
import { invalid, rejected, tally, tokenRejected } from '../support/assertions.ts';
import { during, inOrder, inParallel } from '../support/concurrency.ts';
import { cleanUp } from '../support/images.ts';
import { countRows, tablesWith } from '../support/rows.ts';
import { createStore } from '../support/stores.ts';
import { accountsOf, newPassword, signUpBody, verifyAddress } from './accounts.ts';
import { newResetLink, passTime } from './mailbox.ts';

const app = await createTestApp({}, { isolated: true });

const { me, isVerified, signUp, tryLogin, newCode, confirm } = accountsOf(app);
const { changePassword, validateReset, confirmReset } = accountsOf(app);

/** An account with an email of somebody else, and the sign-up of the owner of the email, who has proved it. */
async function createRivals() {
  const squatter = await createUser(app);
  const { email } = squatter;
  const body = signUpBody({ email, verification_token: await verifyAddress(app, email) });
  return { squatter, body };
}

/** The accounts whose deletion is in the log, oldest first. */
const deletedIds = (): number[] =>
  app.logs.filter((line) => line.includes('"account_deleted"')).map((line) => JSON.parse(line).userId);

/** What makes an account, given by its id, one that is kept. */
const statements = {
  openStore: `
    WITH store AS (INSERT INTO stores (owner_id, name)
      (SELECT id, '두레 카페' FROM users WHERE id = $1 FOR SHARE) RETURNING id)
    INSERT INTO store_category_links (store_id, category_id, position) SELECT id, 1, 1 FROM store`,
  verify: 'UPDATE users SET is_verified = true WHERE id = $1',
};

/** How many tokens of an email can still be used. */
const openTokens = (email: string) => countRows(app, 'email_proofs WHERE email = $1', email);

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
  rejected(t, await tryLogin(squatter.username), 401, 'invalid_credentials');
  t.equal((await me((await logIn(app, body)).token)).body.data.username, body.username);
  t.strictSame(await tablesWith(app, squatter.id), []);
  t.ok(deletedIds().includes(squatter.id), 'the deletion is in the log');
});

t.test('the reset link of the account that is replaced is void', async (t) => {
  const { email } = signUpBody();
  const verification_token = await verifyAddress(app, email);
  await createUser(app, { email });
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
  t.strictSame((await signUp(own, key)).body, first.body);
});

t.test('without a verification_token the address stays taken', async (t) => {
  const { squatter, body } = await createRivals();
  const { verification_token, ...without } = body;
  rejected(t, await signUp(without), 409, 'email_taken');
  rejected(t, await signUp({ ...body, verification_token: 'x' }), 400, 'verification_token_invalid');
  invalid(t, await signUp({ ...body, password: 'password' }), 'password');
  t.equal((await me(squatter.token)).status, 200);
  t.equal((await signUp(body)).status, 201, 'nor is the token used up');
});

t.test('an account with a store is not replaced; a password reset is the way in', async (t) => {
  const { squatter, body } = await createRivals();
  const store = await createStore(app, squatter.token);
  rejected(t, await signUp(body), 409, 'email_taken');
  t.equal(await openTokens(squatter.email), 1, 'the token is not used up');
  t.equal((await app.call('GET', `/api/v1/stores/${store.id}/`, { token: squatter.token })).status, 200);

  const link = await newResetLink(app, squatter.email);
  const changed = await changePassword(squatter.token, squatter.password, `${squatter.password}-kept`);
  t.equal(changed.status, 200, 'which does not void the link');
  t.equal((await confirmReset(link)).status, 200);
  tokenRejected(t, await me(squatter.token), 'revoked');
  const { token } = await logIn(app, { username: squatter.email, password: newPassword });
  t.equal(await isVerified(token), true);
});

t.test('a verified account is not replaced, and the token is not used up', async (t) => {
  const { squatter, body } = await createRivals();
  const { email, token } = squatter;
  await passTime(app, email, 3600);
  t.equal((await confirm({ email, code: await newCode(email) }, token)).status, 200);
  rejected(t, await signUp(body), 409, 'email_taken');
  t.equal(await openTokens(email), 2);
  t.equal(await isVerified(token), true);
});

t.test('where the username is taken, nothing is replaced and the token is not used up', async (t) => {
  const { squatter, body } = await createRivals();
  const other = await createUser(app);
  rejected(t, await signUp({ ...body, username: other.username }), 409, 'username_taken');
  t.equal((await me(squatter.token)).status, 200);
  t.equal((await signUp(body)).status, 201);
});

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
  const response = await during(t, app, [statement, squatter.id], () => signUp(body), end);
  return { body, response };
}

const remove = 'DELETE FROM users WHERE id = $1';

t.test('a sign-up waits for a store or a verification in progress, and replaces neither', async (t) => {
  for (const statement of [statements.openStore, statements.verify]) {
    const { body, response } = await signUpDuring(t, statement, 'COMMIT');
    rejected(t, response, 409, 'email_taken');
    rejected(t, await signUp(body), 409, 'email_taken');
    t.equal((await signUpDuring(t, statement, 'ROLLBACK')).response.status, 201);
  }
});

t.test('a sign-up waits for a concurrent deletion, and succeeds either way', async (t) => {
  for (const end of ['COMMIT', 'ROLLBACK'] as const)
    t.equal((await signUpDuring(t, remove, end)).response.status, 201, end);
});

t.test('a store cannot be opened in an account that is replaced', async (t) => {
  const { squatter, body } = await createRivals();
  const { token } = squatter;
  const sessions: [string, number] = ['SELECT FROM sessions WHERE user_id = $1 FOR UPDATE', squatter.id];
  const store = { token, body: { name: '두레', category_ids: [1] } };
  const open = () => app.call('POST', '/api/v1/stores/', store);
  const [replaced, opened] = await inOrder(t, app, sessions, () => signUp(body), open);
  t.strictSame([replaced.status, opened.status], [201, 401]);
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

const exists = async (id: number, at = app) => (await countRows(at, 'users WHERE id = $1', id)) === 1;

/** An account that has not been used for so many days. */
async function createUnused(days: number, on = app) {
  const user = await createUser(on);
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
  const silent: number = (await signUp(signUpBody(), key)).body.data.id;
  await app.pool.query("UPDATE users SET created_at = now() - interval '31 days' WHERE id = $1", [silent]);
  await cleanUp(app);
  t.notOk(await exists(user.id));
  t.notOk(await exists(silent), 'also one that was never used');
  t.strictSame(await tablesWith(app, user.id), []);
  t.equal(await countRows(app, "idempotency_keys WHERE key = 'long-ago'"), 0, 'with its stored responses');
  tokenRejected(t, await me(user.token), 'revoked');
  const again = signUpBody({ username: user.username, email: user.email });
  t.equal((await signUp(again)).status, 201, 'its username and email are free');
  t.strictSame(deletedIds().slice(-2).sort(), [user.id, silent].sort());
});

t.test('every other account is kept', async (t) => {
  const young = await createUser(app);
  const recent = await createUnused(29);
  const verified = await createUnused(365);
  await verifyEmails(app, verified);
  const suspended = await createUnused(365);
  await suspend(app, suspended);
  const owner = await createUser(app);
  await createStore(app, owner.token);
  const active = await createUser(app);
  await app.pool.query(
    "UPDATE users SET created_at = now() - interval '90 days', last_login_at = now() - interval '80 days' WHERE id = ANY ($1)",
    [[owner.id, active.id]],
  );
  await app.pool.query('DELETE FROM sessions WHERE user_id = $1', [owner.id]);
  const gone = await createUnused(31);
  await cleanUp(app);
  t.notOk(await exists(gone.id));
  for (const [reason, { id }] of Object.entries({ young, recent, verified, suspended, owner, active })) {
    t.ok(await exists(id), reason);
  }
  await app.pool.query('UPDATE sessions SET expires_at = now() WHERE user_id = $1', [active.id]);
  await cleanUp(app);
  t.notOk(await exists(active.id), 'until its session has expired');
});

t.test('an account that is used, verified or gets a store during the clean-up is kept', async (t) => {
  const use = 'UPDATE users SET last_login_at = now() WHERE id = $1';
  for (const statement of [use, ...Object.values(statements)]) {
    const user = await createUnused(31);
    await during(t, app, [statement, user.id], () => cleanUp(app));
    t.ok(await exists(user.id), statement);
  }
});

t.test('two runs at once delete each account once', async (t) => {
  const other = await app.startInstance({ WORKER_ENABLED: 'true' });
  const users = [await createUnused(31), await createUnused(31), await createUnused(31)];
  app.logs.length = 0;
  await cleanUp(app, 3);
  const logs = [...app.logs, ...other.logs];
  t.equal(logs.filter((line) => line.includes('"account_deleted"')).length, 3);
  t.notOk(logs.some((line) => line.includes('job failed')));
  for (const { id } of users) t.notOk(await exists(id));
});

t.test('UNVERIFIED_ACCOUNT_TTL sets the time; with 0 all accounts are kept', async (t) => {
  const keeper = await createTestApp({ UNVERIFIED_ACCOUNT_TTL: '0' });
  const old = await createUnused(3_000, keeper);
  await cleanUp(keeper);
  t.ok(await exists(old.id, keeper));
  await keeper.close();
  const hasty = await createTestApp({ UNVERIFIED_ACCOUNT_TTL: '2d' }, { databaseUrl: keeper.url });
  const [one, other] = [await createUnused(3, hasty), await createUnused(1, hasty)];
  await cleanUp(hasty);
  for (const { id } of [old, one]) t.notOk(await exists(id, hasty));
  t.ok(await exists(other.id, hasty));
});
