import { createHmac } from 'node:crypto';
import t from 'tap';
import { createTestApp, createUser, password, suspend, testEnvironment } from '../support/app.ts';
import { rejected } from '../support/assertions.ts';
import { countRows } from '../support/rows.ts';
import { accountsOf } from './accounts.ts';
import { isRecent } from './mailbox.ts';
import { decode } from './tokens.ts';

const app = await createTestApp();

const { post, me, refresh, tryLogin } = accountsOf(app);

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

t.test('a login returns a pair of tokens and the user', async (t) => {
  const user = await createUser(app);
  const { data } = (await tryLogin(user.username)).body;
  const { access, refresh } = data;
  const { id, username, name, email } = user;
  t.strictSame(data, {
    ...{ access, refresh, token_type: 'Bearer', expires_in: 900, refresh_expires_in: 1_209_600 },
    user: { id, username, name, email, role: 'user', is_verified: false },
  });
  t.strictSame((await me(access)).body.data, data.user);
});

t.test('tokens are JWTs, HS256 with the bytes of the secret, with the claims of the contract', async (t) => {
  const user = await createUser(app);
  const before = Math.floor(Date.now() / 1000);
  const { access, refresh } = (await tryLogin(user.username)).body.data;
  const after = Date.now() / 1000;
  for (const [token, type, lifetime] of [
    [access, 'access', 900],
    [refresh, 'refresh', 1_209_600],
  ]) {
    const { header, claims } = decode(token);
    t.strictSame(Object.keys(header).sort(), ['alg', 'kid', 'typ']);
    t.match(header, { alg: 'HS256', typ: 'JWT', kid: /^[\w-]+$/ });
    t.notOk(testEnvironment.JWT_SECRET.includes(header.kid));
    t.equal(claims.sub, String(user.id));
    t.match(claims.sid, uuid);
    t.match(claims.jti, /\S/);
    t.equal(claims.token_type, type);
    t.equal(claims.exp - claims.iat, lifetime);
    t.ok(Number.isInteger(claims.iat) && claims.iat >= before && claims.iat <= after);
    t.type(claims.iss, 'string');
    t.type(claims.aud, 'string');
    const [input, signature] = [token.slice(0, token.lastIndexOf('.')), token.split('.')[2]];
    t.equal(signature, createHmac('sha256', testEnvironment.JWT_SECRET).update(input).digest('base64url'));
    const { aud, exp, iat, iss, jti, sid, sub, token_type, ...others } = claims;
    const count = type === 'access' ? 0 : 1;
    t.equal(Object.keys(others).length, count, 'a refresh token has the count, and neither anything else');
  }
  t.equal(decode(access).claims.sid, decode(refresh).claims.sid);
  t.not(decode(access).claims.jti, decode(refresh).claims.jti);
});

t.test('the lifetimes are configurable, and no token outlives the session', async (t) => {
  const lifetimes = { ACCESS_TOKEN_TTL: '2h', REFRESH_TOKEN_TTL: '14d', SESSION_MAX_AGE: '1h' };
  const short = await app.startInstance(lifetimes);
  const { username } = await createUser(app);
  const { data } = (await tryLogin(username, password, short)).body;
  const { access, refresh, expires_in, refresh_expires_in } = data;
  t.strictSame([expires_in, refresh_expires_in], [3600, 3600]);
  for (const token of [access, refresh]) {
    const { exp, iat } = decode(token).claims;
    t.equal(exp - iat, 3600);
  }
});

t.test('the username may be the email, both case-insensitive', async (t) => {
  const { username, email, id } = await createUser(app);
  for (const login of [username, username.toUpperCase(), email, email.toUpperCase(), ` ${username}\t`])
    t.match((await tryLogin(login)).body.data, { user: { id } }, login);
});

t.test('an unknown user and a wrong password get the same response', async (t) => {
  const { username, email } = await createUser(app);
  const { text } = await tryLogin(username, 'not the password');
  const names = [email, 'no-such-user', 'unknown@example.com', "' OR 1=1 --", '이런 사람은 없어요', 'x'];
  const passwords = [`${password} `, ` ${password}`, password.toUpperCase(), password.slice(0, -1), 'y'];
  for (const [name, given] of [
    ...names.map((name) => [name, 'not the password']),
    ...passwords.map((given) => [username, given]),
  ]) {
    const response = await tryLogin(name, given);
    rejected(t, response, 401, 'invalid_credentials');
    t.equal(response.text, text);
  }
  const english = (username: string) =>
    post('login', { username, password: 'not the password' }, { headers: { 'accept-language': 'en' } });
  t.match((await english(username)).body.message, /password/);
  t.strictSame((await english(username)).body, (await english('no-such-user')).body);
});

t.test('account_suspended is only returned for the right password', async (t) => {
  const { username, id } = await createUser(app);
  await suspend(app, { id });
  const wrong = await tryLogin(username, 'not the password');
  rejected(t, wrong, 401, 'invalid_credentials');
  t.equal(wrong.text, (await tryLogin('no-such-user', 'not the password')).text);
  rejected(t, await tryLogin(username), 403, 'account_suspended');
});

t.test('a stored hash that cannot be read is a wrong password, not an error', async (t) => {
  const { username, id } = await createUser(app);
  const { rows } = await app.pool.query('SELECT password_hash FROM users WHERE id = $1', [id]);
  const hash: string = rows[0].password_hash;
  const broken = ['', 'x', '$', hash.slice(0, 20), hash.slice(0, -5), hash.replace('argon2id', 'bcrypt')];
  broken.push(hash.replace('m=1024', 'm=0'), hash.replace('t=1', 't=x'), '$argon2id$v=19$m=1024,t=1,p=1$$');
  for (const stored of broken) {
    await app.pool.query('UPDATE users SET password_hash = $1 WHERE id = $2', [stored, id]);
    rejected(t, await tryLogin(username), 401, 'invalid_credentials');
    await app.pool.query('DELETE FROM login_failures');
  }
});

t.test('a user agent is cut and cleaned before it is stored', async (t) => {
  const { username } = await createUser(app);
  for (const [given, kept] of [
    ['a'.repeat(5000), 'a'.repeat(400)],
    ['', ''],
    ['curl/8.0 \u0080na\u00efve\u009f', 'curl/8.0 na\u00efve'],
  ]) {
    const headers = { 'user-agent': String(given) };
    const login = await post('login', { username, password }, { headers });
    const sessions = await app.call('GET', '/auth/sessions/', { token: login.body.data.access });
    t.equal(sessions.body.data.items[0].user_agent, kept);
  }
});

t.test('the time of a login is kept, and a refresh is no login', async (t) => {
  const { id, refresh: token } = await createUser(app);
  const { rows } = await app.pool.query('SELECT last_login_at FROM users WHERE id = $1', [id]);
  isRecent(t, rows[0].last_login_at.toISOString());
  const old = "last_login_at = '2026-01-01'";
  await app.pool.query(`UPDATE users SET ${old} WHERE id = $1`, [id]);
  t.equal((await refresh(token)).status, 200);
  t.equal(await countRows(app, `users WHERE id = $1 AND ${old}`, id), 1);
});
