import t from 'tap';
import { createTestApp, createUser, logIn } from '../support/app.ts';
import { noErrorLogged, tokenRefused } from '../support/assertions.ts';
import { until } from '../support/until.ts';
import { createForge, decode, type TokenParts } from './tokens.ts';

const secret = 'the secret that signs these tests 0123456789';
const app = await createTestApp({ JWT_SECRET: secret });
t.teardown(app.close);

const user = await createUser(app);
const forge = createForge({ secret, ...decode(user.token) });

const read = (token: string) => app.call('GET', '/auth/me/', { token });

t.test('user and session must belong together', async (t) => {
  const other = await createUser(app);
  const foreign: TokenParts[] = [
    { claims: { sid: decode(other.token).claims.sid } },
    { claims: { sub: String(other.id) } },
    { claims: { sub: '2147483647' } },
    { claims: { sid: '00000000-0000-4000-8000-000000000000' } },
  ];
  for (const parts of foreign) tokenRefused(t, await read(forge(parts)), 'revoked');
  t.equal((await read(user.token)).status, 200, 'no session ends');
  t.equal((await read(other.token)).status, 200);
});

t.test('a token of a session that ended is revoked', async (t) => {
  const { token } = await logIn(app, user);
  t.equal((await app.call('POST', '/auth/logout/', { token })).status, 200);
  tokenRefused(t, await read(token), 'revoked');
  t.equal((await read(user.token)).status, 200, 'other sessions go on');
});

t.test('a token of an expired session is revoked', async (t) => {
  const { token } = await logIn(app, user);
  await app.pool.query('UPDATE sessions SET expires_at = now() WHERE id = $1', [decode(token).claims.sid]);
  tokenRefused(t, await read(token), 'revoked');
});

t.test('the tokens of a suspended account are revoked at once', async (t) => {
  const suspended = await createUser(app);
  await app.pool.query('UPDATE users SET suspended_at = now() WHERE id = $1', [suspended.id]);
  tokenRefused(t, await read(suspended.token), 'revoked');
  const { refresh } = suspended;
  const answer = await app.call('POST', '/auth/token/refresh/', { body: { refresh } });
  tokenRefused(t, answer, 'revoked', 'refresh');
  tokenRefused(t, await app.call('GET', '/auth/sessions/', { token: suspended.token }), 'revoked');
});

t.test('a suspension during the login prevents the session', async (t) => {
  const user = await createUser(app);
  const suspension = await app.pool.connect();
  t.teardown(() => suspension.release());
  await suspension.query('BEGIN');
  await suspension.query('UPDATE users SET suspended_at = now() WHERE id = $1', [user.id]);
  const { username } = user;
  const login = app.call('POST', '/auth/login/', { body: { username, password: user.password } });
  const waiting =
    "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";
  await until('the login waits', async () => (await app.pool.query(waiting)).rows.length > 0);
  await suspension.query('COMMIT');
  t.match(await login, { status: 403, body: { data: { code: 'account_suspended' } } });
  t.strictSame((await app.pool.query('SELECT FROM sessions WHERE user_id = $1', [user.id])).rows, []);
});

t.test('a suspension ends the sessions, also after it is lifted', async (t) => {
  const user = await createUser(app);
  await app.pool.query('UPDATE users SET suspended_at = now() WHERE id = $1', [user.id]);
  await app.pool.query('UPDATE users SET suspended_at = NULL WHERE id = $1', [user.id]);
  tokenRefused(t, await app.call('GET', '/auth/me/', { token: user.token }), 'revoked');
  const refresh = await app.call('POST', '/auth/token/refresh/', { body: { refresh: user.refresh } });
  t.equal(refresh.body.data.reason, 'revoked');
  t.ok((await logIn(app, user)).token, 'a login is possible again');
});

t.test('no refusal is an error of the service', async (t) => {
  noErrorLogged(t, app.logs);
});
