import t from 'tap';
import { createTestApp, createUser, deleteAccount, logIn, password, suspend } from '../support/app.ts';
import { rejected, tally, tokenRejected } from '../support/assertions.ts';
import { during, inOrder, inParallel } from '../support/concurrency.ts';
import { countRows } from '../support/rows.ts';
import { createStore } from '../support/stores.ts';
import { createAuthenticator } from '../support/webauthn.ts';
import { accountsOf, insertUser, isTaken, newEmail, newPassword, signUpBody } from './accounts.ts';
import { createVerifiedUser, latestResetLink, latestUndoToken, mailsTo, newResetLink } from './mailbox.ts';
import { origin, passkeysOf } from './passkeys.ts';

const app = await createTestApp();

const { me, signUp, tryLogin, newProof, changeEmail, moveTo, undoEmailChange } = accountsOf(app);
const { changePassword, requestReset, confirmReset } = accountsOf(app);
const linkInvalid = [400, 'undo_link_invalid'] as const;

/** An account whose verified email was changed, and the link that undoes it. */
async function createChanged() {
  const user = await createVerifiedUser(app);
  const email = newEmail();
  await moveTo(user.token, email);
  return { ...user, newEmail: email, undoToken: await latestUndoToken(app, user.email) };
}

t.test('the owner gets an account back that an intruder took over', async (t) => {
  const owner = await createVerifiedUser(app);
  const { token } = await logIn(app, owner);
  // As many changes as an address gets notices of; the change of the address has its notice nevertheless.
  const passwords = [password, ...[1, 2, 3, 4].map((n) => `of-an-intruder-for-now-${n}`), password];
  for (const [n, current] of passwords.slice(0, -1).entries()) {
    t.equal((await changePassword(token, current, passwords[n + 1])).status, 200);
  }
  const email = newEmail();
  await moveTo(token, email);
  const intruderPassword = 'the-password-of-an-intruder';
  t.equal((await changePassword(token, password, intruderPassword)).status, 200);
  const intruderLink = await newResetLink(app, email);
  rejected(t, await tryLogin(owner.username), 401, 'invalid_credentials');
  tokenRejected(t, await me(owner.token), 'revoked');

  // A request for a reset link just before does not keep the link of the undo from being mailed.
  await requestReset(owner.email);
  const undone = await undoEmailChange(await latestUndoToken(app, owner.email));
  t.strictSame(undone.body.data, {});
  tokenRejected(t, await me(token), 'revoked');
  rejected(t, await tryLogin(email, intruderPassword), 401, 'invalid_credentials');
  rejected(t, await confirmReset(intruderLink), 400, 'reset_link_invalid');

  t.equal((await confirmReset(await latestResetLink(app, owner.email))).status, 200);
  const { user } = (await tryLogin(owner.email, newPassword)).body.data;
  t.match(user, { id: owner.id, email: owner.email, is_verified: true });
  rejected(t, await tryLogin(owner.username, intruderPassword), 401, 'invalid_credentials');
});

t.test('after an undo only a reset changes the account', async (t) => {
  const { undoToken, ...user } = await createChanged();
  t.equal((await undoEmailChange(undoToken)).status, 200);
  const link = await latestResetLink(app, user.email);
  const { token } = await logIn(app, user);
  const proof = await newProof();
  const attempts = [
    changeEmail(token, proof),
    changePassword(token, password),
    deleteAccount(app, { token, password }),
  ];
  for (const response of await Promise.all(attempts)) rejected(t, response, 403, 'forbidden');
  const wrong = await changeEmail(token, { ...proof, password: 'x' });
  rejected(t, wrong, 401, 'invalid_credentials');
  t.equal((await confirmReset(link)).status, 200);
  const { token: own } = await logIn(app, { ...user, password: newPassword });
  t.equal((await changePassword(own, newPassword, password)).status, 200);
});

t.test('an undo removes ways to log in that were added since the change, with a notice', async (t) => {
  const { undoToken, ...user } = await createChanged();
  const authenticator = createAuthenticator(origin);
  t.equal((await passkeysOf(app).register(user, authenticator)).status, 201);
  t.equal((await undoEmailChange(undoToken)).status, 200);
  rejected(t, await passkeysOf(app).logIn(authenticator), 401, 'invalid_credentials');
  const subjects = (await mailsTo(app, user.email)).map(({ subject }) => subject);
  t.ok(subjects.includes('[두레] 패스키가 삭제되었습니다'));
});

t.test('a change of the password that waits for an undo does not void its reset link', async (t) => {
  const { undoToken, token, ...user } = await createChanged();
  const undo = () => undoEmailChange(undoToken);
  const [undone, changed] = await inOrder(t, app, user, undo, () => changePassword(token, password));
  t.equal(undone.status, 200);
  tokenRejected(t, changed, 'revoked');
  t.equal((await confirmReset(await latestResetLink(app, user.email))).status, 200);
});

t.test('a reset by a link to the new address that waits for an undo does not win', async (t) => {
  const { undoToken, newEmail, ...user } = await createChanged();
  const link = await newResetLink(app, newEmail);
  const undo = () => undoEmailChange(undoToken);
  const [undone, reset] = await inOrder(t, app, user, undo, () => confirmReset(link));
  t.equal(undone.status, 200);
  rejected(t, reset, 400, 'reset_link_invalid');
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
  for (const token of ['x', id, `${id}.`, `${id}.${'A'.repeat(43)}`, used.undoToken.toUpperCase()])
    rejected(t, await undoEmailChange(token), ...linkInvalid);
  t.equal((await undoEmailChange(open.undoToken)).status, 200, 'wrong tokens do not void the link');
});

t.test('after an undo the next change has a link, however many notices there were', async (t) => {
  const { undoToken, ...user } = await createChanged();
  const sends = "mail_sends SET sent_at = array_fill(now(), ARRAY[5]) WHERE purpose = 'email_change'";
  await app.pool.query(`UPDATE ${sends} AND email = $1`, [user.email]);
  t.equal((await undoEmailChange(undoToken)).status, 200);
  t.equal((await confirmReset(await latestResetLink(app, user.email), password)).status, 200);
  const { token } = await logIn(app, user);
  await moveTo(token, newEmail());
  const next = await latestUndoToken(app, user.email);
  t.not(next, undoToken);
  t.equal((await undoEmailChange(next)).status, 200);
});

t.test('undoing the first of two changes voids the second link, but not the reverse', async (t) => {
  for (const first of [true, false]) {
    const user = await createChanged();
    const last = newEmail();
    await moveTo(user.token, last);
    const second = await latestUndoToken(app, user.newEmail);
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
  const squatter = await createUser(app, { email: user.email });
  t.equal((await undoEmailChange(user.undoToken)).status, 200);
  tokenRejected(t, await me(squatter.token), 'revoked');
  rejected(t, await tryLogin(squatter.username), 401, 'invalid_credentials');
  t.equal((await tryLogin(user.email)).body.data.user.id, user.id);
  t.equal((await signUp(signUpBody({ username: squatter.username }))).status, 201, 'the username is free');
});

t.test('an unverified account with a store is email_taken until a reset lets one delete it', async (t) => {
  const user = await createChanged();
  const shop = await createUser(app, { email: user.email });
  await createStore(app, shop.token);
  isTaken(t, await undoEmailChange(user.undoToken), 'token');
  t.equal((await me(user.token)).body.data.email, user.newEmail);
  t.equal((await confirmReset(await newResetLink(app, user.email))).status, 200);
  const account = { ...shop, password: newPassword };
  await deleteAccount(app, { ...account, ...(await logIn(app, account)) });
  t.equal((await undoEmailChange(user.undoToken)).status, 200);
});

t.test('a verified account that has taken the old address is email_taken', async (t) => {
  const user = await createChanged();
  const other = await createVerifiedUser(app, { email: user.email });
  const mailed = (await mailsTo(app, user.email)).length;
  isTaken(t, await undoEmailChange(user.undoToken), 'token');
  t.equal((await me(other.token)).body.data.email, user.email);
  t.equal((await me(user.token)).status, 200, 'no session ended');
  t.equal((await mailsTo(app, user.email)).length, mailed);
});

t.test('of an undo and a sign-up with the old address at once, one succeeds', async (t) => {
  const user = await createChanged();
  const undo = () => undoEmailChange(user.undoToken);
  isTaken(t, await during(t, app, insertUser(user.email), undo), 'token');
  t.equal((await undoEmailChange(user.undoToken)).status, 200, 'the next try deletes the unverified account');
});

t.test('an undo waits for a change in progress, and voids its link', async (t) => {
  const user = await createChanged();
  const proof = await newProof();
  const change = () => changeEmail(user.token, proof);
  const responses = await inOrder(t, app, user, change, () => undoEmailChange(user.undoToken));
  t.strictSame(tally(responses), { 200: 2 });
  t.equal((await tryLogin(user.email)).status, 200);
  t.equal(await countRows(app, 'email_changes WHERE user_id = $1', user.id), 0);
});
