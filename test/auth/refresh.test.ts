import t from 'tap';
import { createTestApp, createUser, logIn } from '../support/app.ts';
import { tokenRefused } from '../support/assertions.ts';
import { refreshesOf } from './refresh.ts';
import { countIn, decode, sessionIdIn } from './tokens.ts';

const secret = 'the secret that signs these tests 0123456789';
const app = await createTestApp({ JWT_SECRET: secret });
t.teardown(app.close);
const options = { JWT_SECRET: secret, WORKER_ENABLED: 'false' };

const user = await createUser(app);

const { refresh, read, rotate, age } = refreshesOf(app);

t.test('a refresh answers with a new pair and rotates the count', async (t) => {
  const session = await logIn(app, user);
  const answer = await refresh(session.refresh);
  t.equal(answer.status, 200);
  const { access, refresh: next } = answer.body.data;
  t.strictSame(answer.body, {
    success: true,
    message: answer.body.message,
    data: { access, refresh: next, token_type: 'Bearer', expires_in: 900, refresh_expires_in: 1_209_600 },
  });
  t.equal(answer.headers['cache-control'], 'no-store');
  t.equal(countIn(next), countIn(session.refresh) + 1);
  for (const [token, type, lifetime] of [
    [access, 'access', 900],
    [next, 'refresh', 1_209_600],
  ]) {
    const { header, claims } = decode(token);
    t.strictSame(header, decode(session.refresh).header);
    t.match(claims, { sub: String(user.id), sid: sessionIdIn(session.refresh), token_type: type });
    t.equal(claims.exp - claims.iat, lifetime);
    t.not(claims.jti, decode(session.refresh).claims.jti);
  }
  t.equal((await read(access)).status, 200);
  t.equal((await read(session.token)).status, 200, 'the access token before is good until it expires');
  t.equal((await refresh(next)).status, 200);
});

t.test('a session can be refreshed many times', async (t) => {
  let { refresh: token } = await logIn(app, user);
  for (let count = 1; count <= 15; count++) {
    token = await rotate(token);
    t.equal(countIn(token), count);
    await age(token, '4 seconds');
  }
});

t.test('the Authorization header is ignored', async (t) => {
  const session = await logIn(app, user);
  const headers = { authorization: 'Bearer expired.or.worse' };
  const body = { refresh: session.refresh };
  t.equal((await app.call('POST', '/auth/token/refresh/', { body, headers })).status, 200);
});

t.test('a token that was just replaced gives a new access token and the current refresh token', async (t) => {
  const session = await logIn(app, user);
  const next = await rotate(session.refresh);
  for (let time = 0; time < 3; time++) {
    const again = await refresh(session.refresh);
    t.equal(again.status, 200);
    t.equal(countIn(again.body.data.refresh), countIn(next), 'without rotating again');
    t.equal((await read(again.body.data.access)).status, 200);
  }
  t.equal(countIn(await rotate(next)), countIn(next) + 1);
});

t.test('every token that was current within the last 10 s gives the newest refresh token', async (t) => {
  const tokens = [(await logIn(app, user)).refresh];
  for (let count = 0; count < 5; count++) tokens.push(await rotate(String(tokens.at(-1))));
  await age(String(tokens[0]), '9 seconds');
  for (const token of tokens.slice(0, 5)) {
    const answer = await refresh(token);
    t.equal(answer.status, 200);
    t.equal(countIn(answer.body.data.refresh), 5);
  }
  t.equal(countIn(await rotate(String(tokens[5]))), 6);
  t.equal(countIn(await rotate(String(tokens[0]))), 6);
});

t.test('the grace period starts when a token stops being the current one', async (t) => {
  const first = (await logIn(app, user)).refresh;
  await age(first, '1 day');
  const second = await rotate(first);
  await age(first, '8 seconds');
  const third = await rotate(second);
  t.equal(countIn(await rotate(first)), 2, 'it was the current one 8 s ago');
  await age(first, '4 seconds');
  t.equal(countIn(await rotate(second)), 2, 'it was the current one 4 s ago, issued 12 s ago');
  t.equal(countIn(await rotate(third)), 3);
  tokenRefused(t, await refresh(first), 'reused', 'refresh');
});

t.test('REFRESH_REUSE_GRACE sets the grace period', async (t) => {
  const hasty = await createTestApp({ ...options, REFRESH_REUSE_GRACE: '1s' }, { databaseUrl: app.url });
  t.teardown(hasty.close);
  const session = await logIn(app, user);
  t.equal((await refresh(session.refresh, hasty)).status, 200);
  t.equal((await refresh(session.refresh, hasty)).status, 200);
  await age(session.refresh, '1.05 seconds');
  tokenRefused(t, await refresh(session.refresh, hasty), 'reused', 'refresh');

  const strict = await createTestApp({ ...options, REFRESH_REUSE_GRACE: '0s' }, { databaseUrl: app.url });
  t.teardown(strict.close);
  const again = await logIn(app, user);
  t.equal((await refresh(again.refresh, strict)).status, 200);
  await age(again.refresh, '5 milliseconds');
  tokenRefused(t, await refresh(again.refresh, strict), 'reused', 'refresh');
});

t.test('each refresh moves the expiry to 14 days from now', async (t) => {
  const { refresh: token } = await logIn(app, user);
  await app.pool.query(`UPDATE sessions SET expires_at = now() + interval '1 minute' WHERE id = $1`, [
    sessionIdIn(token),
  ]);
  const answer = await refresh(token);
  t.equal(answer.body.data.refresh_expires_in, 1_209_600);
  const { rows } = await app.pool.query(
    'SELECT extract(epoch FROM expires_at - now())::int AS seconds FROM sessions WHERE id = $1',
    [sessionIdIn(token)],
  );
  t.ok(rows[0].seconds > 1_209_500);
});

t.test('a session ends 90 days after login', async (t) => {
  const { refresh: first } = await logIn(app, user);
  const loggedIn = (interval: string) =>
    app.pool.query('UPDATE sessions SET created_at = now() - $2::interval WHERE id = $1', [
      sessionIdIn(first),
      interval,
    ]);
  await loggedIn('80 days');
  const capped = (await refresh(first)).body.data;
  t.ok(capped.refresh_expires_in <= 864_000 && capped.refresh_expires_in > 863_900);
  t.equal(capped.expires_in, 900);

  await loggedIn('89 days 23 hours 55 minutes');
  const last = (await refresh(capped.refresh)).body.data;
  t.ok(last.refresh_expires_in <= 300 && last.refresh_expires_in > 290);
  t.ok(last.expires_in <= last.refresh_expires_in, 'no access token outlives the session');
  const { exp, iat } = decode(last.refresh).claims;
  t.equal(exp - iat, last.refresh_expires_in);

  const { rows } = await app.pool.query(
    `SELECT expires_at <= created_at + interval '90 days' AS capped FROM sessions WHERE id = $1`,
    [sessionIdIn(first)],
  );
  t.equal(rows[0].capped, true, 'nor is it kept for longer');

  await loggedIn('90 days');
  const answer = await refresh(last.refresh);
  t.match(answer.body.data.reason, /^(expired|revoked)$/);
  tokenRefused(t, answer, answer.body.data.reason, 'refresh');
});
