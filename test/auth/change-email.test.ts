import t from 'tap';
import { createTestApp, createUser, logIn, password, verifyEmails } from '../support/app.ts';
import { delayed, invalid, refused, tally, tokenRefused } from '../support/assertions.ts';
import { inParallel, lockRows } from '../support/concurrency.ts';
import { signUpBody, verifyAddress } from './accounts.ts';
import { emailChangeOf } from './email-change.ts';
import {
  createVerifiedUser,
  latestCode,
  latestMail,
  mailsTo,
  newResetLink,
  passTime,
  verifyLinkTokenIn,
} from './mailbox.ts';
import { passwordResetOf } from './password-reset.ts';

const app = await createTestApp({ EMAIL_COOLDOWN: '1s' });
t.teardown(app.close);

const { codeFor, change, changeTo, me, tryLogin } = emailChangeOf(app);
const emailTaken = (answer: { body: { message: string } }) => {
  const { message } = answer.body;
  return { fields: { new_email: [message] }, errors: [{ field: 'new_email', code: 'taken', message }] };
};
let addresses = 0;
const newAddress = () => `moved${++addresses}@new.example.com`;

t.test('a change takes the password and a code of the new address, and ends other sessions', async (t) => {
  const user = await createVerifiedUser(app);
  const other = await logIn(app, user);
  const email = newAddress();
  const code = await codeFor(email);
  const mailed = (await mailsTo(app, user.email)).length;
  const answer = await change(user.token, { new_email: email.toUpperCase(), code });
  t.equal(answer.status, 200, answer.text);
  const { id, username, name } = user;
  t.strictSame(answer.body.data, { id, username, name, email, role: 'user', is_verified: true });
  t.strictSame((await me(user.token)).body.data, answer.body.data);
  tokenRefused(t, await me(other.token), 'revoked');
  t.equal((await tryLogin(email, password)).status, 200);
  refused(t, await tryLogin(user.email, password), 401, 'invalid_credentials');

  const notices = (await mailsTo(app, user.email)).slice(mailed);
  t.equal(notices.length, 1);
  t.match(notices[0]?.subject, '이메일 주소가 변경');
  t.match(notices[0]?.text, 'm***@n***.com');
  t.notOk(`${notices[0]?.text}${notices[0]?.html}`.includes(email), 'the new address is masked');
  refused(t, await change(user.token, { new_email: newAddress(), code }), 400, 'invalid_code', {
    attempts_left: 0,
  });
});

t.test('an unverified account gets a verified address; the old one gets no notice', async (t) => {
  const user = await createUser(app);
  const mailed = (await mailsTo(app, user.email)).length;
  await changeTo(user.token, newAddress());
  t.equal((await me(user.token)).body.data.is_verified, true);
  t.equal((await mailsTo(app, user.email)).length, mailed);
  const { rows } = await app.pool.query('SELECT FROM email_changes WHERE user_id = $1', [user.id]);
  t.equal(rows.length, 0, 'there is nothing to undo');
});

t.test('the old address has no working code, proof or reset link of the account', async (t) => {
  const user = await createVerifiedUser(app);
  const resets = passwordResetOf(app);
  const link = await newResetLink(app, user.email);
  const proof = { verification_token: '00000000-0000-4000-8000-000000000000' };
  await app.pool.query("INSERT INTO email_proofs VALUES ($1, $2, 'a key', now() + interval '1 hour')", [
    proof.verification_token,
    user.email,
  ]);
  await changeTo(user.token, newAddress());
  refused(t, await resets.validate(link), 400, 'reset_link_invalid');
  refused(t, await resets.confirm(link), 400, 'reset_link_invalid');
  t.equal((await tryLogin(user.username, password)).status, 200);
  const { rows } = await app.pool.query('SELECT FROM email_proofs WHERE email = $1', [user.email]);
  t.equal(rows.length, 0);

  // The old address is free again, and a link that was mailed for the first account does not open the next one.
  await createUser(app, { email: user.email });
  refused(t, await resets.validate(link), 400, 'reset_link_invalid');
});

t.test('mails that were queued before the change go to the new address', async (t) => {
  const user = await createVerifiedUser(app);
  const email = newAddress();
  const code = await codeFor(email);
  await app.pool.query(
    `SELECT graphile_worker.add_job('send_mail', json_build_object('kind', 'password_changed', 'idempotency_key', 'late',
       'user_id', $1::int, 'changed_at', 0, 'language', 'ko'), run_at => now() + interval '1 hour')`,
    [user.id],
  );
  t.equal((await change(user.token, { new_email: email, code })).status, 200);
  await app.pool.query(
    "UPDATE graphile_worker._private_jobs SET run_at = now() WHERE payload->>'idempotency_key' = 'late'",
  );
  t.match((await latestMail(app, email)).subject, '비밀번호가 변경');
});

t.test('a wrong password is refused before the code is tried, and counts like a failed login', async (t) => {
  const user = await createUser(app);
  const email = newAddress();
  const code = await codeFor(email);
  for (let attempt = 0; attempt < 10; attempt++) {
    const answer = await change(user.token, { password: 'wrong-password', new_email: email, code: '000000' });
    refused(t, answer, 401, 'invalid_credentials');
  }
  delayed(t, await change(user.token, { new_email: email, code }), 30);
  await app.pool.query('DELETE FROM login_failures');
  t.equal((await change(user.token, { new_email: email, code })).status, 200, 'no attempt was used up');
});

t.test('a code has five attempts', async (t) => {
  const user = await createUser(app);
  const email = newAddress();
  const right = await codeFor(email);
  const wrong = right === '000000' ? '000001' : '000000';
  for (const attempts_left of [4, 3, 2, 1, 0]) {
    const answer = await change(user.token, { new_email: email, code: wrong });
    refused(t, answer, 400, 'invalid_code', { attempts_left });
  }
  const answer = await change(user.token, { new_email: email, code: right });
  delayed(t, answer, 3600);
  t.equal((await me(user.token)).body.data.email, user.email);
});

t.test('the link of the mail proves an address whose code a stranger used up', async (t) => {
  const user = await createUser(app);
  const email = newAddress();
  await codeFor(email);
  const token = verifyLinkTokenIn(await latestMail(app, email));
  const confirm = (body: object) => app.call('POST', '/auth/email-verify/confirm/', { body });
  for (let attempt = 0; attempt < 5; attempt++) await confirm({ email, code: `${attempt}00000` });
  const { verification_token } = (await confirm({ token })).body.data;
  invalid(t, await change(user.token, { new_email: email }), 'code');
  const other = await change(user.token, { new_email: newAddress(), verification_token });
  refused(t, other, 400, 'verification_token_invalid');
  const answer = await change(user.token, { new_email: email, verification_token });
  t.equal(answer.status, 200, answer.text);
  t.match(answer.body.data, { email, is_verified: true });
  const again = await change((await createUser(app)).token, { new_email: email, verification_token });
  refused(t, again, 400, 'verification_token_invalid');
});

t.test('what cannot be a new address is a validation error', async (t) => {
  const user = await createUser(app);
  for (const new_email of ['x', '', user.email, user.email.toUpperCase(), 1]) {
    invalid(t, await change(user.token, { new_email, code: '123456' }), 'new_email');
  }
  invalid(t, await change(user.token, { new_email: newAddress(), code: '12345' }), 'code');
  invalid(
    t,
    await change(user.token, { password: undefined, new_email: newAddress(), code: '123456' }),
    'password',
  );
});

t.test('an address with a verified account has no code', async (t) => {
  const [user, owner] = [await createUser(app), await createVerifiedUser(app)];
  await app.call('POST', '/auth/email-verify/send/', { body: { email: owner.email } });
  t.notMatch((await latestMail(app, owner.email)).text, /^\d{6}$/m);
  const { rows } = await app.pool.query('SELECT id, key_id FROM email_codes WHERE email = $1', [owner.email]);
  t.equal(rows.length, 1);
  const answer = await change(user.token, { new_email: owner.email, code: '123456' });
  refused(t, answer, 400, 'invalid_code', { attempts_left: 4 });
});

t.test('an address that an unverified account has is email_taken, and the code still works', async (t) => {
  const user = await createUser(app);
  const squatter = await createUser(app, { email: newAddress() });
  const body = { new_email: squatter.email };
  const code = await latestCode(app, squatter.email);
  const answer = await change(user.token, { ...body, code });
  refused(t, answer, 409, 'email_taken', emailTaken(answer));
  t.equal((await me(squatter.token)).body.data.email, squatter.email);
  t.equal((await me(user.token)).body.data.email, user.email);
  await app.call('DELETE', '/auth/me/', { token: squatter.token, body: { password } });
  t.equal((await change(user.token, { ...body, code })).status, 200);
});

t.test('of six changes to one address at once, one succeeds', async (t) => {
  const email = newAddress();
  const users = await inParallel(6, () => createUser(app));
  const code = await codeFor(email);
  const answers = await Promise.all(users.map(({ token }) => change(token, { new_email: email, code })));
  t.strictSame(tally(answers), { '200': 1, '400 invalid_code': 5 });
  const { rows } = await app.pool.query('SELECT id FROM users WHERE email = $1', [email]);
  t.equal(rows.length, 1);
});

t.test('of a change and a sign-up with one address at once, one succeeds', async (t) => {
  const user = await createVerifiedUser(app);
  const email = newAddress();
  const code = await codeFor(email);
  // An uncommitted row with the address, as that of a sign-up in progress.
  const signUp = await lockRows(
    t,
    app,
    "INSERT INTO users (username, email, name, password_hash) VALUES ('racer', $1, 'x', 'x')",
    [email],
  );
  const changing = change(user.token, { new_email: email, code });
  await signUp.waiters(1);
  await signUp.release('COMMIT');
  const answer = await changing;
  refused(t, answer, 409, 'email_taken', emailTaken(answer));
  t.equal((await me(user.token)).body.data.email, user.email);
  const notices = (await mailsTo(app, user.email)).filter(({ text }) => text.includes('undo-email-change'));
  t.equal(notices.length, 0, 'no notice of a change that did not happen');
});

t.test('of changes of one account at once, each finds the account as the one before left it', async (t) => {
  const user = await createVerifiedUser(app);
  const emails = [newAddress(), newAddress(), newAddress()];
  const codes: string[] = [];
  for (const email of emails) codes.push(await codeFor(email));
  const sessions = [user, await logIn(app, user), await logIn(app, user)];
  const answers = await inParallel(3, (index) =>
    change(sessions[index]?.token ?? '', { new_email: emails[index], code: codes[index] }),
  );
  t.strictSame(tally(answers), { '200': 1, '401 token_not_valid': 2 });
});

t.test('a change of the password during a change of the address wins or comes before it', async (t) => {
  const user = await createVerifiedUser(app);
  const email = newAddress();
  const code = await codeFor(email);
  const row = await lockRows(t, app, 'SELECT FROM users WHERE id = $1 FOR UPDATE', [user.id]);
  const changing = change(user.token, { new_email: email, code });
  await row.waiters(1);
  await row.release();
  t.equal((await changing).status, 200);

  const next = newAddress();
  const nextCode = await codeFor(next);
  const reset = await lockRows(t, app, "UPDATE users SET password_hash = 'another' WHERE id = $1", [user.id]);
  const late = change(user.token, { new_email: next, code: nextCode });
  await reset.waiters(1);
  await reset.release('COMMIT');
  refused(t, await late, 401, 'invalid_credentials');
  t.equal((await me(user.token)).body.data.email, email);
});

t.test('beyond five notices of changes an hour the address changes without one', async (t) => {
  const user = await createVerifiedUser(app);
  await app.pool.query(
    "INSERT INTO mail_sends (purpose, email, sent_at) VALUES ('email_change', $1, array_fill(now(), ARRAY[5]))",
    [user.email],
  );
  const mailed = (await mailsTo(app, user.email)).length;
  await changeTo(user.token, newAddress());
  t.equal((await mailsTo(app, user.email)).length, mailed);
});

t.test('a verification_token of the old address signs up no account after the change', async (t) => {
  const email = newAddress();
  const verification_token = await verifyAddress(app, email);
  const user = await createUser(app);
  await passTime(app, email, 3600);
  await changeTo(user.token, email);
  await verifyEmails(app, user);
  await passTime(app, email, 3600);
  await changeTo(user.token, newAddress());
  const answer = await app.call('POST', '/auth/signup/', { body: signUpBody({ email, verification_token }) });
  refused(t, answer, 400, 'verification_token_invalid');
});
