import t, { type Test } from 'tap';
import {
  createTestApp,
  deleteAccount,
  logIn,
  password,
  resetLinkIn,
  signUpUser,
  suspend,
  type TestResponse,
} from '../support/app.ts';
import { delayed, invalid, rejected, tally, tokenRejected } from '../support/assertions.ts';
import { inParallel, lockRows } from '../support/concurrency.ts';
import { createStore } from '../support/stores.ts';
import { accountsOf, newPassword, signUpBody, verifyAddress } from './accounts.ts';
import {
  createVerifiedUser,
  latestCode,
  latestMail,
  mailsTo,
  newResetLink,
  passTime,
  undoTokenIn,
  verifyLinkTokenIn,
} from './mailbox.ts';

const app = await createTestApp({ EMAIL_COOLDOWN: '1s' });
t.teardown(app.close);

const { me, signUp, tryLogin, changePassword, sendCode, newCode, confirm } = accountsOf(app);
const { changeEmail, moveTo, undoEmailChange, requestReset, validateReset, confirmReset } = accountsOf(app);
const linkInvalid = [400, 'undo_link_invalid'] as const;
let addresses = 0;
const newAddress = () => `moved${++addresses}@new.example.com`;

/** Asserts `email_taken` with its field. */
function isTaken(t: Test, response: TestResponse, field: string): void {
  const { message } = response.body;
  const extra = { fields: { [field]: [message] }, errors: [{ field, code: 'taken', message }] };
  rejected(t, response, 409, 'email_taken', extra);
}

/** An uncommitted row with an email, as that of a sign-up in progress. */
function insertUser(t: Test, email: string) {
  const row = `('racer-' || split_part($1::text, '@', 1), $1, 'x', 'x')`;
  return lockRows(t, app, `INSERT INTO users (username, email, name, password_hash) VALUES ${row}`, [email]);
}

/** The number of changes of an account that can be undone. */
const openUndos = async ({ id }: { id: number }) =>
  (await app.pool.query('SELECT FROM email_changes WHERE user_id = $1', [id])).rowCount;

/** The token in the newest notice to an email. */
async function undoTokenTo(email: string): Promise<string> {
  const notices = (await mailsTo(app, email)).filter(({ text }) => text.includes('/undo-email-change?'));
  return undoTokenIn(notices.at(-1));
}

/** The reset link in the newest email to an address. */
const mailedLink = async (email: string) => resetLinkIn(await latestMail(app, email));

/** An account whose verified email was changed, and the link that undoes it. */
async function createChanged() {
  const user = await createVerifiedUser(app);
  const newEmail = newAddress();
  await moveTo(user.token, newEmail);
  return { ...user, newEmail, undoToken: await undoTokenTo(user.email) };
}

t.test('a change takes the password and a code of the new address, and ends other sessions', async (t) => {
  const user = await createVerifiedUser(app);
  const other = await logIn(app, user);
  const email = newAddress();
  const code = await newCode(email);
  const mailed = (await mailsTo(app, user.email)).length;
  const response = await changeEmail(user.token, { new_email: email.toUpperCase(), code });
  t.equal(response.status, 200, response.text);
  const { id, username, name } = user;
  t.strictSame(response.body.data, { id, username, name, email, role: 'user', is_verified: true });
  t.strictSame((await me(user.token)).body.data, response.body.data);
  tokenRejected(t, await me(other.token), 'revoked');
  t.equal((await tryLogin(email)).status, 200);
  rejected(t, await tryLogin(user.email), 401, 'invalid_credentials');

  const notices = (await mailsTo(app, user.email)).slice(mailed);
  t.equal(notices.length, 1);
  t.match(notices[0]?.subject, '이메일 주소가 변경');
  t.match(notices[0]?.text, 'm***@n***.com');
  t.notOk(`${notices[0]?.text}${notices[0]?.html}`.includes(email), 'the new address is masked');
  const again = await changeEmail(user.token, { new_email: newAddress(), code });
  rejected(t, again, 400, 'invalid_code', { attempts_left: 0 });
});

t.test('an unverified account gets a verified address; the old one gets no notice', async (t) => {
  const user = await signUpUser(app);
  const mailed = (await mailsTo(app, user.email)).length;
  await moveTo(user.token, newAddress());
  t.equal((await me(user.token)).body.data.is_verified, true);
  t.equal((await mailsTo(app, user.email)).length, mailed);
  t.equal(await openUndos(user), 0, 'there is nothing to undo');
});

t.test('the old address has no working code, proof or reset link of the account', async (t) => {
  const user = await createVerifiedUser(app);
  const link = await newResetLink(app, user.email);
  const proof = "INSERT INTO email_proofs VALUES (gen_random_uuid(), $1, 'a key', now() + interval '1 hour')";
  await app.pool.query(proof, [user.email]);
  await moveTo(user.token, newAddress());
  rejected(t, await validateReset(link), 400, 'reset_link_invalid');
  rejected(t, await confirmReset(link), 400, 'reset_link_invalid');
  t.equal((await tryLogin(user.username)).status, 200);
  t.equal((await app.pool.query('SELECT FROM email_proofs WHERE email = $1', [user.email])).rowCount, 0);

  // The old address is free again, and a link that was mailed for the first account does not open the next one.
  await signUpUser(app, { email: user.email });
  rejected(t, await validateReset(link), 400, 'reset_link_invalid');
});

t.test('a wrong password is rejected before the code is tried, and counts like a failed login', async (t) => {
  const user = await signUpUser(app);
  const email = newAddress();
  const code = await newCode(email);
  for (let attempt = 0; attempt < 10; attempt++) {
    const response = await changeEmail(user.token, {
      password: 'wrong-password',
      new_email: email,
      code: '000000',
    });
    rejected(t, response, 401, 'invalid_credentials');
  }
  delayed(t, await changeEmail(user.token, { new_email: email, code }), 30);
  await app.pool.query('DELETE FROM login_failures');
  t.equal((await changeEmail(user.token, { new_email: email, code })).status, 200, 'no attempt was used up');
});

t.test('a code has five attempts', async (t) => {
  const user = await signUpUser(app);
  const email = newAddress();
  const right = await newCode(email);
  const wrong = right === '000000' ? '000001' : '000000';
  for (const attempts_left of [4, 3, 2, 1, 0]) {
    const response = await changeEmail(user.token, { new_email: email, code: wrong });
    rejected(t, response, 400, 'invalid_code', { attempts_left });
  }
  const response = await changeEmail(user.token, { new_email: email, code: right });
  delayed(t, response, 3600);
  t.equal((await me(user.token)).body.data.email, user.email);
});

t.test('the link of the email proves an address whose code a stranger used up', async (t) => {
  const user = await signUpUser(app);
  const email = newAddress();
  await newCode(email);
  const token = verifyLinkTokenIn(await latestMail(app, email));
  for (let attempt = 0; attempt < 5; attempt++) await confirm({ email, code: `${attempt}00000` });
  const { verification_token } = (await confirm({ token })).body.data;
  invalid(t, await changeEmail(user.token, { new_email: email }), 'code');
  const other = await changeEmail(user.token, { new_email: newAddress(), verification_token });
  rejected(t, other, 400, 'verification_token_invalid');
  const response = await changeEmail(user.token, { new_email: email, verification_token });
  t.equal(response.status, 200, response.text);
  t.match(response.body.data, { email, is_verified: true });
  const again = await changeEmail((await signUpUser(app)).token, { new_email: email, verification_token });
  rejected(t, again, 400, 'verification_token_invalid');
});

t.test('what cannot be a new address is a validation error', async (t) => {
  const user = await signUpUser(app);
  for (const new_email of ['x', '', user.email, user.email.toUpperCase(), 1]) {
    invalid(t, await changeEmail(user.token, { new_email, code: '123456' }), 'new_email');
  }
  invalid(t, await changeEmail(user.token, { new_email: newAddress(), code: '12345' }), 'code');
  const without = { password: undefined, new_email: newAddress(), code: '123456' };
  invalid(t, await changeEmail(user.token, without), 'password');
});

t.test('an address with a verified account has no code', async (t) => {
  const [user, owner] = [await signUpUser(app), await createVerifiedUser(app)];
  await sendCode(owner.email);
  t.notMatch((await latestMail(app, owner.email)).text, /^\d{6}$/m);
  const { rows } = await app.pool.query('SELECT id, key_id FROM email_codes WHERE email = $1', [owner.email]);
  t.equal(rows.length, 1);
  const response = await changeEmail(user.token, { new_email: owner.email, code: '123456' });
  rejected(t, response, 400, 'invalid_code', { attempts_left: 4 });
});

t.test('an address that an unverified account has is email_taken, and the code still works', async (t) => {
  const user = await signUpUser(app);
  const squatter = await signUpUser(app, { email: newAddress() });
  const body = { new_email: squatter.email };
  const code = await latestCode(app, squatter.email);
  const response = await changeEmail(user.token, { ...body, code });
  isTaken(t, response, 'new_email');
  t.equal((await me(squatter.token)).body.data.email, squatter.email);
  t.equal((await me(user.token)).body.data.email, user.email);
  await deleteAccount(app, squatter);
  t.equal((await changeEmail(user.token, { ...body, code })).status, 200);
});

t.test('of six changes to one address at once, one succeeds', async (t) => {
  const email = newAddress();
  const users = await inParallel(6, () => signUpUser(app));
  const code = await newCode(email);
  const responses = await Promise.all(
    users.map(({ token }) => changeEmail(token, { new_email: email, code })),
  );
  t.strictSame(tally(responses), { '200': 1, '400 invalid_code': 5 });
  t.equal((await app.pool.query('SELECT FROM users WHERE email = $1', [email])).rowCount, 1);
});

t.test('of a change and a sign-up with one address at once, one succeeds', async (t) => {
  const user = await createVerifiedUser(app);
  const email = newAddress();
  const code = await newCode(email);
  const signingUp = await insertUser(t, email);
  const changing = changeEmail(user.token, { new_email: email, code });
  await signingUp.waiters(1);
  await signingUp.release('COMMIT');
  const response = await changing;
  isTaken(t, response, 'new_email');
  t.equal((await me(user.token)).body.data.email, user.email);
  const notices = (await mailsTo(app, user.email)).filter(({ text }) => text.includes('undo-email-change'));
  t.equal(notices.length, 0, 'no notice of a change that did not happen');
});

t.test('of changes of one account at once, each finds the account as the one before left it', async (t) => {
  const user = await createVerifiedUser(app);
  const emails = [newAddress(), newAddress(), newAddress()];
  const codes: string[] = [];
  for (const email of emails) codes.push(await newCode(email));
  const sessions = [user, await logIn(app, user), await logIn(app, user)];
  const responses = await inParallel(3, (index) =>
    changeEmail(sessions[index]?.token ?? '', { new_email: emails[index], code: codes[index] }),
  );
  t.strictSame(tally(responses), { '200': 1, '401 token_not_valid': 2 });
});

t.test('a change of the password during a change of the address wins or comes before it', async (t) => {
  const user = await createVerifiedUser(app);
  const email = newAddress();
  const code = await newCode(email);
  const row = await lockRows(t, app, 'SELECT FROM users WHERE id = $1 FOR UPDATE', [user.id]);
  const changing = changeEmail(user.token, { new_email: email, code });
  await row.waiters(1);
  await row.release();
  t.equal((await changing).status, 200);

  const next = newAddress();
  const nextCode = await newCode(next);
  const reset = await lockRows(t, app, "UPDATE users SET password_hash = 'another' WHERE id = $1", [user.id]);
  const late = changeEmail(user.token, { new_email: next, code: nextCode });
  await reset.waiters(1);
  await reset.release('COMMIT');
  rejected(t, await late, 401, 'invalid_credentials');
  t.equal((await me(user.token)).body.data.email, email);
});

t.test('beyond five notices of changes an hour the address changes without one', async (t) => {
  const user = await createVerifiedUser(app);
  await app.pool.query(
    "INSERT INTO mail_sends (purpose, email, sent_at) VALUES ('email_change', $1, array_fill(now(), ARRAY[5]))",
    [user.email],
  );
  const mailed = (await mailsTo(app, user.email)).length;
  await moveTo(user.token, newAddress());
  t.equal((await mailsTo(app, user.email)).length, mailed);
});

t.test('the owner gets an account back that an intruder took over', async (t) => {
  const owner = await createVerifiedUser(app);
  const { token } = await logIn(app, owner);
  // As many changes as an address gets notices of; the change of the address has its notice nevertheless.
  const passwords = [password, ...[1, 2, 3, 4].map((n) => `of-an-intruder-for-now-${n}`), password];
  for (const [n, current] of passwords.slice(0, -1).entries()) {
    t.equal((await changePassword(token, current, passwords[n + 1])).status, 200);
  }
  const email = newAddress();
  await moveTo(token, email);
  const intruderPassword = 'the-password-of-an-intruder';
  t.equal((await changePassword(token, password, intruderPassword)).status, 200);
  const intruderLink = await newResetLink(app, email);
  rejected(t, await tryLogin(owner.username), 401, 'invalid_credentials');
  tokenRejected(t, await me(owner.token), 'revoked');

  // A request for a reset link just before does not keep the link of the undo from being mailed.
  await requestReset(owner.email);
  const response = await undoEmailChange(await undoTokenTo(owner.email));
  t.equal(response.status, 200, response.text);
  t.strictSame(response.body.data, {});
  tokenRejected(t, await me(token), 'revoked');
  rejected(t, await tryLogin(email, intruderPassword), 401, 'invalid_credentials');
  rejected(t, await confirmReset(intruderLink), 400, 'reset_link_invalid');

  t.equal((await confirmReset(await mailedLink(owner.email))).status, 200);
  const login = await tryLogin(owner.email, newPassword);
  t.equal(login.status, 200);
  t.match(login.body.data.user, { id: owner.id, email: owner.email, is_verified: true });
  rejected(t, await tryLogin(owner.username, intruderPassword), 401, 'invalid_credentials');
});

t.test('after an undo only a reset changes the account', async (t) => {
  const { undoToken, ...user } = await createChanged();
  t.equal((await undoEmailChange(undoToken)).status, 200);
  const link = await mailedLink(user.email);
  const { token } = await logIn(app, user);
  const code = await newCode(newAddress());
  const attempts = [
    changeEmail(token, { new_email: newAddress(), code }),
    changePassword(token, password),
    deleteAccount(app, { token, password }),
  ];
  for (const response of await Promise.all(attempts)) rejected(t, response, 403, 'forbidden');
  const wrong = await changeEmail(token, { password: 'x', new_email: newAddress(), code });
  rejected(t, wrong, 401, 'invalid_credentials');
  t.equal((await confirmReset(link)).status, 200);
  const { token: own } = await logIn(app, { ...user, password: newPassword });
  t.equal((await changePassword(own, newPassword, password)).status, 200);
});

t.test('a change of the password that waits for an undo does not void its reset link', async (t) => {
  const { undoToken, token, ...user } = await createChanged();
  const lock = await lockRows(t, app, 'SELECT FROM users WHERE id = $1 FOR UPDATE', [user.id]);
  const undone = undoEmailChange(undoToken);
  await lock.waiters(1);
  const changed = changePassword(token, password);
  await lock.waiters(2);
  await lock.release();
  t.equal((await undone).status, 200);
  rejected(t, await changed, 401, 'invalid_credentials');
  t.equal((await confirmReset(await mailedLink(user.email))).status, 200);
});

t.test('a reset by a link to the new address that waits for an undo does not win', async (t) => {
  const { undoToken, newEmail, ...user } = await createChanged();
  const link = await newResetLink(app, newEmail);
  const lock = await lockRows(t, app, 'SELECT FROM users WHERE id = $1 FOR UPDATE', [user.id]);
  const undone = undoEmailChange(undoToken);
  await lock.waiters(1);
  const reset = confirmReset(link);
  await lock.waiters(2);
  await lock.release();
  t.equal((await undone).status, 200);
  rejected(t, await reset, 400, 'reset_link_invalid');
  rejected(t, await tryLogin(user.email, newPassword), 401, 'invalid_credentials');
});

t.test('a link works once, and not after seven days, a deletion or a suspension', async (t) => {
  const used = await createChanged();
  const responses = await inParallel(8, () => undoEmailChange(used.undoToken));
  t.strictSame(tally(responses), { '200': 1, '400 undo_link_invalid': 7 });
  t.equal((await mailsTo(app, used.email)).filter(({ text }) => text.includes('/reset-password?')).length, 1);

  const expired = await createChanged();
  const expiry = "UPDATE email_changes SET expires_at = expires_at - interval '7 days' WHERE user_id = $1";
  await app.pool.query(expiry, [expired.id]);
  const deleted = await createChanged();
  await deleteAccount(app, deleted);
  const suspended = await createChanged();
  await suspend(app, suspended);
  for (const { undoToken } of [expired, deleted, suspended])
    rejected(t, await undoEmailChange(undoToken), ...linkInvalid);

  const open = await createChanged();
  const [id = ''] = open.undoToken.split('.');
  for (const token of ['x', id, `${id}.`, `${id}.${'A'.repeat(43)}`, used.undoToken.toUpperCase()]) {
    rejected(t, await undoEmailChange(token), ...linkInvalid);
  }
  t.equal((await undoEmailChange(open.undoToken)).status, 200, 'wrong tokens do not void the link');
});

t.test('after an undo the next change has a link, however many notices there were', async (t) => {
  const { undoToken, ...user } = await createChanged();
  await app.pool.query(
    `UPDATE mail_sends SET sent_at = array_fill(now(), ARRAY[5]) WHERE purpose = 'email_change' AND email = $1`,
    [user.email],
  );
  t.equal((await undoEmailChange(undoToken)).status, 200);
  t.equal((await confirmReset(await mailedLink(user.email), password)).status, 200);
  const { token } = await logIn(app, user);
  await moveTo(token, newAddress());
  const next = await undoTokenTo(user.email);
  t.not(next, undoToken);
  t.equal((await undoEmailChange(next)).status, 200);
});

t.test('undoing the first of two changes voids the second link, but not the reverse', async (t) => {
  for (const first of [true, false]) {
    const user = await createChanged();
    const last = newAddress();
    await moveTo(user.token, last);
    const second = await undoTokenTo(user.newEmail);
    if (!first) {
      t.equal((await undoEmailChange(second)).status, 200);
      t.equal((await tryLogin(user.newEmail)).status, 200);
    }
    t.equal((await undoEmailChange(user.undoToken)).status, 200);
    t.equal((await tryLogin(user.email)).status, 200);
    rejected(t, await tryLogin(last), 401, 'invalid_credentials');
    rejected(t, await undoEmailChange(second), ...linkInvalid);
  }
});

t.test('an unverified account without a store gives way to the owner of the old address', async (t) => {
  const user = await createChanged();
  const squatter = await signUpUser(app, { email: user.email });
  t.equal((await undoEmailChange(user.undoToken)).status, 200);
  tokenRejected(t, await me(squatter.token), 'revoked');
  rejected(t, await tryLogin(squatter.username), 401, 'invalid_credentials');
  t.equal((await tryLogin(user.email)).body.data.user.id, user.id);
  t.equal((await signUp(signUpBody({ username: squatter.username }))).status, 201, 'the username is free');
});

t.test(
  'an unverified account with a store is email_taken until a reset lets its owner delete it',
  async (t) => {
    const user = await createChanged();
    const shop = await signUpUser(app, { email: user.email });
    await createStore(app, shop.token);
    const response = await undoEmailChange(user.undoToken);
    isTaken(t, response, 'token');
    t.equal((await me(user.token)).body.data.email, user.newEmail);
    t.equal((await confirmReset(await newResetLink(app, user.email))).status, 200);
    const account = { ...shop, password: newPassword };
    await deleteAccount(app, { ...account, ...(await logIn(app, account)) });
    t.equal((await undoEmailChange(user.undoToken)).status, 200);
  },
);

t.test('a verified account that has taken the old address is email_taken', async (t) => {
  const user = await createChanged();
  await passTime(app, user.email, 3600);
  const verification_token = await verifyAddress(app, user.email);
  const other = await signUpUser(app, { email: user.email, verification_token });
  const mailed = (await mailsTo(app, user.email)).length;
  const response = await undoEmailChange(user.undoToken);
  isTaken(t, response, 'token');
  t.equal((await me(other.token)).body.data.email, user.email);
  t.equal((await me(user.token)).status, 200, 'no session ended');
  t.equal((await mailsTo(app, user.email)).length, mailed);
});

t.test('of an undo and a sign-up with the old address at once, one succeeds', async (t) => {
  const user = await createChanged();
  const signingUp = await insertUser(t, user.email);
  const undoing = undoEmailChange(user.undoToken);
  await signingUp.waiters(1);
  await signingUp.release('COMMIT');
  const response = await undoing;
  isTaken(t, response, 'token');
  t.equal((await undoEmailChange(user.undoToken)).status, 200, 'the next try deletes the unverified account');
});

t.test('an undo waits for a change in progress, and voids its link', async (t) => {
  const user = await createChanged();
  const row = await lockRows(t, app, 'SELECT FROM users WHERE id = $1 FOR UPDATE', [user.id]);
  const changing = moveTo(user.token, newAddress());
  await row.waiters(1);
  const undoing = undoEmailChange(user.undoToken);
  await row.waiters(2);
  await row.release();
  await changing;
  t.equal((await undoing).status, 200);
  t.equal((await tryLogin(user.email)).status, 200);
  t.equal(await openUndos(user), 0);
});
