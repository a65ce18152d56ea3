import t from 'tap';
import { createTestApp, createUser, password } from '../support/app.ts';
import { delayed, invalid, refused, tally } from '../support/assertions.ts';
import { inParallel } from '../support/concurrency.ts';
import { createVerifiedUser, latestCode, latestMail, mailsTo, newResetLink, passTime } from './mailbox.ts';

const app = await createTestApp();
t.teardown(app.close);

const send = (email: unknown) => app.call('POST', '/auth/email-verify/send/', { body: { email } });
const confirm = (email: unknown, code: unknown, token?: string) =>
  app.call('POST', '/auth/email-verify/confirm/', { body: { email, code }, token });
const me = (token: string) => app.call('GET', '/auth/me/', { token });
const signUp = (fields: Record<string, unknown>) =>
  app.call('POST', '/auth/signup/', { body: { name: '김두레', password, ...fields } });
const other = (code: string) => String((Number(code) + 1) % 1_000_000).padStart(6, '0');

async function newCode(email: string): Promise<string> {
  await send(email);
  return latestCode(app, email);
}

t.test('a new code voids the old one', async (t) => {
  const email = 'two-codes@example.com';
  const first = await newCode(email);
  await passTime(app, email, 60);
  const second = await newCode(email);
  t.not(second, first);
  refused(t, await confirm(email, first), 400, 'invalid_code', { attempts_left: 4 });
  t.equal((await confirm(email, second)).status, 200);
});

t.test('a verified account gets a "you already have an account" mail instead of a code', async (t) => {
  const user = await createVerifiedUser(app);
  t.equal((await send(user.email)).status, 200);
  const mail = await latestMail(app, user.email);
  t.match(mail.subject, '이미 가입된');
  t.match(mail.text, user.username);
  t.notMatch(mail.text, /(?<!\w)\d{6}(?!\w)/);
});

t.test('no code works for a verified account, and its attempts are counted', async (t) => {
  const user = await createUser(app);
  const code = await latestCode(app, user.email);
  // A completed reset verifies the address as well, and leaves the code that was mailed before.
  const link = await newResetLink(app, user.email);
  const body = { ...link, new_password: `${password}-new` };
  t.equal((await app.call('POST', '/auth/reset-password-confirm/', { body })).status, 200);
  for (const attempts_left of [4, 3, 2, 1, 0]) {
    refused(t, await confirm(user.email, code), 400, 'invalid_code', { attempts_left });
  }
  delayed(t, await confirm(user.email, code), 60);
  await passTime(app, user.email, 60);
  await send(user.email);
  refused(t, await confirm(user.email, '000000'), 400, 'invalid_code', { attempts_left: 4 });
});

t.test('the right code verifies the unverified account of the address and gives a token', async (t) => {
  const user = await createUser(app);
  t.equal((await me(user.token)).body.data.is_verified, false);
  const answer = await confirm(user.email, await latestCode(app, user.email), user.token);
  t.equal(answer.status, 200);
  t.equal(answer.body.success, true);
  const { verification_token } = answer.body.data;
  t.strictSame(answer.body.data, { email: user.email, verification_token, expires_in: 1800 });
  t.ok(typeof verification_token === 'string' && verification_token.length >= 22);
  t.equal((await me(user.token)).body.data.is_verified, true);
});

t.test('the right code of an address without an account creates no account', async (t) => {
  const email = 'only-proved@example.com';
  t.equal((await confirm(email, await newCode(email))).status, 200);
  const { rows } = await app.pool.query('SELECT 1 FROM users WHERE email = $1', [email]);
  t.equal(rows.length, 0);
});

t.test('a code has five attempts, then even the right one is 429 until a new code is sent', async (t) => {
  const user = await createUser(app);
  const code = await latestCode(app, user.email);
  for (const attempts_left of [4, 3, 2, 1, 0]) {
    refused(t, await confirm(user.email, other(code)), 400, 'invalid_code', { attempts_left });
  }
  delayed(t, await confirm(user.email, other(code)), 60);
  delayed(t, await confirm(user.email, code), 60);
  t.equal((await me(user.token)).body.data.is_verified, false);
  await passTime(app, user.email, 60);
  t.equal((await confirm(user.email, await newCode(user.email))).status, 200);
});

t.test('the right code works after four wrong attempts', async (t) => {
  const email = 'fifth-try@example.com';
  const code = await newCode(email);
  for (let tries = 0; tries < 4; tries++) await confirm(email, other(code));
  t.equal((await confirm(email, code)).status, 200);
});

t.test('a code works for ten minutes', async (t) => {
  for (const [email, age, status] of [
    ['young-code@example.com', 590, 200],
    ['old-code@example.com', 600, 400],
  ] as const) {
    const code = await newCode(email);
    await app.pool.query(
      'UPDATE email_codes SET expires_at = expires_at - make_interval(secs => $2) WHERE email = $1',
      [email, age],
    );
    const answer = await confirm(email, code);
    t.equal(answer.status, status);
    if (status === 400) refused(t, answer, 400, 'invalid_code', { attempts_left: 0 });
  }
});

t.test('a code works once', async (t) => {
  const email = 'used-code@example.com';
  const code = await newCode(email);
  t.equal((await confirm(email, code)).status, 200);
  refused(t, await confirm(email, code), 400, 'invalid_code', { attempts_left: 0 });
});

t.test('of 20 concurrent uses of the right code, one succeeds', async (t) => {
  const email = 'twenty-right@example.com';
  const code = await newCode(email);
  const answers = await inParallel(20, () => confirm(email, code));
  t.strictSame(tally(answers), { '200': 1, '400 invalid_code': 19 });
});

t.test('of 20 concurrent wrong codes, five are checked', async (t) => {
  const email = 'twenty-wrong@example.com';
  const code = await newCode(email);
  const answers = await inParallel(20, () => confirm(email, other(code)));
  t.strictSame(tally(answers), { '400 invalid_code': 5, '429 too_many_attempts': 15 });
  const left = answers.filter(({ status }) => status === 400).map(({ body }) => body.data.attempts_left);
  t.strictSame(left.sort(), [0, 1, 2, 3, 4]);
});

t.test('an address without a code cannot be confirmed', async (t) => {
  const answer = await confirm('never-sent@example.com', '123456');
  refused(t, answer, 400, 'invalid_code', { attempts_left: 0 });
});

t.test('a code belongs to its address', async (t) => {
  const code = await newCode('code-owner@example.com');
  const others = await newCode('code-taker@example.com');
  const answer = await confirm('code-taker@example.com', code);
  refused(t, answer, 400, 'invalid_code', { attempts_left: 4 });
  t.equal((await confirm('code-taker@example.com', others)).status, 200);
});

t.test('anything but six digits is a validation error and not an attempt', async (t) => {
  const email = 'formats@example.com';
  const code = await newCode(email);
  for (const wrong of [
    '',
    '12345',
    '1234567',
    '12 456',
    'abcdef',
    '１２３４５６',
    '+12345',
    123456,
    null,
    [code],
  ]) {
    invalid(t, await confirm(email, wrong), 'code');
  }
  invalid(t, await confirm(email, undefined), 'code');
  refused(t, await confirm(email, other(code)), 400, 'invalid_code', { attempts_left: 4 });
  t.equal((await confirm(email, ` ${code}\n`)).status, 200, 'white space around a pasted code is trimmed');
});

t.test('an address is trimmed and case-folded', async (t) => {
  const email = 'folded@example.com';
  t.equal((await send('  Folded@EXAMPLE.com ')).status, 200);
  const [mail] = await mailsTo(app, email);
  t.ok(mail, 'the mail goes to the folded address');
  await send('FOLDED@example.com');
  t.equal(app.mails.sent.filter(({ to }) => to.toLowerCase() === email).length, 1, 'one cooldown');
  const answer = await confirm(' fOLDED@Example.Com', await latestCode(app, email));
  t.equal(answer.status, 200);
  t.equal(answer.body.data.email, email);
  const signup = await signUp({
    username: 'folded',
    email: 'Folded@Example.com',
    verification_token: answer.body.data.verification_token,
  });
  t.equal(signup.status, 201);
  t.equal(signup.body.data.is_verified, true);
});
