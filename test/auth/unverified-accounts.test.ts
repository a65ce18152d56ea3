import t from 'tap';
import { createTestApp, createUser, logIn, password } from '../support/app.ts';
import { invalid, refused, tokenRefused } from '../support/assertions.ts';
import { tablesWith } from '../support/rows.ts';
import { createStore } from '../support/stores.ts';
import { signUpBody, verifyAddress } from './accounts.ts';
import { createUnverifiedUser, latestCode, newResetLink, passTime } from './mailbox.ts';

const app = await createTestApp();
t.teardown(app.close);

const confirm = (email: string, code: string, token?: string) =>
  app.call('POST', '/auth/email-verify/confirm/', { body: { email, code }, token });
const signUp = (body: unknown, headers: Record<string, string> = {}) =>
  app.call('POST', '/auth/signup/', { body, headers });
const me = (token: string) => app.call('GET', '/auth/me/', { token });
const isVerified = async (token: string) => (await me(token)).body.data.is_verified;

/** A code that was asked for, without a login. */
async function newCode(email: string): Promise<string> {
  await app.call('POST', '/auth/email-verify/send/', { body: { email } });
  return latestCode(app, email);
}

/** An account with an address of somebody else, and the sign-up of the owner of the address, who has proved it. */
async function createRivals() {
  const squatter = await createUnverifiedUser(app);
  const { email } = squatter;
  const body = signUpBody({ email, verification_token: await verifyAddress(app, email) });
  return { squatter, body };
}

/** How many tokens of an address can still be used. */
async function openTokens(email: string): Promise<number> {
  const { rows } = await app.pool.query('SELECT FROM email_proofs WHERE email = $1', [email]);
  return rows.length;
}

t.test('a suspended account is not replaced', async (t) => {
  const { squatter, body } = await createRivals();
  await app.pool.query('UPDATE users SET suspended_at = now() WHERE id = $1', [squatter.id]);
  refused(t, await signUp(body), 409, 'email_taken');
});

t.test('a sign-up with a verification_token replaces an unverified account with the address', async (t) => {
  const { squatter, body } = await createRivals();
  const answer = await signUp(body);
  t.equal(answer.status, 201);
  t.equal(answer.body.data.is_verified, true);
  t.equal(answer.body.data.email, squatter.email);
  t.not(answer.body.data.id, squatter.id);
  tokenRefused(t, await me(squatter.token), 'revoked');
  for (const login of [squatter.username, squatter.email]) {
    const attempt = { username: login, password: `${password}-of-the-squatter` };
    refused(t, await app.call('POST', '/auth/login/', { body: attempt }), 401, 'invalid_credentials');
  }
  t.equal((await me((await logIn(app, body)).token)).body.data.username, body.username);
  t.strictSame(await tablesWith(app, squatter.id), []);
  const events = app.logs.map((line) => JSON.parse(line)).filter(({ event }) => event === 'account_deleted');
  t.ok(
    events.some(({ userId }) => userId === squatter.id),
    'the deletion is in the log',
  );
});

t.test('the username of the account that is replaced is free for the sign-up', async (t) => {
  const { squatter, body } = await createRivals();
  const answer = await signUp({ ...body, username: squatter.username });
  t.equal(answer.status, 201);
  t.equal(answer.body.data.username, squatter.username);
});

t.test('the reset link of the account that is replaced is void', async (t) => {
  const { email } = signUpBody();
  const verification_token = await verifyAddress(app, email);
  await passTime(app, email, 3600);
  await createUser(app, { email });
  const link = new URLSearchParams(await newResetLink(app, email));
  t.equal((await signUp(signUpBody({ email, verification_token }))).status, 201);
  const validated = await app.call('GET', `/auth/reset-password-validate/?${link}`);
  refused(t, validated, 400, 'reset_link_invalid');
});

t.test('a replayed sign-up replaces nothing', async (t) => {
  const { squatter, body } = await createRivals();
  const key = { 'idempotency-key': 'replace-once' };
  const first = await signUp(body, key);
  t.equal(first.status, 201);
  const again = await signUp(body, key);
  t.strictSame(again.body, first.body);
  t.equal((await signUp(signUpBody({ username: squatter.username }))).status, 201);
});

t.test('without a verification_token the address stays taken', async (t) => {
  const { squatter, body } = await createRivals();
  const { verification_token, ...without } = body;
  refused(t, await signUp(without), 409, 'email_taken');
  refused(t, await signUp({ ...body, verification_token: 'x' }), 400, 'verification_token_invalid');
  invalid(t, await signUp({ ...body, password: 'password' }), 'password');
  t.equal((await me(squatter.token)).status, 200);
});

t.test('an account with a store is not replaced; a password reset is the way in', async (t) => {
  const { squatter, body } = await createRivals();
  const store = await createStore(app, squatter.token);
  refused(t, await signUp(body), 409, 'email_taken');
  t.equal(await openTokens(squatter.email), 1, 'the token is not used up');
  t.equal((await app.call('GET', `/api/v1/stores/${store.id}/`, { token: squatter.token })).status, 200);

  const reset = { ...(await newResetLink(app, squatter.email)), new_password: `${password}-mine` };
  const change = { current_password: password, new_password: `${password}-kept` };
  const changed = await app.call('POST', '/auth/change-password/', { token: squatter.token, body: change });
  t.equal(changed.status, 200, 'which does not void the link');
  t.equal((await app.call('POST', '/auth/reset-password-confirm/', { body: reset })).status, 200);
  tokenRefused(t, await me(squatter.token), 'revoked');
  const { token } = await logIn(app, { username: squatter.email, password: reset.new_password });
  t.equal(await isVerified(token), true);
});

t.test('a verified account is not replaced, and the token is not used up', async (t) => {
  const { squatter, body } = await createRivals();
  await passTime(app, squatter.email, 3600);
  t.equal((await confirm(squatter.email, await newCode(squatter.email), squatter.token)).status, 200);
  refused(t, await signUp(body), 409, 'email_taken');
  t.equal(await openTokens(squatter.email), 2);
  t.equal(await isVerified(squatter.token), true);
});

t.test(
  'where the username is taken by another account, nothing is replaced and the token is not used up',
  async (t) => {
    const { squatter, body } = await createRivals();
    const other = await createUser(app);
    refused(t, await signUp({ ...body, username: other.username }), 409, 'username_taken');
    t.equal((await me(squatter.token)).status, 200);
    t.equal((await signUp(body)).status, 201);
  },
);

t.test('deleting an unverified account does not void a token or a code', async (t) => {
  const { squatter, body } = await createRivals();
  const { email } = squatter;
  await passTime(app, email, 3600);
  const code = await newCode(email);
  const options = { token: squatter.token, body: { password } };
  t.equal((await app.call('DELETE', '/auth/me/', options)).status, 200);
  t.equal((await confirm(email, code)).status, 200);
  t.equal((await signUp(body)).status, 201);
});

t.test('the time of a login is kept, and a refresh is no login', async (t) => {
  const { id, refresh } = await createUser(app);
  const lastLogin = async () =>
    (await app.pool.query('SELECT last_login_at FROM users WHERE id = $1', [id])).rows[0].last_login_at;
  t.ok(Math.abs((await lastLogin()).getTime() - Date.now()) < 60_000);
  await app.pool.query("UPDATE users SET last_login_at = '2026-01-01' WHERE id = $1", [id]);
  const before = await lastLogin();
  t.equal((await app.call('POST', '/auth/token/refresh/', { body: { refresh } })).status, 200);
  t.strictSame(await lastLogin(), before);
});
