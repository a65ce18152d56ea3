import t, { type Test } from 'tap';
import { createTestApp, createUser, logIn, password, readPages, testEnvironment } from '../support/app.ts';
import { invalid, rejected, tally, tokenRejected } from '../support/assertions.ts';
import { inParallel } from '../support/concurrency.ts';
import { countRows } from '../support/rows.ts';
import { idsIn } from '../support/stores.ts';
import { accountsOf } from './accounts.ts';
import { isRecent } from './mailbox.ts';
import { createForge, decode, now, sessionIdIn } from './tokens.ts';

const app = await createTestApp();
const other = await app.startInstance();

const { post, me, refresh, logOut, ended } = accountsOf(app);
const list = (token: string, query = '') => app.call('GET', `/auth/sessions/${query}`, { token });
const end = (token: string, sessionId = '', { call } = app) =>
  call('DELETE', `/auth/sessions/${sessionId}/`, { token });

/** A user with so many sessions besides the first, oldest first. */
async function createSessions(count: number) {
  const user = await createUser(app);
  const sessions = [user];
  for (let one = 0; one < count; one++) sessions.push({ ...user, ...(await logIn(app, user)) });
  return { user, sessions, ids: sessions.map(({ token }) => sessionIdIn(token)) };
}

async function lives(t: Test, session: { token: string; refresh: string }) {
  t.equal((await me(session.token, other)).status, 200);
  t.equal((await refresh(session.refresh)).status, 200);
}

t.test('sessions are listed with exactly their fields, newest first', async (t) => {
  const user = await createUser(app);
  const headers = { 'user-agent': 'Mozilla/5.0 (Linux; Android 15)' };
  const options = { headers, remoteAddress: '203.0.113.7' };
  const { access } = (await post('login', { username: user.username, password }, options)).body.data;
  const { items, next_cursor } = (await list(access)).body.data;
  const [newest, oldest] = items;
  const { created_at, last_used_at } = newest;
  const times = { authenticated_at: created_at, created_at, last_used_at };
  const client = { user_agent: headers['user-agent'], ip: '203.0.113.7', methods: ['password'] };
  t.strictSame(newest, { id: sessionIdIn(access), ...client, ...times, is_current: true });
  t.match(oldest, { id: sessionIdIn(user.token), ip: '127.0.0.1', is_current: false });
  t.strictSame([items.length, next_cursor], [2, null]);
  for (const time of [created_at, last_used_at]) isRecent(t, time);
  t.match((await list(user.token)).body.data.items, [{ is_current: false }, { is_current: true }]);
});

t.test('a refresh changes last_used_at, but not created_at or the order', async (t) => {
  const { user, ids } = await createSessions(1);
  await app.pool.query(
    `UPDATE sessions SET created_at = created_at - interval '1 hour', last_used_at = last_used_at - interval '1 hour'
     WHERE user_id = $1`,
    [user.id],
  );
  const before = (await list(user.token)).body.data.items;
  await refresh(user.refresh);
  const response = await list(user.token);
  const after = response.body.data.items;
  t.strictSame(idsIn<string>(response), ids.toReversed());
  t.strictSame(after[0], before[0]);
  t.equal(after[1].created_at, before[1].created_at);
  t.ok(Date.parse(after[1].last_used_at) > Date.parse(before[1].last_used_at) + 3_500_000);
});

t.test('only live sessions of the caller are listed', async (t) => {
  const { user, ids } = await createSessions(3);
  await app.pool.query('UPDATE sessions SET expires_at = now() WHERE id = $1', [ids[1]]);
  await end(user.token, ids[2]);
  t.strictSame(idsIn<string>(await list(user.token)), [ids[3], ids[0]]);
});

t.test('a login above 100 sessions ends the one used longest ago, also of logins at once', async (t) => {
  const { user, sessions, ids } = await createSessions(2);
  const [first, second] = sessions;
  await app.pool.query(
    `INSERT INTO sessions (id, user_id, rotated_at, user_agent, ip, created_at, last_used_at, expires_at)
     SELECT gen_random_uuid(), $1, '{}', '', '', now(), now() - interval '1 hour', now() + (n - 4.5) * interval '1 hour'
     FROM generate_series(1, 101) n`,
    [user.id],
  );
  await app.pool.query(`UPDATE sessions SET last_used_at = now() - interval '1 day' WHERE id = $1`, [ids[1]]);
  t.equal((await me(second?.token ?? '')).status, 200, 'those that expired do not count');
  await logIn(app, user);
  if (second) await ended(t, second, other);
  const logins = await inParallel(8, () => logIn(app, user));
  for (const { token } of [first ?? user, ...logins]) t.equal((await me(token)).status, 200);
  const { items, next_cursor } = (await list(user.token, '?limit=100')).body.data;
  t.strictSame([items.length, next_cursor], [100, null]);
});

t.test('the list has pages, also of sessions of the same time', async (t) => {
  const { user, ids } = await createSessions(4);
  const pagesOf = (limit: number) => readPages((cursor) => list(user.token, `?limit=${limit}${cursor}`));
  const [five, four, three, two, one] = ids.toReversed();
  t.strictSame(await pagesOf(2), [[five, four], [three, two], [one]]);
  for (const limit of [5, 100]) t.strictSame(await pagesOf(limit), [ids.toReversed()]);
  await app.pool.query('UPDATE sessions SET created_at = now() WHERE user_id = $1', [user.id]);
  t.strictSame((await pagesOf(2)).flat().sort(), ids.sort());
});

t.test('the cursor of another user shows none of their sessions', async (t) => {
  const { user } = await createSessions(1);
  const { next_cursor } = (await list(user.token, '?limit=1')).body.data;
  const stranger = await createSessions(1);
  const seen = idsIn<string>(await list(stranger.user.token, `?cursor=${next_cursor}`));
  t.ok(seen.every((one) => stranger.ids.includes(one)));
});

t.test('ending a session revokes its tokens at once, on every instance, and no others', async (t) => {
  const { user, sessions, ids } = await createSessions(2);
  const stranger = await createUser(app);
  rejected(t, await end(stranger.token, ids[1]), 404, 'session_not_found');
  t.strictSame((await end(user.token, ids[1])).body.data, {});
  for (const [index, session] of sessions.entries())
    await (index === 1 ? ended(t, session, other) : lives(t, session));
  rejected(t, await end(user.token, ids[1]), 404, 'session_not_found');
  t.equal((await end(user.token, ids[0]?.toUpperCase())).status, 200, 'the current one, in any case');
  await ended(t, user, other);
});

t.test('of 20 concurrent ends of one session, one succeeds', async (t) => {
  const { user, ids } = await createSessions(1);
  const responses = await inParallel(20, (index) => end(user.token, ids[1], index % 2 ? other : app));
  t.strictSame(tally(responses), { '200': 1, '404 session_not_found': 19 });
});

t.test('ending the other sessions keeps the current one', async (t) => {
  const { user, sessions } = await createSessions(3);
  const stranger = await createUser(app);
  const current = sessions[2] ?? user;
  for (let time = 0; time < 2; time++) {
    const { body } = await app.call('DELETE', '/auth/sessions/', { token: current.token });
    t.strictSame(body.data, {});
  }
  for (const session of sessions) if (session !== current) await ended(t, session, other);
  await lives(t, current);
  await lives(t, stranger);
  t.equal((await list(current.token)).body.data.items.length, 1);
});

const user = await createUser(app);

t.test('a logout with either token ends that session, at once and on every instance', async (t) => {
  const elsewhere = await logIn(app, user);
  for (const isAccess of [true, false]) {
    const session = await logIn(app, user);
    const { token, refresh } = session;
    t.strictSame((await (isAccess ? logOut(token) : logOut(undefined, { refresh }))).body.data, {});
    await ended(t, session, other);
    t.equal(await countRows(app, 'sessions WHERE id = $1', sessionIdIn(token)), 0);
  }
  await lives(t, elsewhere);
});

t.test('a replaced refresh token logs out, too', async (t) => {
  const session = await logIn(app, user);
  const { access } = (await refresh(session.refresh)).body.data;
  t.equal((await logOut(undefined, { refresh: session.refresh })).status, 200);
  tokenRejected(t, await me(access), 'revoked');
});

t.test('with both, the Bearer token decides', async (t) => {
  const [one, two] = [await logIn(app, user), await logIn(app, user)];
  t.equal((await logOut(one.token, { refresh: two.refresh })).status, 200);
  tokenRejected(t, await me(one.token), 'revoked');
  t.equal((await me(two.token)).status, 200);
  t.equal((await logOut(two.token, { refresh: 'x' })).status, 200);
  tokenRejected(t, await me(two.token), 'revoked');
});

t.test('an invalid access token does not prevent a logout with the refresh token', async (t) => {
  const gone = await logIn(app, user);
  await logOut(gone.token);
  const genuine = decode((await logIn(app, user)).token);
  const forge = createForge({ secret: testEnvironment.JWT_SECRET, ...genuine });
  const expired = forge({ claims: { iat: now() - 960, exp: now() - 60 } });
  tokenRejected(t, await me(expired), 'expired');
  for (const token of [expired, gone.token, 'x', user.refresh]) {
    const session = await logIn(app, user);
    t.equal((await logOut(token, { refresh: session.refresh })).status, 200);
    tokenRejected(t, await refresh(session.refresh), 'revoked', 'refresh');
  }
});

t.test('an invalid access token without a good refresh token is token_not_valid', async (t) => {
  const gone = await logIn(app, user);
  await logOut(gone.token);
  for (const refresh of [undefined, 'x', gone.refresh, gone.token, 1]) {
    tokenRejected(t, await logOut(gone.token, { refresh }), 'revoked');
    tokenRejected(t, await logOut('x', { refresh }), 'malformed');
  }
  tokenRejected(t, await logOut(gone.token, { other: 1 }), 'revoked');
  const headers = { 'content-type': 'application/json' };
  tokenRejected(t, await post('logout', '{', { token: 'x', headers }), 'malformed');
  const { token } = await logIn(app, user);
  rejected(t, await post('logout', '{', { token, headers }), 400, 'malformed_json');
  invalid(t, await logOut(token, { other: 1 }), 'other');
  t.equal((await me(token)).status, 200);
});

t.test('without a Bearer or refresh token a logout is not_authenticated', async (t) => {
  const session = await logIn(app, user);
  const headers = { authorization: 'Basic dXNlcjpwYXNzd29yZA==' };
  for (const [body, options] of [
    [undefined, {}],
    [{}, {}],
    [undefined, { headers }],
    [undefined, { headers: { 'content-type': 'application/json' } }],
  ] as const) {
    rejected(t, await post('logout', body, options), 401, 'not_authenticated');
  }
  t.equal((await post('logout', { refresh: session.refresh }, { headers })).status, 200);
  tokenRejected(t, await me(session.token), 'revoked');
});

t.test('a logout with an invalid token is token_not_valid', async (t) => {
  const session = await logIn(app, user);
  tokenRejected(t, await logOut(session.refresh), 'wrong_type');
  tokenRejected(t, await logOut(undefined, { refresh: 'x' }), 'malformed', 'refresh');
  tokenRejected(t, await logOut(undefined, { refresh: `${session.refresh}A` }), 'malformed', 'refresh');
  tokenRejected(t, await logOut(undefined, { refresh: session.token }), 'wrong_type', 'refresh');
  t.equal((await me(session.token)).status, 200, 'none of which ends a session');
  await logOut(session.token);
  tokenRejected(t, await logOut(undefined, { refresh: session.refresh }), 'revoked', 'refresh');
});
