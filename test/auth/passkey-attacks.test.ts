import { randomBytes } from 'node:crypto';
import t from 'tap';
import { createTestApp, createUser, logIn as logInByPassword } from '../support/app.ts';
import { invalid, rejected, tally, tokenRejected } from '../support/assertions.ts';
import { during, inParallel, lockRows } from '../support/concurrency.ts';
import { countRows } from '../support/rows.ts';
import { createAuthenticator, type Deviations, encodeCbor } from '../support/webauthn.ts';
import { accountsOf } from './accounts.ts';
import { newResetLink } from './mailbox.ts';
import { origin, passkeysOf } from './passkeys.ts';

const app = await createTestApp();
const { startRegistration, beginRegistration, finishRegistration, register, ...others } = passkeysOf(app);
const { startLogin, beginLogin, finishLogin, logIn, list, createOwner } = others;
const { confirmReset } = accountsOf(app);
const foreignKey = createAuthenticator(origin).keys.privateKey;
const handleOf = (id: number) => Buffer.from(String(id)).toString('base64url');

/** What is wrong in a registration and in a login alike. */
const deviations: Record<string, Deviations> = {
  'a page of another site': { origin: 'https://app.example.com.evil.example' },
  'another port of the host': { origin: 'https://app.example.com:8443' },
  'plain http': { origin: 'http://app.example.com' },
  'a frame in a page of another site': { crossOrigin: true },
  'a passkey of another service': { rpId: 'example.com' },
  'a challenge that was not given': { challenge: randomBytes(32).toString('base64url') },
  'the other ceremony': { type: 'payment.get' },
  'no verification of the user': { isUserVerified: false },
  'no presence of the user': { isUserPresent: false },
};

t.test('a registration is refused with', async (t) => {
  const user = await createUser(app);
  const attested = (fmt: string, ...entries: [string, string | number | Buffer][]) => ({
    attestation: { fmt, attStmt: new Map(entries) },
  });
  const refused: Record<string, Deviations> = {
    ...deviations,
    'the id of another credential': { id: 'AAAA' },
    'a certificate of a vendor': { attestation: 'vendor' },
    'an attestation that was not asked for': attested('android-safetynet', ['ver', '1']),
    'a wrong signature of itself': attested('packed', ['alg', -7], ['sig', Buffer.alloc(64)]),
    'an unknown attestation': attested('unknown'),
    'bytes that are no CBOR': { attestationObject: randomBytes(500) },
    'CBOR of another shape': { attestationObject: encodeCbor([1, 'a']) },
    'CBOR without data': { attestationObject: encodeCbor(new Map([['fmt', 'none']])) },
    'nested CBOR': { attestationObject: Buffer.alloc(4_000, 0x81) },
    'a list that says to be endless': { attestationObject: Buffer.from('9bffffffffffffffff', 'hex') },
  };
  for (const [name, deviation] of Object.entries(refused)) {
    const response = await register(user, createAuthenticator(origin), deviation);
    await t.test(name, async (t) => rejected(t, response, 400, 'passkey_refused'));
  }
  const ofType = <Begun extends { credential: object }>({ credential, ...begun }: Begun) => ({
    ...begun,
    credential: { ...credential, type: 'password' },
  });
  const registration = ofType(await beginRegistration(user.token));
  invalid(t, await finishRegistration(user.token, registration), '/credential/type');
  const login = ofType(await beginLogin(createAuthenticator(origin), { userHandle: 'MQ' }));
  invalid(t, await finishLogin(login), '/credential/type');
  const weak = createAuthenticator(origin, { algorithm: 'ES384' });
  rejected(t, await register(user, weak), 400, 'passkey_refused');
  t.strictSame((await list(user.token)).body.data.items, []);
});

t.test('a login is refused with', async (t) => {
  const { authenticator, passkey } = await createOwner();
  const other = await createOwner();
  const refused: Record<string, Deviations> = {
    ...deviations,
    'the key of another passkey': { key: foreignKey },
    'the account of another user': { userHandle: handleOf(other.id) },
    'no account': { userHandle: undefined },
    'the id of a passkey of another user': { id: other.authenticator.id },
    'an unknown passkey': { id: randomBytes(16).toString('base64url') },
  };
  for (const [name, deviation] of Object.entries(refused)) {
    const response = await logIn(authenticator, deviation);
    await t.test(name, async (t) => rejected(t, response, 401, 'invalid_credentials'));
  }
  t.equal((await logIn(authenticator)).status, 200, 'the passkey still works');
  const { rows } = await app.pool.query('SELECT counter FROM passkeys WHERE id = $1', [passkey.id]);
  t.strictSame(rows, [{ counter: 2 + Object.keys(refused).length }], 'none of them counted');
});

t.test('what was signed cannot be changed', async (t) => {
  const { authenticator } = await createOwner();
  for (const field of ['clientDataJSON', 'authenticatorData', 'signature'] as const) {
    const { flow_token, credential } = await beginLogin(authenticator);
    const bytes = Buffer.from(credential.response[field], 'base64url');
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
    const response = { ...credential.response, [field]: bytes.toString('base64url') };
    const changed = await finishLogin({ flow_token, credential: { ...credential, response } });
    rejected(t, changed, 401, 'invalid_credentials');
  }
});

t.test('a flow works once, also for parallel requests and after a failed attempt', async (t) => {
  const { authenticator, token } = await createOwner({ hasCounter: false });
  const signed = await beginLogin(authenticator);
  const logins = await inParallel(5, () => finishLogin(signed));
  t.strictSame(tally(logins), { '200': 1, '401 invalid_credentials': 4 });
  const failed = (await startLogin()).body.data;
  for (const key of [{ key: foreignKey }, {}]) {
    const credential = authenticator.get(failed.options, key);
    const response = await finishLogin({ flow_token: failed.flow_token, credential });
    rejected(t, response, 401, 'invalid_credentials');
  }

  const { options, flow_token } = (await startRegistration(token)).body.data;
  const registrations = await inParallel(3, () =>
    finishRegistration(token, { flow_token, credential: createAuthenticator(origin).create(options) }),
  );
  t.strictSame(tally(registrations), { '201': 1, '400 passkey_refused': 2 });
});

t.test('a flow is over after five minutes', async (t) => {
  const { authenticator, token } = await createOwner();
  const login = await beginLogin(authenticator);
  const registration = await beginRegistration(token);
  const { rows } = await app.pool.query(
    `UPDATE login_flows SET expires_at = expires_at - interval '5 minutes' WHERE id = ANY ($1)
     RETURNING expires_at > now() - interval '2 minutes' AS is_recent`,
    [[login, registration].map(({ flow_token }) => flow_token.split('.')[0])],
  );
  t.strictSame(rows, [{ is_recent: true }, { is_recent: true }]);
  rejected(t, await finishLogin(login), 401, 'invalid_credentials');
  rejected(t, await finishRegistration(token, registration), 400, 'passkey_refused');
});

t.test('a flow of one kind is not one of the other', async (t) => {
  const { authenticator, token } = await createOwner();
  const login = (await startLogin()).body.data;
  const registration = (await startRegistration(token)).body.data;
  const given = authenticator.get({ ...login.options, challenge: registration.options.challenge });
  const crossed = await finishLogin({ flow_token: registration.flow_token, credential: given });
  rejected(t, crossed, 401, 'invalid_credentials');
  const options = { ...registration.options, challenge: login.options.challenge };
  const credential = createAuthenticator(origin).create(options);
  const added = await finishRegistration(token, { flow_token: login.flow_token, credential });
  rejected(t, added, 400, 'passkey_refused');
});

t.test('a registration is finished by the session that started it', async (t) => {
  const [victim, attacker] = [await createUser(app), await createUser(app)];
  const foreign = await beginRegistration(attacker.token);
  rejected(t, await finishRegistration(victim.token, foreign), 400, 'passkey_refused');
  const second = await logInByPassword(app, victim);
  const own = await beginRegistration(victim.token);
  rejected(t, await finishRegistration(second.token, own), 400, 'passkey_refused');
});

t.test('a credential belongs to one account', async (t) => {
  const [owner, other] = [await createOwner(), await createUser(app)];
  const copied = createAuthenticator(origin, { id: owner.authenticator.id });
  rejected(t, await register(other, copied), 400, 'passkey_refused');
  rejected(t, await register(owner, copied), 400, 'passkey_refused');
  t.equal((await logIn(owner.authenticator)).body.data.user.id, owner.id);
  rejected(t, await logIn(copied, { userHandle: handleOf(other.id) }), 401, 'invalid_credentials');
});

t.test('a counter that does not grow is refused and logged', async (t) => {
  const { id, authenticator } = await createOwner();
  t.equal((await logIn(authenticator, { counter: 4_000_000_000 })).status, 200);
  for (const counter of [4_000_000_000, 3_999_999_999, 1, 0]) {
    app.logs.length = 0;
    rejected(t, await logIn(authenticator, { counter }), 401, 'invalid_credentials');
    const line = app.logs.find((one) => one.includes('"event"')) ?? '{}';
    t.match(JSON.parse(line), { event: 'passkey_refused', userId: id });
  }
  t.equal((await logIn(authenticator, { counter: 4_000_000_001 })).status, 200);
});

t.test('of parallel logins with the same counter one succeeds', async (t) => {
  const { authenticator } = await createOwner();
  const logins = await inParallel(5, () => logIn(authenticator, { counter: 7 }));
  t.strictSame(tally(logins), { '200': 1, '401 invalid_credentials': 4 });
});

t.test('a registration or a login in progress fails after a reset of the password', async (t) => {
  const owner = await createOwner();
  const link = await newResetLink(app, owner.email);
  const begun = await beginRegistration(owner.token);
  const account = await lockRows(t, app, 'SELECT FROM users WHERE id = $1 FOR UPDATE', [owner.id]);
  const reset = confirmReset(link);
  await account.waiters(1);
  const added = finishRegistration(owner.token, begun);
  const login = logIn(owner.authenticator);
  await account.waiters(3);
  await account.release();
  t.equal((await reset).status, 200);
  tokenRejected(t, await added, 'revoked');
  rejected(t, await login, 401, 'invalid_credentials');
  t.equal(await countRows(app, 'passkeys WHERE user_id = $1', owner.id), 0);
});

t.test('a login in progress begins no session after its passkey was removed', async (t) => {
  const owner = await createOwner();
  const removal: [string, number] = ['DELETE FROM passkeys WHERE user_id = $1', owner.id];
  const login = await during(t, app, removal, () => logIn(owner.authenticator));
  rejected(t, login, 401, 'invalid_credentials');
});

t.test('client data that is no JSON object is refused', async (t) => {
  const { token } = await createUser(app);
  for (const text of ['null', '[]', '"text"', '{', '']) {
    const { credential: created, ...begun } = await beginRegistration(token);
    const clientDataJSON = Buffer.from(text || ' ').toString('base64url');
    const credential = { ...created, response: { ...created.response, clientDataJSON } };
    const refused = await finishRegistration(token, { ...begun, credential });
    rejected(t, refused, 400, 'passkey_refused');
  }
});
