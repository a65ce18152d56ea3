import t from 'tap';
import { createTestApp, createUser, logIn } from '../support/app.ts';
import { noErrorLogged, tokenRefused } from '../support/assertions.ts';
import { refreshesOf } from './refresh.ts';
import { createForge, decode, now, sessionIdIn } from './tokens.ts';

const secret = 'the secret that signs these tests 0123456789';
const app = await createTestApp({ JWT_SECRET: secret });
t.teardown(app.close);
const options = { JWT_SECRET: secret, WORKER_ENABLED: 'false' };
const other = await createTestApp(options, { databaseUrl: app.url });
t.teardown(other.close);

const user = await createUser(app);

const { refresh, read, rotate, age } = refreshesOf(app);

t.test('an older token ends the session, at once and on every instance', async (t) => {
  const session = await logIn(app, user);
  const elsewhere = await logIn(app, user);
  const answer = await refresh(session.refresh);
  const { access, refresh: next } = answer.body.data;
  await age(next, '10.001 seconds');
  tokenRefused(t, await refresh(session.refresh), 'reused', 'refresh');
  for (const instance of [app, other]) {
    tokenRefused(t, await read(access, instance), 'revoked');
    tokenRefused(t, await read(session.token, instance), 'revoked');
    tokenRefused(t, await refresh(next, instance), 'revoked', 'refresh');
    t.equal((await read(elsewhere.token, instance)).status, 200, 'other sessions go on');
  }
  t.match((await refresh(session.refresh)).body.data.reason, /^(reused|revoked)$/);
  t.equal((await refresh(elsewhere.refresh)).status, 200);
});

t.test('a token from before the last 10 s is reused, however recent the last rotation', async (t) => {
  const first = (await logIn(app, user)).refresh;
  const second = await rotate(first);
  await age(first, '11 seconds');
  const third = await rotate(second);
  tokenRefused(t, await refresh(first), 'reused', 'refresh');
  tokenRefused(t, await refresh(third), 'revoked', 'refresh');
});

t.test('an expired token is refused as expired', async (t) => {
  const session = await logIn(app, user);
  const forge = createForge({ secret, ...decode(session.refresh) });
  tokenRefused(t, await refresh(forge({ claims: { exp: now() - 1 } })), 'expired', 'refresh');
  t.equal((await refresh(session.refresh)).status, 200, 'which ends nothing');
  await app.pool.query('UPDATE sessions SET expires_at = now() WHERE id = $1', [sessionIdIn(session.token)]);
  const answer = await refresh(session.refresh);
  t.match(answer.body.data.reason, /^(expired|revoked)$/);
  tokenRefused(t, answer, answer.body.data.reason, 'refresh');
});

t.test('an access token is not accepted as a refresh token', async (t) => {
  tokenRefused(t, await refresh(user.token), 'wrong_type', 'refresh');
});

t.test('a forged refresh token is malformed', async (t) => {
  const session = await logIn(app, user);
  const genuine = decode(session.refresh);
  const forge = createForge({ secret, ...genuine });
  const [counter = ''] = Object.keys(genuine.claims).filter((name) => !(name in decode(user.token).claims));
  const tokens = [
    'x',
    'a.b.c',
    '..',
    `${session.refresh}A`,
    `${session.refresh}=`,
    session.refresh.slice(0, -1),
  ];
  tokens.push(
    forge({ secret: 'not the secret' }),
    forge({ header: { alg: 'none' } }),
    forge({ payload: null }),
  );
  tokens.push(forge({ header: { kid: 'x' } }), forge({ claims: { exp: undefined } }), forge({ payload: [] }));
  for (const count of [undefined, null, -1, 0.5, '0', [0], 1e300]) {
    tokens.push(forge({ claims: { [counter]: count } }));
  }
  for (const token of tokens) tokenRefused(t, await refresh(token), 'malformed', 'refresh');
  t.equal((await refresh(forge())).status, 200, 'one that the test signs is as good as the genuine one');
});

t.test('user and session must belong together', async (t) => {
  const [session, stranger] = [await logIn(app, user), await createUser(app)];
  const forge = createForge({ secret, ...decode(session.refresh) });
  for (const claims of [{ sub: String(stranger.id) }, { sid: sessionIdIn(stranger.token) }]) {
    tokenRefused(t, await refresh(forge({ claims })), 'revoked', 'refresh');
  }
  t.equal((await refresh(session.refresh)).status, 200);
  t.equal((await refresh(stranger.refresh)).status, 200);
});

t.test('a suspended account is revoked, not reused', async (t) => {
  const suspended = await createUser(app);
  const next = await rotate(suspended.refresh);
  await app.pool.query('UPDATE users SET suspended_at = now() WHERE id = $1', [suspended.id]);
  tokenRefused(t, await refresh(suspended.refresh), 'revoked', 'refresh');
  tokenRefused(t, await refresh(next), 'revoked', 'refresh');
});

t.test('no refusal is an error of the service', async (t) => {
  noErrorLogged(t, [...app.logs, ...other.logs]);
});
