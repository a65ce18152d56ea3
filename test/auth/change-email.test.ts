import t from 'tap';
import { createTestApp, createUser, deleteAccount, logIn } from '../support/app.ts';
import { delayed, invalid, rejected, tally, tokenRejected } from '../support/assertions.ts';
import { during, inParallel } from '../support/concurrency.ts';
import { countRows } from '../support/rows.ts';
import { accountsOf, insertUser, isTaken, newEmail, otherThan } from './accounts.ts';
import { asPasted } from './authenticator.ts';
import { createVerifiedUser, latestMail, mailsTo, newResetLink, verifyLinkTokenIn } from './mailbox.ts';

const app = await createTestApp();

const { me, tryLogin, sendCode, newCode, newProof, confirm, changeEmail, moveTo } = accountsOf(app);
const { validateReset, confirmReset } = accountsOf(app);

t.test('a change takes the password and a code of the new address, and ends other sessions', async (t) => {
  const user = await createVerifiedUser(app);
  const other = await logIn(app, user);
  const { new_email: email, code } = await newProof();
  const response = await changeEmail(user.token, { new_email: email.toUpperCase(), code: asPasted(code) });
  const { id, username, name } = user;
  t.strictSame(response.body.data, { id, username, name, email, role: 'user', is_verified: true });
  t.strictSame((await me(user.token)).body.data, response.body.data);
  tokenRejected(t, await me(other.token), 'revoked');
  t.equal((await tryLogin(email)).status, 200);
  rejected(t, await tryLogin(user.email), 401, 'invalid_credentials');

  const [notice, ...others] = await mailsTo(app, user.email);
  t.match(notice, { subject: '이메일 주소가 변경', text: 'm***@n***.com' });
  t.notOk(`${notice?.text}${notice?.html}`.includes(email), 'the new address is masked');
  t.strictSame(others, []);
  const again = await changeEmail(user.token, { new_email: newEmail(), code });
  rejected(t, again, 400, 'invalid_code', { attempts_left: 0 });
});

t.test('an unverified account gets a verified address; the old one gets no notice', async (t) => {
  const user = await createUser(app);
  await moveTo(user.token, newEmail());
  t.equal((await me(user.token)).body.data.is_verified, true);
  t.strictSame(await mailsTo(app, user.email), []);
  t.equal(await countRows(app, 'email_changes WHERE user_id = $1', user.id), 0, 'there is nothing to undo');
});

t.test('the old address has no working code, proof or reset link of the account', async (t) => {
  const user = await createVerifiedUser(app);
  const link = await newResetLink(app, user.email);
  const proof = "INSERT INTO email_proofs VALUES (gen_random_uuid(), $1, 'a key', now() + interval '1 hour')";
  await app.pool.query(proof, [user.email]);
  await moveTo(user.token, newEmail());
  rejected(t, await validateReset(link), 400, 'reset_link_invalid');
  rejected(t, await confirmReset(link), 400, 'reset_link_invalid');
  t.equal((await tryLogin(user.username)).status, 200);
  t.equal(await countRows(app, 'email_proofs WHERE email = $1', user.email), 0);

  // The old address is free again, and a link that was mailed for the first account does not open the next one.
  await createUser(app, { email: user.email });
  rejected(t, await validateReset(link), 400, 'reset_link_invalid');
});

t.test('a wrong password is rejected before the code is tried', async (t) => {
  const user = await createUser(app);
  const proof = await newProof();
  const wrong = { ...proof, password: 'wrong-password', code: '000000' };
  for (let attempt = 0; attempt < 5; attempt++) {
    rejected(t, await changeEmail(user.token, wrong), 401, 'invalid_credentials');
  }
  t.equal((await changeEmail(user.token, proof)).status, 200, 'no attempt was used up');
});

t.test('a code has five attempts; the link of the email still proves the address', async (t) => {
  const user = await createUser(app);
  const { new_email: email, code: right } = await newProof();
  const token = verifyLinkTokenIn(await latestMail(app, email));
  const change = (code: string) => changeEmail(user.token, { new_email: email, code });
  for (const attempts_left of [4, 3, 2, 1, 0])
    rejected(t, await change(otherThan(right)), 400, 'invalid_code', { attempts_left });
  delayed(t, await change(right), 3600);
  const { verification_token } = (await confirm({ token })).body.data;
  invalid(t, await changeEmail(user.token, { new_email: email }), 'code');
  const other = await changeEmail(user.token, { new_email: newEmail(), verification_token });
  rejected(t, other, 400, 'verification_token_invalid');
  const response = await changeEmail(user.token, { new_email: email, verification_token });
  t.match(response.body.data, { email, is_verified: true });
  const again = await changeEmail((await createUser(app)).token, { new_email: email, verification_token });
  rejected(t, again, 400, 'verification_token_invalid');
});

t.test('the address that an account has is no new one', async (t) => {
  const user = await createUser(app);
  for (const new_email of [user.email, user.email.toUpperCase()])
    invalid(t, await changeEmail(user.token, { new_email, code: '123456' }), 'new_email');
});

t.test('an address with a verified account has no code', async (t) => {
  const [user, owner] = [await createUser(app), await createVerifiedUser(app)];
  await sendCode(owner.email);
  t.equal(await countRows(app, 'email_codes WHERE email = $1', owner.email), 1);
  const response = await changeEmail(user.token, { new_email: owner.email, code: '123456' });
  rejected(t, response, 400, 'invalid_code', { attempts_left: 4 });
});

t.test('an address that an unverified account has is email_taken, and the code still works', async (t) => {
  const [user, squatter] = [await createUser(app), await createUser(app)];
  const body = { new_email: squatter.email, code: await newCode(squatter.email) };
  isTaken(t, await changeEmail(user.token, body), 'new_email');
  t.equal((await me(squatter.token)).body.data.email, squatter.email);
  t.equal((await me(user.token)).body.data.email, user.email);
  await deleteAccount(app, squatter);
  t.equal((await changeEmail(user.token, body)).status, 200);
});

t.test('of six changes to one address at once, one succeeds', async (t) => {
  const users = await inParallel(6, () => createUser(app));
  const proof = await newProof();
  const changes = users.map(({ token }) => changeEmail(token, proof));
  t.strictSame(tally(await Promise.all(changes)), { '200': 1, '400 invalid_code': 5 });
  t.equal(await countRows(app, 'users WHERE email = $1', proof.new_email), 1);
});

t.test('of a change and a sign-up with one address at once, one succeeds', async (t) => {
  const user = await createVerifiedUser(app);
  const proof = await newProof();
  const change = () => changeEmail(user.token, proof);
  isTaken(t, await during(t, app, insertUser(proof.new_email), change), 'new_email');
  t.equal((await me(user.token)).body.data.email, user.email);
  t.strictSame(await mailsTo(app, user.email), [], 'no notice of a change that did not happen');
});

t.test('of changes of one account at once, each finds the account as the one before left it', async (t) => {
  const user = await createVerifiedUser(app);
  const sessions = [user, await logIn(app, user), await logIn(app, user)];
  const proofs = [await newProof(), await newProof(), await newProof()];
  const changes = sessions.map(({ token }, index) => changeEmail(token, proofs[index] ?? {}));
  t.strictSame(tally(await Promise.all(changes)), { '200': 1, '401 token_not_valid': 2 });
});

t.test('a change of the password during a change of the address wins or comes before it', async (t) => {
  const user = await createVerifiedUser(app);
  const [proof, next] = [await newProof(), await newProof()];
  const reset: [string, number] = ["UPDATE users SET password_hash = 'another' WHERE id = $1", user.id];
  const change = () => changeEmail(user.token, proof);
  t.equal((await during(t, app, reset, change, 'ROLLBACK')).status, 200);
  const late = () => changeEmail(user.token, next);
  rejected(t, await during(t, app, reset, late), 401, 'invalid_credentials');
  t.equal((await me(user.token)).body.data.email, proof.new_email);
});

t.test('beyond five notices of changes an hour the address changes without one', async (t) => {
  const user = await createVerifiedUser(app);
  await app.pool.query(
    "INSERT INTO mail_sends (purpose, email, sent_at) VALUES ('email_change', $1, array_fill(now(), ARRAY[5]))",
    [user.email],
  );
  await moveTo(user.token, newEmail());
  t.strictSame(await mailsTo(app, user.email), []);
});
