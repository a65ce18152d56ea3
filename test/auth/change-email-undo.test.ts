import t from 'tap';
import { createTestApp, createUser, logIn, password, resetLinkIn, suspend } from '../support/app.ts';
import { refused, tally, tokenRefused } from '../support/assertions.ts';
import { inParallel, lockRows } from '../support/concurrency.ts';
import { createStore } from '../support/stores.ts';
import { signUpBody, verifyAddress } from './accounts.ts';
import { emailChangeOf } from './email-change.ts';
import { createVerifiedUser, latestMail, mailsTo, newResetLink, passTime } from './mailbox.ts';
import { newPassword, passwordResetOf } from './password-reset.ts';

const app = await createTestApp({ EMAIL_COOLDOWN: '1s' });
t.teardown(app.close);

const { codeFor, change, changeTo, undo, undoTokenTo, me, tryLogin } = emailChangeOf(app);
const { confirm } = passwordResetOf(app);
const oldTaken = ({ body }: { body: { message: string } }) => ({
  fields: { token: [body.message] },
  errors: [{ field: 'token', code: 'taken', message: body.message }],
});
const linkInvalid = [400, 'undo_link_invalid'] as const;
let addresses = 0;
const newAddress = () => `taken-over${++addresses}@new.example.com`;

/** The reset link in the newest mail to an address. */
async function mailedLink(email: string) {
  const { uid, token } = resetLinkIn(await latestMail(app, email));
  return { uid, token };
}

/** An account whose verified address was changed, and the link that undoes it. */
async function createChanged() {
  const user = await createVerifiedUser(app);
  const email = newAddress();
  await changeTo(user.token, email);
  return { ...user, newEmail: email, undoToken: await undoTokenTo(user.email) };
}

t.test('the owner gets an account back that an intruder took over', async (t) => {
  const owner = await createVerifiedUser(app);
  const { token } = await logIn(app, owner);
  const changePassword = (current_password: string, new_password: string) =>
    app.call('POST', '/auth/change-password/', { token, body: { current_password, new_password } });
  // As many changes as an address gets notices of; the change of the address has its notice nevertheless.
  const passwords = [password, ...[1, 2, 3, 4].map((n) => `of-an-intruder-for-now-${n}`), password];
  for (const [n, current] of passwords.slice(0, -1).entries()) {
    t.equal((await changePassword(current, passwords[n + 1] ?? '')).status, 200);
  }
  const email = newAddress();
  await changeTo(token, email);
  const intruderPassword = 'the-password-of-an-intruder';
  t.equal((await changePassword(password, intruderPassword)).status, 200);
  const intruderLink = await newResetLink(app, email);
  refused(t, await tryLogin(owner.username, password), 401, 'invalid_credentials');
  tokenRefused(t, await me(owner.token), 'revoked');

  // A request for a reset link just before does not keep the link of the undo from being mailed.
  await app.call('POST', '/auth/reset-password-request/', { body: { email: owner.email } });
  const answer = await undo(await undoTokenTo(owner.email));
  t.equal(answer.status, 200, answer.text);
  t.strictSame(answer.body.data, {});
  tokenRefused(t, await me(token), 'revoked');
  refused(t, await tryLogin(email, intruderPassword), 401, 'invalid_credentials');
  refused(t, await confirm(intruderLink), 400, 'reset_link_invalid');

  t.equal((await confirm(await mailedLink(owner.email))).status, 200);
  const login = await tryLogin(owner.email, newPassword);
  t.equal(login.status, 200);
  t.match(login.body.data.user, { id: owner.id, email: owner.email, is_verified: true });
  refused(t, await tryLogin(owner.username, intruderPassword), 401, 'invalid_credentials');
});

t.test('after an undo only a reset changes the account', async (t) => {
  const { undoToken, ...user } = await createChanged();
  t.equal((await undo(undoToken)).status, 200);
  const link = await mailedLink(user.email);
  const { token } = await logIn(app, user);
  const code = await codeFor(newAddress());
  const attempts = (given: string) => [
    change(token, { password: given, new_email: newAddress(), code }),
    app.call('POST', '/auth/change-password/', {
      token,
      body: { current_password: given, new_password: newPassword },
    }),
    app.call('DELETE', '/auth/me/', { token, body: { password: given } }),
  ];
  for (const answer of await Promise.all(attempts(password))) refused(t, answer, 403, 'forbidden');
  refused(
    t,
    await change(token, { password: 'x', new_email: newAddress(), code }),
    401,
    'invalid_credentials',
  );
  t.equal((await confirm(link)).status, 200);
  const { token: own } = await logIn(app, { ...user, password: newPassword });
  const back = { current_password: newPassword, new_password: password };
  t.equal((await app.call('POST', '/auth/change-password/', { token: own, body: back })).status, 200);
});

t.test('a change of the password that waits for an undo does not void its reset link', async (t) => {
  const { undoToken, token, ...user } = await createChanged();
  const lock = await lockRows(t, app, 'SELECT FROM users WHERE id = $1 FOR UPDATE', [user.id]);
  const undone = undo(undoToken);
  await lock.waiters(1);
  const body = { current_password: password, new_password: newPassword };
  const changed = app.call('POST', '/auth/change-password/', { token, body });
  await lock.waiters(2);
  await lock.release();
  t.equal((await undone).status, 200);
  refused(t, await changed, 401, 'invalid_credentials');
  t.equal((await confirm(await mailedLink(user.email))).status, 200);
});

t.test('a link works once, and not after seven days, a deletion or a suspension', async (t) => {
  const used = await createChanged();
  t.strictSame(tally(await inParallel(8, () => undo(used.undoToken))), {
    '200': 1,
    '400 undo_link_invalid': 7,
  });
  t.equal((await mailsTo(app, used.email)).filter(({ text }) => text.includes('/reset-password?')).length, 1);

  const expired = await createChanged();
  await app.pool.query(
    "UPDATE email_changes SET expires_at = expires_at - interval '7 days' WHERE user_id = $1",
    [expired.id],
  );
  refused(t, await undo(expired.undoToken), ...linkInvalid);

  const deleted = await createChanged();
  await app.call('DELETE', '/auth/me/', { token: deleted.token, body: { password } });
  refused(t, await undo(deleted.undoToken), ...linkInvalid);

  const suspended = await createChanged();
  await suspend(app, suspended);
  refused(t, await undo(suspended.undoToken), ...linkInvalid);

  const open = await createChanged();
  const [id = ''] = open.undoToken.split('.');
  for (const token of ['x', id, `${id}.`, `${id}.${'A'.repeat(43)}`, used.undoToken.toUpperCase()]) {
    refused(t, await undo(token), ...linkInvalid);
  }
  t.equal((await undo(open.undoToken)).status, 200, 'wrong tokens do not void the link');
});

t.test('after an undo the next change has a link, however many notices there were', async (t) => {
  const { undoToken, ...user } = await createChanged();
  await app.pool.query(
    `UPDATE mail_sends SET sent_at = array_fill(now(), ARRAY[5]) WHERE purpose = 'email_change' AND email = $1`,
    [user.email],
  );
  t.equal((await undo(undoToken)).status, 200);
  t.equal((await confirm(await mailedLink(user.email), password)).status, 200);
  const { token } = await logIn(app, user);
  await changeTo(token, newAddress());
  const next = await undoTokenTo(user.email);
  t.not(next, undoToken);
  t.equal((await undo(next)).status, 200);
});

t.test('undoing the first of two changes voids the second link, but not the reverse', async (t) => {
  for (const first of [true, false]) {
    const user = await createChanged();
    const last = newAddress();
    await changeTo(user.token, last);
    const second = await undoTokenTo(user.newEmail);
    if (!first) {
      t.equal((await undo(second)).status, 200);
      t.equal((await tryLogin(user.newEmail, password)).status, 200);
    }
    t.equal((await undo(user.undoToken)).status, 200);
    t.equal((await tryLogin(user.email, password)).status, 200);
    refused(t, await tryLogin(last, password), 401, 'invalid_credentials');
    refused(t, await undo(second), ...linkInvalid);
  }
});

t.test('an unverified account without a store gives way to the owner of the old address', async (t) => {
  const user = await createChanged();
  const squatter = await createUser(app, { email: user.email });
  t.equal((await undo(user.undoToken)).status, 200);
  tokenRefused(t, await me(squatter.token), 'revoked');
  refused(t, await tryLogin(squatter.username, password), 401, 'invalid_credentials');
  t.equal((await tryLogin(user.email, password)).body.data.user.id, user.id);
  const answer = await app.call('POST', '/auth/signup/', {
    body: signUpBody({ username: squatter.username }),
  });
  t.equal(answer.status, 201, 'the username is free again');
});

t.test(
  'an unverified account with a store is email_taken until its owner, by a reset, deletes it',
  async (t) => {
    const user = await createChanged();
    const shop = await createUser(app, { email: user.email });
    await createStore(app, shop.token);
    const answer = await undo(user.undoToken);
    refused(t, answer, 409, 'email_taken', oldTaken(answer));
    t.equal((await me(user.token)).body.data.email, user.newEmail);
    t.equal((await confirm(await newResetLink(app, user.email))).status, 200);
    const login = await tryLogin(shop.username, newPassword);
    const token = login.body.data.access;
    await app.call('DELETE', '/auth/me/', { token, body: { password: newPassword } });
    t.equal((await undo(user.undoToken)).status, 200);
  },
);

t.test('a verified account that has taken the old address is email_taken', async (t) => {
  const user = await createChanged();
  await passTime(app, user.email, 3600);
  const verification_token = await verifyAddress(app, user.email);
  const other = await createUser(app, { email: user.email, verification_token });
  const mailed = (await mailsTo(app, user.email)).length;
  const answer = await undo(user.undoToken);
  refused(t, answer, 409, 'email_taken', oldTaken(answer));
  t.equal((await me(other.token)).body.data.email, user.email);
  t.equal((await me(user.token)).status, 200, 'no session ended');
  t.equal((await mailsTo(app, user.email)).length, mailed);
});

t.test('of an undo and a sign-up with the old address at once, one succeeds', async (t) => {
  const user = await createChanged();
  const signUp = await lockRows(
    t,
    app,
    "INSERT INTO users (username, email, name, password_hash) VALUES ('undo-racer', $1, 'x', 'x')",
    [user.email],
  );
  const undoing = undo(user.undoToken);
  await signUp.waiters(1);
  await signUp.release('COMMIT');
  const answer = await undoing;
  refused(t, answer, 409, 'email_taken', oldTaken(answer));
  t.equal((await undo(user.undoToken)).status, 200, 'the next try deletes the unverified account');
});

t.test('an undo waits for a change in progress, and voids its link', async (t) => {
  const user = await createChanged();
  const row = await lockRows(t, app, 'SELECT FROM users WHERE id = $1 FOR UPDATE', [user.id]);
  const changing = changeTo(user.token, newAddress());
  await row.waiters(1);
  const undoing = undo(user.undoToken);
  await row.waiters(2);
  await row.release();
  await changing;
  t.equal((await undoing).status, 200);
  t.equal((await tryLogin(user.email, password)).status, 200);
  const { rows } = await app.pool.query('SELECT FROM email_changes WHERE user_id = $1', [user.id]);
  t.equal(rows.length, 0);
});
