import { randomBytes } from 'node:crypto';
import t from 'tap';
import { createTestApp, createUser, logIn as passwordLogin, suspend, verifyEmails } from '../support/app.ts';
import { invalid, rejected, tally, tokenRejected } from '../support/assertions.ts';
import { during, inOrder, inParallel, lockRows } from '../support/concurrency.ts';
import { countRows } from '../support/rows.ts';
import { createAuthenticator, type Deviations, encodeCbor } from '../support/webauthn.ts';
import { accountsOf } from './accounts.ts';
import { passConfirmation } from './authenticator.ts';
import { isRecent, mailsTo, newResetLink } from './mailbox.ts';
import { origin, passkeysOf } from './passkeys.ts';

const app = await createTestApp();
const { startRegistration, beginRegistration, finishRegistration, register } = passkeysOf(app);
const { startLogin, beginLogin, finishLogin, logIn } = passkeysOf(app);
const { list, rename, remove, createOwner } = passkeysOf(app);
const { me, refresh, confirmReset } = accountsOf(app);

/** Milliseconds in which a browser may finish what it began. */
const flowTime = 300_000;

t.test('a passkey of each kind is registered, and logs in again and again as a password does', async (t) => {
  const algorithms = [{ algorithm: 'ES256' }, { algorithm: 'EdDSA' }, { algorithm: 'RS256' }] as const;
  for (const kind of [...algorithms, { hasCounter: false }]) {
    const { authenticator, username } = await createOwner(kind);
    const { access, refresh: token, user, ...rest } = (await logIn(authenticator)).body.data;
    t.strictSame(rest, { token_type: 'Bearer', expires_in: 900, refresh_expires_in: 1209600 });
    t.equal(user.username, username);
    t.equal((await me(access)).status, 200);
    t.equal((await refresh(token)).status, 200);
    const sessions = await app.call('GET', '/auth/sessions/', { token: access });
    t.strictSame(sessions.body.data.items[0].methods, ['passkey']);
    t.equal((await logIn(authenticator)).status, 200, 'again');
  }
});

t.test('an app on a phone registers and logs in from an origin of PASSKEY_ORIGINS', async (t) => {
  const apk = `android:apk-key-hash:${'x'.repeat(43)}`;
  const instance = passkeysOf(await app.startInstance({ PASSKEY_ORIGINS: apk }));
  const authenticator = createAuthenticator(apk);
  const user = await createUser(app);
  rejected(t, await register(user, authenticator), 400, 'passkey_refused');
  t.equal((await instance.register(user, authenticator)).status, 201);
  t.equal((await instance.logIn(authenticator)).status, 200);
  rejected(t, await logIn(authenticator), 401, 'invalid_credentials');
});

t.test('an authenticator may attest its key with the key itself', async (t) => {
  const authenticator = createAuthenticator(origin);
  t.equal((await register(await createUser(app), authenticator, { attestation: 'self' })).status, 201);
  t.equal((await logIn(authenticator)).status, 200);
});

t.test('the options of a registration ask for a discoverable passkey that verifies its user', async (t) => {
  const { authenticator, token, id, username, name } = await createOwner();
  const { options, flow_token } = (await startRegistration(token)).body.data;
  t.match(options.challenge, /^[\w-]{43}$/);
  t.strictSame(options, {
    challenge: options.challenge,
    timeout: flowTime,
    rp: { id: 'app.example.com', name: 'Dure' },
    user: { id: Buffer.from(String(id)).toString('base64url'), name: username, displayName: name },
    pubKeyCredParams: [-7, -8, -257].map((alg) => ({ type: 'public-key', alg })),
    excludeCredentials: [{ type: 'public-key', id: authenticator.id, transports: ['internal', 'hybrid'] }],
    authenticatorSelection: {
      residentKey: 'required',
      requireResidentKey: true,
      userVerification: 'required',
    },
    attestation: 'none',
  });
  t.type(flow_token, 'string');
  const again = (await startRegistration(token)).body.data;
  t.not(again.options.challenge, options.challenge);
});

t.test('the start of a login is the same for everybody', async (t) => {
  const { options, flow_token, ...others } = (await startLogin()).body.data;
  t.strictSame(options, {
    challenge: options.challenge,
    timeout: flowTime,
    rpId: 'app.example.com',
    userVerification: 'required',
  });
  t.strictSame(others, {});
  const [id] = flow_token.split('.');
  const { rows } = await app.pool.query('SELECT * FROM login_flows WHERE id = $1', [id]);
  t.notOk(JSON.stringify(rows).includes(options.challenge), 'the challenge is not stored');
});

t.test('passkeys are listed with exactly their fields, newest first', async (t) => {
  const user = await createUser(app);
  const named = { name: ' 내 휴대폰 ' };
  const first = await register(user, createAuthenticator(origin), { isBackedUp: true }, named);
  const { id, created_at, last_used_at } = first.body.data;
  t.strictSame(first.body.data, { id, name: '내 휴대폰', is_synced: true, created_at, last_used_at });
  for (const at of [created_at, last_used_at]) t.type(at, 'string');
  const second = await register(user);
  t.match(second.body.data, { name: '패스키', is_synced: false });
  const page = (await list(user.token)).body.data;
  t.strictSame(page, { items: [second.body.data, first.body.data], next_cursor: null });
  const { next_cursor } = (await list(user.token, '?limit=1')).body.data;
  const rest = (await list(user.token, `?limit=1&cursor=${next_cursor}`)).body.data;
  t.strictSame(rest, { items: [first.body.data], next_cursor: null });
});

t.test('a login updates when a passkey was used and whether it is synced', async (t) => {
  const { authenticator, token, passkey } = await createOwner();
  const age = "UPDATE passkeys SET last_used_at = now() - interval '1 day' WHERE id = $1";
  await app.pool.query(age, [passkey.id]);
  t.equal((await logIn(authenticator, { isBackedUp: true })).status, 200);
  const [after] = (await list(token)).body.data.items;
  t.equal(after.is_synced, true);
  isRecent(t, after.last_used_at);
});

t.test('a passkey counts as both factors', async (t) => {
  const { id, authenticator } = await createOwner();
  await app.pool.query(`INSERT INTO second_factors (user_id, secret, confirmed_at) VALUES ($1, 'x', now())`, [
    id,
  ]);
  t.equal((await logIn(authenticator)).status, 200);
});

t.test('a passkey is renamed and removed by its owner only', async (t) => {
  const [owner, other] = [await createOwner(), await createUser(app)];
  const { id } = owner.passkey;
  const renamed = await rename(owner.token, id, '가게 노트북');
  t.strictSame(renamed.body.data, { ...owner.passkey, name: '가게 노트북' });
  invalid(t, await rename(owner.token, id, ''), 'name');
  rejected(t, await rename(other.token, id, '내 것'), 404, 'passkey_not_found');
  await passConfirmation(app, owner);
  const unconfirmed = await rename(owner.token, id, '다른 이름');
  rejected(t, unconfirmed, 403, 'confirmation_required', { methods: ['password'] });
  await app.call('POST', '/auth/confirm/', { token: owner.token, body: { password: owner.password } });
  rejected(t, await remove(other.token, id), 404, 'passkey_not_found');
  t.strictSame((await remove(owner.token, id)).body.data, {});
  rejected(t, await remove(owner.token, id), 404, 'passkey_not_found');
  rejected(t, await logIn(owner.authenticator), 401, 'invalid_credentials');
});

t.test('a verified address gets a notice of each passkey that is added or removed', async (t) => {
  const user = await createUser(app);
  await register(user);
  await verifyEmails(app, user);
  const { id } = (await register(user, createAuthenticator(origin), {}, { name: '가게 노트북' })).body.data;
  await remove(user.token, id);
  const mails = await mailsTo(app, user.email);
  // None of the one that was added before the address was verified.
  t.strictSame(mails.map(({ subject }) => subject).sort(), [
    '[두레] 패스키가 삭제되었습니다',
    '[두레] 패스키가 추가되었습니다',
  ]);
  for (const { text } of mails) t.match(text, '가게 노트북');
});

t.test('an account has at most ten passkeys', async (t) => {
  const user = await createUser(app);
  for (let count = 0; count < 8; count++) await register(user);
  const begun = await inParallel(4, () => beginRegistration(user.token));
  const finished = await inParallel(4, (at) => finishRegistration(user.token, begun[at]));
  t.strictSame(tally(finished), { '201': 2, '409 too_many_passkeys': 2 });
  rejected(t, await startRegistration(user.token), 409, 'too_many_passkeys');
});

t.test('the last way to log in stays, also when two are removed at once', async (t) => {
  const owner = await createOwner();
  const { id } = (await register(owner)).body.data;
  await app.pool.query('UPDATE users SET password_hash = NULL WHERE id = $1', [owner.id]);
  const removeOne = (one: number) => () => remove(owner.token, one);
  const removals = await inOrder(t, app, owner, removeOne(id), removeOne(owner.passkey.id));
  t.strictSame(tally(removals), { '200': 1, '409 last_login_method': 1 });
  t.equal((await list(owner.token)).body.data.items.length, 1);
});

t.test('a registration that waited for a confirmation goes on after it', async (t) => {
  const owner = await createOwner();
  const body = await beginRegistration(owner.token);
  await passConfirmation(app, owner);
  const late = await finishRegistration(owner.token, body);
  rejected(t, late, 403, 'confirmation_required', { methods: ['password'] });
  const { token } = await passwordLogin(app, owner);
  t.equal((await register({ ...owner, token })).status, 201, 'a new login needs none');
  await app.call('POST', '/auth/confirm/', { token: owner.token, body: { password: owner.password } });
  t.equal((await finishRegistration(owner.token, body)).status, 201);
});

t.test('account_suspended comes only after a valid signature', async (t) => {
  const { authenticator, ...owner } = await createOwner();
  await suspend(app, owner);
  const { privateKey } = createAuthenticator(origin).keys;
  rejected(t, await logIn(authenticator, { key: privateKey }), 401, 'invalid_credentials');
  rejected(t, await logIn(authenticator), 403, 'account_suspended');
});

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
  const second = await passwordLogin(app, victim);
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

t.test('a counter that does not grow is refused, also under concurrent use', async (t) => {
  const { authenticator } = await createOwner();
  t.equal((await logIn(authenticator, { counter: 4_000_000_000 })).status, 200);
  for (const counter of [4_000_000_000, 3_999_999_999, 1, 0])
    rejected(t, await logIn(authenticator, { counter }), 401, 'invalid_credentials');
  t.equal((await logIn(authenticator, { counter: 4_000_000_001 })).status, 200);
  const logins = await inParallel(5, () => logIn(authenticator, { counter: 4_000_000_002 }));
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
