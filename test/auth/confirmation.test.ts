import t, { type Test } from 'tap';
import { eachOperation, notRejected, operations, unknownPath, validBody } from '../http/operations.ts';
import { createTestApp, createUser, logIn, password, type TestResponse } from '../support/app.ts';
import { delayed, invalid, rejected, tally, tokenRejected } from '../support/assertions.ts';
import { inParallel } from '../support/concurrency.ts';
import { contract, type DocumentedOperation } from '../support/contract.ts';
import { countRows } from '../support/rows.ts';
import { accountsOf, whileSessionsEnd } from './accounts.ts';
import { asPasted, passConfirmation, secondFactorOf } from './authenticator.ts';
import { developmentLogin } from './development-login.ts';
import { isRecent } from './mailbox.ts';

const app = await createTestApp();
const { pool, call } = app;
const { changeEmail, newProof, post, tryLogin } = accountsOf(app);
const { confirmUser, createProtected, switchOn, begin } = secondFactorOf(app);

const remove = (token: string, body: object = {}) => call('DELETE', '/auth/me/', { token, body });

/** An account as one that a provider made. */
async function createWithoutPassword() {
  const user = await createUser(app);
  await pool.query('UPDATE users SET password_hash = NULL WHERE id = $1', [user.id]);
  return user;
}

/** Asserts that a confirmation counts for ten minutes. */
function confirmed(t: Test, { status, body, text }: TestResponse): void {
  t.equal(status, 200, text);
  const seconds = (Date.parse(body.data.confirmed_until) - Date.now()) / 1000;
  t.ok(seconds > 480 && seconds <= 601, `${seconds} s`);
}

t.test('the password confirms the session, and no other one, for ten minutes', async (t) => {
  const user = await createUser(app);
  const other = await logIn(app, user);
  await passConfirmation(app, user);
  confirmed(t, await confirmUser(user.token, { password }));
  const age = "UPDATE sessions SET confirmed_at = confirmed_at - interval '8 minutes' WHERE user_id = $1";
  await pool.query(age, [user.id]);
  t.equal((await begin(user.token)).status, 200);
  rejected(t, await begin(other.token), 403, 'confirmation_required', { methods: ['password'] });
  await passConfirmation(app, user);
  rejected(t, await begin(user.token), 403, 'confirmation_required', { methods: ['password'] });
});

t.test('so does a code of the app or a recovery code, once, which the session then shows', async (t) => {
  const { code, recoveryCodes, wrong, ...user } = await createProtected();
  for (const [given, method] of [
    [code(), 'totp'],
    [recoveryCodes[0] ?? '', 'recovery_code'],
  ] as const) {
    await passConfirmation(app, user);
    confirmed(t, await confirmUser(user.token, { code: asPasted(given) }));
    const again = await confirmUser(user.token, { code: given });
    rejected(t, again, 400, 'invalid_code', { attempts_left: again.body.data.attempts_left });
    const { items } = (await call('GET', '/auth/sessions/', { token: user.token })).body.data;
    t.ok(items[0].methods.includes(method));
    isRecent(t, items[0].authenticated_at);
  }
  rejected(t, await confirmUser(user.token, { code: wrong() }), 400, 'invalid_code', { attempts_left: 7 });
});

t.test('exactly one of password and code confirms', async (t) => {
  const { code, ...user } = await createProtected();
  invalid(t, await confirmUser(user.token, {}), 'password', 'code');
  invalid(t, await confirmUser(user.token, { password, code: code() }), 'password', 'code');
  t.equal((await confirmUser(user.token, { code: code() })).status, 200, 'the code was not used');
});

t.test('a wrong password or code confirms nothing and counts like a failed login', async (t) => {
  const { code, wrong, ...user } = await createProtected();
  await passConfirmation(app, user);
  for (let time = 0; time < 5; time++) {
    rejected(t, await confirmUser(user.token, { password: 'wrong' }), 401, 'invalid_credentials');
    const attempts_left = 8 - 2 * time;
    rejected(t, await confirmUser(user.token, { code: wrong() }), 400, 'invalid_code', { attempts_left });
  }
  for (const body of [{ password }, { code: code() }]) delayed(t, await confirmUser(user.token, body), 31);
  delayed(t, await tryLogin(user.username), 31);
  const methods = ['password', 'totp', 'recovery_code'];
  rejected(t, await begin(user.token), 403, 'confirmation_required', { methods });
});

t.test('of concurrent guesses at a code ten are checked', async (t) => {
  const { wrong, ...user } = await createProtected();
  const responses = await inParallel(20, () => confirmUser(user.token, { code: wrong() }));
  t.strictSame(tally(responses), { '400 invalid_code': 10, '429 too_many_attempts': 10 });
});

t.test('without a second factor or a password neither confirms', async (t) => {
  const user = await createUser(app);
  rejected(t, await confirmUser(user.token, { code: '123456' }), 400, 'invalid_code', { attempts_left: 9 });
  const other = await createWithoutPassword();
  rejected(t, await confirmUser(other.token, { password }), 401, 'invalid_credentials');
});

t.test('a session that ends meanwhile is not confirmed', async (t) => {
  const { code, ...user } = await createProtected();
  const given = code();
  const confirm = () => confirmUser(user.token, { code: given });
  tokenRejected(t, await whileSessionsEnd(t, app, user, confirm), 'revoked');
});

t.test('a session that ends meanwhile changes no address and deletes no account', async (t) => {
  for (const isDeletion of [true, false]) {
    const user = await createWithoutPassword();
    const address = await newProof();
    const request = () =>
      isDeletion ? remove(user.token) : post('change-email', address, { token: user.token });
    tokenRejected(t, await whileSessionsEnd(t, app, user, request), 'revoked');
    t.equal(await countRows(app, 'users WHERE email = $1', user.email), 1);
  }
});

t.test('after an undone change of email a code confirms nothing', async (t) => {
  const { code, ...user } = await createProtected();
  await pool.query('UPDATE users SET needs_reset = true WHERE id = $1', [user.id]);
  rejected(t, await confirmUser(user.token, { code: code() }), 403, 'forbidden');
  rejected(t, await confirmUser(user.token, { password }), 403, 'forbidden');
});

t.test('the password of an account that has one takes the place of a confirmation', async (t) => {
  const user = await createUser(app);
  await passConfirmation(app, user);
  const address = await newProof();
  invalid(t, await post('change-email', address, { token: user.token }), 'password');
  invalid(t, await remove(user.token), 'password');
  await confirmUser(user.token, { password });
  invalid(t, await post('change-email', address, { token: user.token }), 'password');
  invalid(t, await remove(user.token), 'password');
  await passConfirmation(app, user);
  t.equal((await changeEmail(user.token, address)).status, 200);
  t.equal((await remove(user.token, { password })).status, 200);
});

t.test('without a password, a change of email and a deletion need a confirmation', async (t) => {
  const user = await createWithoutPassword();
  const { code } = await switchOn(user);
  await passConfirmation(app, user);
  const methods = ['totp', 'recovery_code'];
  const address = await newProof();
  const change = () => post('change-email', address, { token: user.token });
  rejected(t, await change(), 403, 'confirmation_required', { methods });
  rejected(t, await remove(user.token), 403, 'confirmation_required', { methods });
  rejected(t, await remove(user.token, { password }), 401, 'invalid_credentials');
  confirmed(t, await confirmUser(user.token, { code: code() }));
  t.equal((await change()).status, 200);
  t.equal((await remove(user.token)).status, 200);
});

/*
 * What only the owner of an account may do: every operation that is documented to do so asks for a recent confirmation, and does
 * nothing between an undone change of email and the reset of the password.
 */
const withCode = (code: string) =>
  operations.filter((one) => one.path.startsWith('/auth/') && contract.codesOf(one, '403').includes(code));

/** They take the password; the tests above and `undo-email-change.test.ts` have them. */
const withPassword = /^(?:deleteCurrentUser|changePassword|changeEmail|confirmUser)$/;

t.test('owner operations ask for a confirmation, and wait for the reset after an undo', async (t) => {
  const user = await createProtected();
  const login = await developmentLogin(app, { subject: 'another' }, { purpose: 'link', token: user.token });
  const bodies: Record<string, unknown> = {
    changeEmail: { new_email: 'elsewhere@example.com', code: '123456' },
    deleteCurrentUser: {},
    startProviderLogin: { purpose: 'link' },
    finishProviderLogin: login.body,
  };
  const rejectedAs = (code: string) => async (operation: DocumentedOperation) => {
    const { method, path, operationId } = operation;
    const url = unknownPath({ ...operation, path: path.replace('{provider}', 'development') });
    const body = bodies[operationId] ?? validBody(operation);
    return notRejected(await call(method, url, { token: user.token, body }), 403, code);
  };
  await pool.query('UPDATE users SET password_hash = NULL WHERE id = $1', [user.id]);
  await passConfirmation(app, user);
  await eachOperation(t, withCode('confirmation_required'), 14, rejectedAs('confirmation_required'));
  await pool.query('UPDATE users SET needs_reset = true WHERE id = $1', [user.id]);
  const others = withCode('forbidden').filter(({ operationId }) => !withPassword.test(operationId));
  await eachOperation(t, others, 12, rejectedAs('forbidden'));
});
