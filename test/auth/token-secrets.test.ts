import t from 'tap';
import { createTestApp, createUser, logIn, type TestApp } from '../support/app.ts';
import { tokenRefused } from '../support/assertions.ts';
import { signUpBody, verifyAddress } from './accounts.ts';
import { createForge, decode } from './tokens.ts';

const first = 'the first secret of these tests 0123456789';
const second = 'the second secret of these tests 0123456789';
const third = 'a third one, never used for long 0123456789';

/** Instances on one database, with the secrets of each step of a rotation. */
const before = await createTestApp({ JWT_SECRET: first });
t.teardown(before.close);
const instance = async (secrets: string) => {
  const app = await createTestApp(
    { JWT_SECRET: secrets, WORKER_ENABLED: 'false' },
    { databaseUrl: before.url },
  );
  t.teardown(app.close);
  return app;
};
const during = await instance(`${second},${first}`);
const after = await instance(second);

const user = await createUser(before);
const read = ({ call }: TestApp, token: string) => call('GET', '/auth/me/', { token });
const refreshAt = ({ call }: TestApp, refresh: string) =>
  call('POST', '/auth/token/refresh/', { body: { refresh } });

t.test('the first secret signs, all verify', async (t) => {
  const signed = await logIn(during, user);
  for (const app of [during, after]) t.equal((await read(app, signed.token)).status, 200);
  tokenRefused(t, await read(before, signed.token), 'malformed');
  t.equal((await read(before, user.token)).status, 200);
  t.equal((await read(during, user.token)).status, 200);
});

t.test('a token of a removed secret is refused', async (t) => {
  tokenRefused(t, await read(after, user.token), 'malformed');
  tokenRefused(t, await refreshAt(after, user.refresh), 'malformed', 'refresh');
});

t.test('a refresh signs with the first secret', async (t) => {
  const session = await logIn(before, user);
  const answer = await refreshAt(during, session.refresh);
  t.equal(answer.status, 200);
  const { access, refresh } = answer.body.data;
  t.equal((await read(after, access)).status, 200);
  t.equal((await refreshAt(after, refresh)).status, 200);
});

t.test('the key id names the secret, and one secret always has the same', async (t) => {
  const kid = async (app: TestApp) => decode((await logIn(app, user)).token).header.kid;
  const [one, both, other] = [await kid(before), await kid(during), await kid(after)];
  t.equal(both, other);
  t.not(one, other);
});

t.test('a token with the key id of another secret is malformed', async (t) => {
  const [one, other] = [decode(user.token), decode((await logIn(during, user)).token)];
  for (const [header, secret] of [
    [one.header, second],
    [other.header, first],
    [one.header, third],
    [other.header, third],
  ] as const) {
    const forge = createForge({ secret, header, claims: one.claims });
    tokenRefused(t, await read(during, forge()), 'malformed');
  }
});

t.test('a token of the second secret is checked as strictly as one of the first', async (t) => {
  const forge = createForge({ secret: first, ...decode(user.token) });
  t.equal((await read(during, forge())).status, 200);
  tokenRefused(t, await read(during, forge({ claims: { exp: 1 } })), 'expired');
  tokenRefused(t, await read(during, user.refresh), 'wrong_type');
  for (const claims of [{ exp: undefined }, { iss: 'other' }, { aud: 'other' }, { sub: '0' }, { nbf: 9e9 }]) {
    tokenRefused(t, await read(during, forge({ claims })), 'malformed');
  }
  tokenRefused(t, await read(during, forge({ header: { alg: 'HS512' }, hash: 'sha512' })), 'malformed');
  tokenRefused(t, await read(during, `${user.token}A`), 'malformed');
});

t.test('a verification_token works during a rotation of the secret', async (t) => {
  const body = signUpBody();
  const verification_token = await verifyAddress(before, body.email);
  const refused = await after.call('POST', '/auth/signup/', { body: { ...body, verification_token } });
  t.equal(refused.body.data.code, 'verification_token_invalid');
  const answer = await during.call('POST', '/auth/signup/', { body: { ...body, verification_token } });
  t.equal(answer.status, 201);
  t.equal(answer.body.data.is_verified, true);
});

t.test('an idempotency key works during a rotation of the secret', async (t) => {
  const body = signUpBody();
  const headers = { 'idempotency-key': 'kept-through-the-rotation' };
  const one = await before.call('POST', '/auth/signup/', { body, headers });
  const again = await during.call('POST', '/auth/signup/', { body, headers });
  t.equal(again.status, 201);
  t.equal(again.text, one.text);
});
