import t, { type Test } from 'tap';
import { createTestApp, createUser, logIn, type TestResponse, testEnvironment } from '../support/app.ts';
import { tally, tokenRejected } from '../support/assertions.ts';
import { inParallel } from '../support/concurrency.ts';
import { accountsOf } from './accounts.ts';
import { countIn, createForge, decode, now, sessionIdIn } from './tokens.ts';

const secret = testEnvironment.JWT_SECRET;
const shared = await createTestApp();
/** The grace period is minutes, so that no test is a race against its end. */
const settings = { REFRESH_REUSE_GRACE: '10m' };
const app = await shared.startInstance(settings);
const other = await shared.startInstance(settings);

const user = await createUser(app);

const { post, me, refresh, logOut, ended } = accountsOf(app);

/** Refreshes and returns the new refresh token. */
async function rotate(token: string): Promise<string> {
  const response = await refresh(token);
  if (response.status !== 200) throw new Error(`refresh failed: ${response.text}`);
  return response.body.data.refresh;
}

/** Changes columns of the session of a token. */
const change = (token: string, columns: string) =>
  app.pool.query(`UPDATE sessions SET ${columns} WHERE id = $1`, [sessionIdIn(token)]);

/** Lets time pass for a session: all its rotations happened so much earlier. */
const age = (token: string, interval: string) =>
  change(token, `rotated_at = ARRAY(SELECT t - interval '${interval}' FROM unnest(rotated_at) t)`);

/** What the database has of the session of a token. */
const sessionRows = async (token: string, columns: string) =>
  (await app.pool.query(`SELECT ${columns} FROM sessions WHERE id = $1`, [sessionIdIn(token)])).rows;

/** Asserts the rejection of a token whose session is over. */
async function rejectedAsOver(t: Test, token: string): Promise<void> {
  const response = await refresh(token);
  t.match(response.body.data.reason, /^(expired|revoked)$/);
  tokenRejected(t, response, response.body.data.reason, 'refresh');
}

t.test('a refresh returns a new pair and rotates the count', async (t) => {
  const session = await logIn(app, user);
  const { access, refresh: next, ...rest } = (await refresh(session.refresh)).body.data;
  t.strictSame(rest, { token_type: 'Bearer', expires_in: 900, refresh_expires_in: 1_209_600 });
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
  t.equal((await me(access)).status, 200);
  t.equal((await me(session.token)).status, 200, 'the access token before is good until it expires');
  const withHeader = await post('token/refresh', { refresh: next }, { token: 'expired.or.worse' });
  t.equal(withHeader.status, 200, 'the Authorization header is ignored');
});

t.test('every token that was current within the grace period gives the newest refresh token', async (t) => {
  const tokens = [(await logIn(app, user)).refresh];
  for (let count = 0; count < 5; count++) tokens.push(await rotate(String(tokens.at(-1))));
  await age(String(tokens[0]), '5 minutes');
  for (const token of tokens.slice(0, 5)) {
    const { data } = (await refresh(token)).body;
    t.equal(countIn(data.refresh), 5, 'without rotating again');
    t.equal((await me(data.access)).status, 200);
  }
  t.equal(countIn(await rotate(String(tokens[5]))), 6);
  t.equal(countIn(await rotate(String(tokens[0]))), 6);
});

t.test('the grace period starts when a token stops being the current one', async (t) => {
  const first = (await logIn(app, user)).refresh;
  await age(first, '1 day');
  const second = await rotate(first);
  await age(first, '7 minutes');
  const third = await rotate(second);
  t.equal(countIn(await rotate(first)), 2, 'it was the current one 7 minutes ago');
  await age(first, '4 minutes');
  t.equal(countIn(await rotate(second)), 2, 'it was the current one 4 minutes ago, issued 11 minutes ago');
  t.equal(countIn(await rotate(third)), 3);
  tokenRejected(t, await refresh(first), 'reused', 'refresh');
});

t.test('REFRESH_REUSE_GRACE sets the grace period, by default 10 s', async (t) => {
  const strict = await app.startInstance({ REFRESH_REUSE_GRACE: '0s' });
  for (const [instance, afterwards] of [
    [app, '10 minutes 0.001 seconds'],
    [shared, '10.001 seconds'],
    [strict, '5 milliseconds'],
  ] as const) {
    const session = await logIn(app, user);
    t.equal((await refresh(session.refresh, instance)).status, 200);
    await age(session.refresh, afterwards);
    tokenRejected(t, await refresh(session.refresh, instance), 'reused', 'refresh');
  }
});

t.test('each refresh moves the expiry to 14 days from now', async (t) => {
  const { refresh: token } = await logIn(app, user);
  await change(token, "expires_at = now() + interval '1 minute'");
  t.equal((await refresh(token)).body.data.refresh_expires_in, 1_209_600);
  const [{ seconds }] = await sessionRows(token, 'extract(epoch FROM expires_at - now())::int AS seconds');
  t.ok(seconds > 1_209_500);
});

t.test('a session ends 90 days after login', async (t) => {
  const { refresh: first } = await logIn(app, user);
  const loggedIn = (interval: string) => change(first, `created_at = now() - interval '${interval}'`);
  await loggedIn('80 days');
  const capped = (await refresh(first)).body.data;
  t.ok(capped.refresh_expires_in <= 864_000 && capped.refresh_expires_in > 863_900);
  t.equal(capped.expires_in, 900);

  await loggedIn('89 days 23 hours 55 minutes');
  const last = (await refresh(capped.refresh)).body.data;
  t.ok(last.refresh_expires_in <= 300 && last.refresh_expires_in > 180);
  t.ok(last.expires_in <= last.refresh_expires_in, 'no access token outlives the session');
  const { exp, iat } = decode(last.refresh).claims;
  t.equal(exp - iat, last.refresh_expires_in);

  const isCapped = "expires_at <= created_at + interval '90 days' AS capped";
  t.strictSame(await sessionRows(first, isCapped), [{ capped: true }], 'nor is it kept for longer');

  await loggedIn('90 days');
  tokenRejected(t, await me(last.access), 'revoked');
  await rejectedAsOver(t, last.refresh);
});

t.test('an older token ends the session, at once and on every instance', async (t) => {
  const session = await logIn(app, user);
  const elsewhere = await logIn(app, user);
  const { access, refresh: next } = (await refresh(session.refresh)).body.data;
  await age(next, '10 minutes 0.001 seconds');
  tokenRejected(t, await refresh(session.refresh), 'reused', 'refresh');
  for (const token of [access, session.token]) await ended(t, { token, refresh: next }, other);
  t.equal((await me(elsewhere.token, other)).status, 200, 'other sessions go on');
  t.match((await refresh(session.refresh)).body.data.reason, /^(reused|revoked)$/);
  t.equal((await refresh(elsewhere.refresh)).status, 200);
});

t.test('an expired token is rejected as expired, an access token as one of another type', async (t) => {
  const session = await logIn(app, user);
  const forge = createForge({ secret, ...decode(session.refresh) });
  tokenRejected(t, await refresh(forge({ claims: { exp: now() - 1 } })), 'expired', 'refresh');
  tokenRejected(t, await refresh(session.token), 'wrong_type', 'refresh');
  t.equal((await refresh(session.refresh)).status, 200, 'which ends nothing');
  await change(session.token, 'expires_at = now()');
  await rejectedAsOver(t, session.refresh);
});

t.test('a refresh token with another head, count, end, signature or user is rejected', async (t) => {
  const session = await logIn(app, user);
  const genuine = decode(session.refresh);
  const forge = createForge({ secret, ...genuine });
  const [counter = ''] = Object.keys(genuine.claims).filter((name) => !(name in decode(user.token).claims));
  for (const count of [undefined, null, -1, 0.5, '0', [0], 1e300])
    tokenRejected(t, await refresh(forge({ claims: { [counter]: count } })), 'malformed', 'refresh');
  const others = [{ secret: 'not the secret' }, { header: { alg: 'none' } }, { header: { kid: 'x' } }];
  for (const other of [...others, { claims: { exp: undefined } }])
    tokenRejected(t, await refresh(forge(other)), 'malformed', 'refresh');
  const stranger = await createUser(app);
  for (const claims of [{ sub: String(stranger.id) }, { sid: sessionIdIn(stranger.token) }])
    tokenRejected(t, await refresh(forge({ claims })), 'revoked', 'refresh');
  t.equal((await refresh(stranger.refresh)).status, 200);
  t.equal((await refresh(forge())).status, 200, 'one that the test signs is as good as the genuine one');
});

/** One instance or the other. */
const either = (index: number) => (index % 2 ? other : app);

/** Asserts that the session of these responses lives on, with the newest of their tokens, and that none was rejected. */
async function livesOn(t: Test, token: string, responses: TestResponse[]) {
  t.strictSame(tally(responses), { 200: responses.length });
  const rows = await sessionRows(token, 'refresh_count');
  t.equal(rows.length, 1, 'one live session');
  const tokens: string[] = responses.map(({ body }) => body.data.refresh);
  const newest = tokens.reduce((one, next) => (countIn(next) > countIn(one) ? next : one));
  t.equal(countIn(newest), rows[0].refresh_count);
  const reads = await Promise.all(responses.map(({ body }) => me(body.data.access)));
  t.strictSame(tally(reads), { 200: responses.length }, 'every access token works');
  t.equal(countIn(await rotate(newest)), countIn(newest) + 1, 'the newest token works');
}

t.test('concurrent refreshes of one token, and of recently current ones, leave one session', async (t) => {
  const { refresh: first } = await logIn(app, user);
  const tokens = [first];
  const all: TestResponse[] = [];
  for (let round = 0; round < 5; round++) {
    const responses = await inParallel(20, (index) =>
      refresh(tokens[(index * 7) % tokens.length] ?? first, either(index)),
    );
    if (round === 0) for (const { body } of responses) t.equal(countIn(body.data.refresh), 1, 'one rotation');
    all.push(...responses);
    tokens.push(...responses.map(({ body }) => String(body.data.refresh)));
  }
  await livesOn(t, first, all);
});

t.test('20 concurrent reuses of an old token end the session', async (t) => {
  const { refresh: token } = await logIn(app, user);
  const next = (await refresh(token)).body.data;
  await age(token, '11 minutes');
  const responses = await inParallel(20, (index) => refresh(token, either(index)));
  t.strictSame(tally(responses), { '401 token_not_valid': 20 });
  const reasons = responses.map(({ body }) => body.data.reason);
  t.ok(reasons.includes('reused'));
  t.ok(reasons.every((reason) => ['reused', 'revoked'].includes(reason)));
  await ended(t, { token: next.access, refresh: next.refresh });
});

t.test('a refresh during the logout does not restore the session', async (t) => {
  for (let round = 0; round < 3; round++) {
    const session = await logIn(app, user);
    const [, ...responses] = await Promise.all([
      logOut(session.token),
      ...Array.from({ length: 19 }, (_, index) => refresh(session.refresh, either(index))),
    ]);
    for (const response of responses) {
      if (response.status === 200) tokenRejected(t, await me(response.body.data.access), 'revoked');
      else tokenRejected(t, response, 'revoked', 'refresh');
    }
    tokenRejected(t, await refresh(session.refresh), 'revoked', 'refresh');
  }
});
