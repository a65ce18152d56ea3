import t from 'tap';
import { createTestApp, createUser, password } from '../support/app.ts';
import { delayed, invalid, refused, tally } from '../support/assertions.ts';
import { inParallel } from '../support/concurrency.ts';
import {
  about,
  comparable,
  createVerifiedUser,
  latestCode,
  latestMail,
  mailsTo,
  newResetLink,
  passTime,
} from './mailbox.ts';

const app = await createTestApp();
t.teardown(app.close);

const hour = 3600;
const send = (email: unknown) => app.call('POST', '/auth/email-verify/send/', { body: { email } });
const confirm = (email: unknown, code: unknown) =>
  app.call('POST', '/auth/email-verify/confirm/', { body: { email, code } });
const me = (token: string) => app.call('GET', '/auth/me/', { token });
const signUp = (fields: Record<string, unknown>) =>
  app.call('POST', '/auth/signup/', { body: { name: '김두레', password, ...fields } });
const other = (code: string) => String((Number(code) + 1) % 1_000_000).padStart(6, '0');

async function newCode(email: string): Promise<string> {
  await send(email);
  return latestCode(app, email);
}

t.test('send answers the same, whoever the address belongs to', async (t) => {
  const unverified = await createUser(app);
  await passTime(app, unverified.email, hour);
  const verified = await createVerifiedUser(app);
  const answers = [];
  for (const email of ['nobody-at-all@example.com', unverified.email, verified.email]) {
    answers.push(await send(email));
  }
  const [nobody, ...others] = answers.map(comparable);
  t.equal(nobody?.status, 200);
  t.strictSame(answers[0]?.body.data, { expires_in: 600, resend_after: 60 });
  t.equal(answers[0]?.body.success, true);
  for (const answer of others) t.strictSame(answer, nobody);
});

t.test('resend_after counts down alike for any address, and no mail goes out meanwhile', async (t) => {
  const unverified = await createUser(app);
  const verified = await createVerifiedUser(app);
  const emails = ['counted-down@example.com', unverified.email, verified.email];
  for (const email of emails) {
    await passTime(app, email, hour);
    await send(email);
    const mailed = (await mailsTo(app, email)).length;
    await passTime(app, email, 20);
    const { expires_in, resend_after } = (await send(email)).body.data;
    t.equal(expires_in, 600);
    about(t, resend_after, 40);
    await passTime(app, email, 30);
    about(t, (await send(email)).body.data.resend_after, 10);
    t.equal((await mailsTo(app, email)).length, mailed, `no mail to ${email} inside the cooldown`);
    await passTime(app, email, 10);
    t.equal((await send(email)).body.data.resend_after, 60, email);
    t.equal((await mailsTo(app, email)).length, mailed + 1, `a mail to ${email} after the cooldown`);
  }
});

t.test('five sends an hour go to an address; then resend_after says when the hour is over', async (t) => {
  const user = await createVerifiedUser(app);
  for (const email of ['capped@example.com', user.email]) {
    const before = (await mailsTo(app, email)).length;
    const waits = [];
    for (let sends = 0; sends < 6; sends++) {
      waits.push((await send(email)).body.data.resend_after);
      // A code that the next one voids before it was mailed is not mailed any more.
      await app.mails.settled();
      await passTime(app, email, 60);
    }
    t.strictSame(waits.slice(0, 4), [60, 60, 60, 60]);
    // The first of the five is 240 s old when the fifth goes out, and 300 s when the sixth is asked for.
    about(t, waits[4], hour - 240);
    about(t, waits[5], hour - 300);
    t.equal((await mailsTo(app, email)).length - before, 5);
    await passTime(app, email, hour - 360);
    t.ok((await send(email)).body.data.resend_after > 0);
    t.equal((await mailsTo(app, email)).length - before, 6, 'the hour of the first one is over');
  }
});

t.test('twenty sends at once mail one code', async (t) => {
  const email = 'twenty-sends@example.com';
  const answers = await inParallel(20, () => send(email));
  t.strictSame(tally(answers), { '200': 20 });
  for (const { body } of answers) about(t, body.data.resend_after, 60);
  t.equal((await mailsTo(app, email)).length, 1);
  t.equal((await confirm(email, await latestCode(app, email))).status, 200);
});

t.test('a sign-up and a send at once mail one code', async (t) => {
  const email = 'both-at-once@example.com';
  const answers = await Promise.all([signUp({ username: 'both-at-once', email }), send(email), send(email)]);
  t.strictSame(tally(answers), { '201': 1, '200': 2 });
  t.equal((await mailsTo(app, email)).length, 1);
  t.equal((await confirm(email, await latestCode(app, email))).status, 200);
});

t.test('a clock that was set back does not lengthen the cooldown', async (t) => {
  const email = 'clock@example.com';
  await send(email);
  await passTime(app, email, -hour);
  about(t, (await send(email)).body.data.resend_after, 60);
  t.equal((await mailsTo(app, email)).length, 1);
});

t.test('a new code voids the old one', async (t) => {
  const email = 'two-codes@example.com';
  const first = await newCode(email);
  await passTime(app, email, 60);
  const second = await newCode(email);
  t.not(second, first);
  refused(t, await confirm(email, first), 400, 'invalid_code', { attempts_left: 4 });
  t.equal((await confirm(email, second)).status, 200);
});

t.test('a send inside the cooldown leaves the code as it is', async (t) => {
  const email = 'kept-code@example.com';
  const code = await newCode(email);
  await confirm(email, other(code));
  await send(email);
  refused(t, await confirm(email, other(code)), 400, 'invalid_code', { attempts_left: 3 });
  t.equal((await confirm(email, code)).status, 200);
});

t.test('the code that signup mails starts the cooldown', async (t) => {
  const user = await createUser(app);
  const code = await latestCode(app, user.email);
  about(t, (await send(user.email)).body.data.resend_after, 60);
  t.equal((await mailsTo(app, user.email)).length, 1);
  t.equal((await confirm(user.email, code)).status, 200);
});

t.test('signup inside the cooldown mails nothing more, and the code at hand verifies it', async (t) => {
  const email = 'sent-before@example.com';
  const code = await newCode(email);
  const signup = await signUp({ username: 'sent-before', email });
  t.equal(signup.status, 201);
  t.equal(signup.body.data.is_verified, false);
  t.equal((await mailsTo(app, email)).length, 1);
  t.equal((await confirm(email, code)).status, 200);
});

t.test('a verified account gets a "you already have an account" mail instead of a code', async (t) => {
  const user = await createVerifiedUser(app);
  t.equal((await send(user.email)).status, 200);
  const mail = await latestMail(app, user.email);
  t.match(mail.subject, '이미 가입된');
  t.match(mail.text, user.username);
  t.notMatch(mail.text, /(?<!\w)\d{6}(?!\w)/);
});

t.test('no code works for a verified account, and its tries are counted like any other', async (t) => {
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
  const answer = await confirm(user.email, await latestCode(app, user.email));
  t.equal(answer.status, 200);
  t.equal(answer.body.success, true);
  const { verification_token } = answer.body.data;
  t.strictSame(answer.body.data, { email: user.email, verification_token, expires_in: 1800 });
  t.ok(typeof verification_token === 'string' && verification_token.length >= 22);
  t.equal((await me(user.token)).body.data.is_verified, true);
});

t.test('the right code of an address without an account makes no account', async (t) => {
  const email = 'only-proved@example.com';
  t.equal((await confirm(email, await newCode(email))).status, 200);
  const { rows } = await app.pool.query('SELECT 1 FROM users WHERE email = $1', [email]);
  t.equal(rows.length, 0);
});

t.test('a code has five tries, then even the right one is 429 until a new code comes', async (t) => {
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

t.test('four wrong tries leave the right one', async (t) => {
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

t.test('of twenty uses of the right code at once, one succeeds', async (t) => {
  const email = 'twenty-right@example.com';
  const code = await newCode(email);
  const answers = await inParallel(20, () => confirm(email, code));
  t.strictSame(tally(answers), { '200': 1, '400 invalid_code': 19 });
});

t.test('of twenty wrong codes at once, five are tried', async (t) => {
  const email = 'twenty-wrong@example.com';
  const code = await newCode(email);
  const answers = await inParallel(20, () => confirm(email, other(code)));
  t.strictSame(tally(answers), { '400 invalid_code': 5, '429 too_many_attempts': 15 });
  const left = answers.filter(({ status }) => status === 400).map(({ body }) => body.data.attempts_left);
  t.strictSame(left.sort(), [0, 1, 2, 3, 4]);
});

t.test('an address that was sent no code has none to confirm', async (t) => {
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

t.test('what is no six digits is a validation error and costs no try', async (t) => {
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

t.test('an address is the same in capitals and with space around it', async (t) => {
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
