import t from 'tap';
import { createTestApp, createUser, logIn } from '../support/app.ts';
import { invalid, refused, tally, tokenRefused } from '../support/assertions.ts';
import { inParallel } from '../support/concurrency.ts';
import { createForge, decode, now } from './tokens.ts';

const secret = 'a secret for tokens that are forged 0123';
const app = await createTestApp({ JWT_SECRET: secret });
t.teardown(app.close);
const other = await createTestApp({ JWT_SECRET: secret, WORKER_ENABLED: 'false' }, { databaseUrl: app.url });
t.teardown(other.close);

const user = await createUser(app);

const logOut = (token: string | undefined, body?: unknown) =>
  app.call('POST', '/auth/logout/', { token, body });
const read = (token: string, { call } = app) => call('GET', '/auth/me/', { token });
const refresh = (token: string, { call } = app) =>
  call('POST', '/auth/token/refresh/', { body: { refresh: token } });

t.test('logging out with the access token ends that session, at once and on every instance', async (t) => {
  const [session, elsewhere] = [await logIn(app, user), await logIn(app, user)];
  const answer = await logOut(session.token);
  t.equal(answer.status, 200);
  t.strictSame(answer.body, { success: true, message: answer.body.message, data: {} });
  t.equal(answer.headers['cache-control'], 'no-store');
  for (const instance of [app, other]) {
    tokenRefused(t, await read(session.token, instance), 'revoked');
    tokenRefused(t, await refresh(session.refresh, instance), 'revoked', 'refresh');
    t.equal((await read(elsewhere.token, instance)).status, 200);
  }
});

t.test('logging out with the refresh token ends that session, at once and on every instance', async (t) => {
  const [session, elsewhere] = [await logIn(app, user), await logIn(app, user)];
  t.equal((await logOut(undefined, { refresh: session.refresh })).status, 200);
  for (const instance of [app, other]) {
    tokenRefused(t, await read(session.token, instance), 'revoked');
    tokenRefused(t, await refresh(session.refresh, instance), 'revoked', 'refresh');
    t.equal((await read(elsewhere.token, instance)).status, 200);
  }
});

t.test('a replaced refresh token logs out, too', async (t) => {
  const session = await logIn(app, user);
  const { access } = (await refresh(session.refresh)).body.data;
  t.equal((await logOut(undefined, { refresh: session.refresh })).status, 200);
  tokenRefused(t, await read(access), 'revoked');
});

t.test('with both, the Bearer token decides', async (t) => {
  const [one, two] = [await logIn(app, user), await logIn(app, user)];
  t.equal((await logOut(one.token, { refresh: two.refresh })).status, 200);
  tokenRefused(t, await read(one.token), 'revoked');
  t.equal((await read(two.token)).status, 200);

  t.equal((await logOut(two.token, { refresh: 'x' })).status, 200);
  tokenRefused(t, await read(two.token), 'revoked');
});

t.test('an invalid access token does not prevent a logout with the refresh token', async (t) => {
  const ended = await logIn(app, user);
  await logOut(ended.token);
  const forge = createForge({ secret, ...decode((await logIn(app, user)).token) });
  const expired = forge({ claims: { iat: now() - 960, exp: now() - 60 } });
  tokenRefused(t, await read(expired), 'expired');
  for (const token of [expired, ended.token, 'x', user.refresh]) {
    const session = await logIn(app, user);
    t.equal((await logOut(token, { refresh: session.refresh })).status, 200);
    tokenRefused(t, await refresh(session.refresh), 'revoked', 'refresh');
  }
});

t.test('an invalid access token without a good refresh token is token_not_valid', async (t) => {
  const ended = await logIn(app, user);
  await logOut(ended.token);
  const json = { 'content-type': 'application/json' };
  for (const refresh of [undefined, 'x', ended.refresh, ended.token, 1]) {
    tokenRefused(t, await logOut(ended.token, { refresh }), 'revoked');
    tokenRefused(t, await logOut('x', { refresh }), 'malformed');
  }
  tokenRefused(t, await logOut(ended.token, { other: 1 }), 'revoked');
  const unreadable = { token: 'x', body: '{', headers: json };
  tokenRefused(t, await app.call('POST', '/auth/logout/', unreadable), 'malformed');
  const { token } = await logIn(app, user);
  refused(t, await app.call('POST', '/auth/logout/', { ...unreadable, token }), 400, 'malformed_json');
  invalid(t, await logOut(token, { other: 1 }), 'other');
  t.equal((await read(token)).status, 200);
});

t.test('credentials other than Bearer are ignored', async (t) => {
  const session = await logIn(app, user);
  const headers = { authorization: 'Basic dXNlcjpwYXNzd29yZA==' };
  refused(t, await app.call('POST', '/auth/logout/', { headers }), 401, 'not_authenticated');
  const body = { refresh: session.refresh };
  t.equal((await app.call('POST', '/auth/logout/', { headers, body })).status, 200);
  tokenRefused(t, await read(session.token), 'revoked');
});

t.test('without a token the answer is not_authenticated', async (t) => {
  refused(t, await logOut(undefined), 401, 'not_authenticated');
  refused(t, await logOut(undefined, {}), 401, 'not_authenticated');
  const headers = { 'content-type': 'application/json' };
  refused(t, await app.call('POST', '/auth/logout/', { headers }), 401, 'not_authenticated');
});

t.test('an invalid token is token_not_valid', async (t) => {
  const session = await logIn(app, user);
  tokenRefused(t, await logOut('x'), 'malformed');
  tokenRefused(t, await logOut(session.refresh), 'wrong_type');
  tokenRefused(t, await logOut(undefined, { refresh: 'x' }), 'malformed', 'refresh');
  tokenRefused(t, await logOut(undefined, { refresh: `${session.refresh}A` }), 'malformed', 'refresh');
  tokenRefused(t, await logOut(undefined, { refresh: session.token }), 'wrong_type', 'refresh');
  t.equal((await read(session.token)).status, 200, 'none of which ends a session');
  await logOut(session.token);
  tokenRefused(t, await logOut(session.token), 'revoked');
  tokenRefused(t, await logOut(undefined, { refresh: session.refresh }), 'revoked', 'refresh');
});

t.test('of 20 concurrent logouts with a refresh token, one ends the session', async (t) => {
  const session = await logIn(app, user);
  const answers = await inParallel(20, () => logOut(undefined, { refresh: session.refresh }));
  t.strictSame(tally(answers), { '200': 1, '401 token_not_valid': 19 });
});

t.test('20 concurrent logouts with an access token end the session without an error', async (t) => {
  const session = await logIn(app, user);
  const answers = await inParallel(20, () => logOut(session.token));
  for (const answer of answers) if (answer.status !== 200) tokenRefused(t, answer, 'revoked');
  t.ok(answers.some(({ status }) => status === 200));
  tokenRefused(t, await read(session.token), 'revoked');
});

t.test('a session is deleted at logout', async (t) => {
  const session = await logIn(app, user);
  await logOut(session.token);
  const { rowCount } = await app.pool.query('SELECT FROM sessions WHERE id = $1', [
    decode(session.token).claims.sid,
  ]);
  t.equal(rowCount, 0);
});
