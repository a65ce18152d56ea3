import t from 'tap';
import {
  createTestApp,
  createUser,
  logIn as logInByPassword,
  queuedFor,
  suspend,
  verifyEmails,
} from '../support/app.ts';
import { invalid, rejected, tally } from '../support/assertions.ts';
import { inOrder, inParallel } from '../support/concurrency.ts';
import { createAuthenticator } from '../support/webauthn.ts';
import { accountsOf } from './accounts.ts';
import { passConfirmation } from './authenticator.ts';
import { isRecent, mailsTo } from './mailbox.ts';
import { origin, passkeysOf } from './passkeys.ts';

const app = await createTestApp();
const { startRegistration, beginRegistration, finishRegistration, startLogin, register, ...others } =
  passkeysOf(app);
const { logIn, list, rename, remove, createOwner, removePassword } = others;
const { me, refresh } = accountsOf(app);

/** Milliseconds in which a browser may finish what it began. */
const flowTime = 300_000;

t.test('a passkey of each algorithm is registered and logs in as a password does', async (t) => {
  for (const algorithm of ['ES256', 'EdDSA', 'RS256'] as const) {
    const { authenticator, username } = await createOwner({ algorithm });
    const { access, refresh: token, user, ...rest } = (await logIn(authenticator)).body.data;
    t.strictSame(rest, { token_type: 'Bearer', expires_in: 900, refresh_expires_in: 1209600 }, algorithm);
    t.equal(user.username, username);
    t.equal((await me(access)).status, 200);
    t.equal((await refresh(token)).status, 200);
    const sessions = await app.call('GET', '/auth/sessions/', { token: access });
    t.strictSame(sessions.body.data.items[0].methods, ['passkey']);
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

t.test('an authenticator without a counter logs in again and again', async (t) => {
  const { authenticator } = await createOwner({ hasCounter: false });
  for (const _ of ['first', 'second']) t.equal((await logIn(authenticator)).status, 200);
});

t.test('a passkey counts as both factors', async (t) => {
  const { id, authenticator } = await createOwner();
  await app.pool.query(
    `INSERT INTO second_factors (user_id, secret, confirmed_at, last_step) VALUES ($1, 'x', now(), 0)`,
    [id],
  );
  t.equal((await logIn(authenticator)).status, 200);
});

t.test('a passkey is renamed and removed by its owner only', async (t) => {
  const [owner, other] = [await createOwner(), await createUser(app)];
  const { id } = owner.passkey;
  const renamed = await rename(owner.token, id, '가게 노트북');
  t.strictSame(renamed.body.data, { ...owner.passkey, name: '가게 노트북' });
  invalid(t, await rename(owner.token, id, ''), 'name');
  rejected(t, await rename(other.token, id, '내 것'), 404, 'passkey_not_found');
  rejected(t, await remove(other.token, id), 404, 'passkey_not_found');
  t.strictSame((await remove(owner.token, id)).body.data, {});
  rejected(t, await remove(owner.token, id), 404, 'passkey_not_found');
  rejected(t, await logIn(owner.authenticator), 401, 'invalid_credentials');
});

t.test('a verified address gets a notice of each passkey that is added or removed', async (t) => {
  const user = await createUser(app);
  await register(user);
  t.strictSame(await queuedFor(app, user), [], 'not an unverified one');
  await verifyEmails(app, user);
  const { id } = (await register(user, createAuthenticator(origin), {}, { name: '가게 노트북' })).body.data;
  await remove(user.token, id);
  const mails = await mailsTo(app, user.email);
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
  await removePassword(owner);
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
  const { token } = await logInByPassword(app, owner);
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
