import t, { type Test } from 'tap';
import { createTestApp, createUser, logIn, signUpUser, type TestResponse } from '../support/app.ts';
import { delayed, invalid, rejected, tally, tokenRejected } from '../support/assertions.ts';
import { inParallel } from '../support/concurrency.ts';
import { accountsOf, otherThan, signUpBody } from './accounts.ts';
import { asPasted } from './authenticator.ts';
import { latestCode, latestMail, mailsTo, newResetLink, passTime, verifyLinkTokenIn } from './mailbox.ts';

const app = await createTestApp();

const hour = 3600;
const { post, signUp, logOut, sendCode, newCode, newProof, confirm } = accountsOf(app);
const { confirmReset, isVerified } = accountsOf(app);
const confirmCode = (email: unknown, code: unknown, token?: string) => confirm({ email, code }, token);

async function newLinkToken(email: string): Promise<string> {
  await sendCode(email);
  return verifyLinkTokenIn(await latestMail(app, email));
}

function linkRejected(t: Test, response: TestResponse): void {
  rejected(t, response, 400, 'invalid_code', { attempts_left: 0 });
  t.match(response.body.message, '링크');
}

t.test('a new code voids the old one', async (t) => {
  const { new_email: email, code: first } = await newProof();
  await passTime(app, email, 60);
  const second = await newCode(email);
  t.not(second, first);
  rejected(t, await confirmCode(email, first), 400, 'invalid_code', { attempts_left: 4 });
  t.equal((await confirmCode(email, second)).status, 200);
});

t.test('no code works for a verified account, and its attempts are counted', async (t) => {
  const user = await createUser(app);
  const code = await newCode(user.email);
  // A completed reset verifies the address as well, and leaves the code that was mailed before.
  const link = await newResetLink(app, user.email);
  t.equal((await confirmReset(link)).status, 200);
  for (const attempts_left of [4, 3, 2, 1, 0]) {
    rejected(t, await confirmCode(user.email, code), 400, 'invalid_code', { attempts_left });
  }
  delayed(t, await confirmCode(user.email, code), 60);
  await passTime(app, user.email, 60);
  await sendCode(user.email);
  rejected(t, await confirmCode(user.email, '000000'), 400, 'invalid_code', { attempts_left: 4 });
});

t.test('a code has five attempts, then even the right one is 429 until a new code is sent', async (t) => {
  const user = await createUser(app);
  const code = await newCode(user.email);
  for (const attempts_left of [4, 3, 2, 1, 0]) {
    rejected(t, await confirmCode(user.email, otherThan(code)), 400, 'invalid_code', { attempts_left });
  }
  delayed(t, await confirmCode(user.email, otherThan(code)), 60);
  delayed(t, await confirmCode(user.email, code), 60);
  t.equal(await isVerified(user.token), false);
  await passTime(app, user.email, 60);
  t.equal((await confirmCode(user.email, await newCode(user.email))).status, 200);
});

t.test('a code works for ten minutes', async (t) => {
  const confirmAfter = async (email: string, seconds: number) => {
    const code = await newCode(email);
    const age = `expires_at = expires_at - interval '${seconds} seconds'`;
    await app.pool.query(`UPDATE email_codes SET ${age} WHERE email = $1`, [email]);
    return confirmCode(email, code);
  };
  t.equal((await confirmAfter('young-code@example.com', 480)).status, 200);
  const late = await confirmAfter('old-code@example.com', 600);
  rejected(t, late, 400, 'invalid_code', { attempts_left: 0 });
});

t.test('of 20 concurrent uses of the right code, one succeeds', async (t) => {
  const { new_email: email, code } = await newProof();
  const responses = await inParallel(20, () => confirmCode(email, code));
  t.strictSame(tally(responses), { '200': 1, '400 invalid_code': 19 });
});

t.test('of 20 concurrent wrong codes, five are checked', async (t) => {
  const { new_email: email, code } = await newProof();
  const responses = await inParallel(20, () => confirmCode(email, otherThan(code)));
  t.strictSame(tally(responses), { '400 invalid_code': 5, '429 too_many_attempts': 15 });
  const left = responses.filter(({ status }) => status === 400).map(({ body }) => body.data.attempts_left);
  t.strictSame(left.sort(), [0, 1, 2, 3, 4]);
});

t.test('a code belongs to its address', async (t) => {
  const unsent = await confirmCode('never-sent@example.com', '123456');
  rejected(t, unsent, 400, 'invalid_code', { attempts_left: 0 });
  const foreign = await newCode('code-owner@example.com');
  const { new_email: email, code } = await newProof();
  rejected(t, await confirmCode(email, foreign), 400, 'invalid_code', { attempts_left: 4 });
  t.equal((await confirmCode(email, code)).status, 200);
});

t.test('anything but six digits is a validation error and not an attempt', async (t) => {
  const { new_email: email, code } = await newProof();
  const texts = ['', '12345', '1234567', '12 456', 'abcdef', '1².456', '+12345'];
  for (const given of texts) invalid(t, await confirmCode(email, given), 'code');
  rejected(t, await confirmCode(email, otherThan(code)), 400, 'invalid_code', { attempts_left: 4 });
  t.equal((await confirmCode(email, ` ${asPasted(code)}\n`)).status, 200);
});

t.test('an email is trimmed and lower-cased', async (t) => {
  const email = 'folded@example.com';
  t.equal((await sendCode('  Folded@EXAMPLE.com ')).status, 200);
  const response = await confirmCode(' fOLDED@Example.Com', await latestCode(app, email));
  t.equal(response.body.data.email, email);
});

t.test('a concurrent sign-up and send mail one code', async (t) => {
  const email = 'both-at-once@example.com';
  const responses = await Promise.all([signUp(signUpBody({ email })), sendCode(email), sendCode(email)]);
  t.strictSame(tally(responses), { '201': 1, '200': 2 });
  t.equal((await mailsTo(app, email)).length, 1);
  t.equal((await confirmCode(email, await latestCode(app, email))).status, 200);
});

t.test('a clock that is set back does not lengthen the cooldown', async (t) => {
  const email = 'clock@example.com';
  await sendCode(email);
  await passTime(app, email, -hour);
  t.ok((await sendCode(email)).body.data.resend_after <= 60);
  t.equal((await mailsTo(app, email)).length, 1);
});

t.test('a send inside the cooldown keeps the code', async (t) => {
  const { new_email: email, code } = await newProof();
  await confirmCode(email, otherThan(code));
  await sendCode(email);
  for (const attempts_left of [3, 2, 1]) {
    rejected(t, await confirmCode(email, otherThan(code)), 400, 'invalid_code', { attempts_left });
  }
  t.equal((await confirmCode(email, code)).status, 200, 'at the fifth attempt');
});

t.test('a sign-up inside the cooldown sends nothing; the earlier code verifies it', async (t) => {
  const { new_email: email, code } = await newProof();
  const { token } = await signUpUser(app, { email });
  t.equal((await mailsTo(app, email)).length, 1);
  t.equal(await isVerified(token), false);
  t.equal((await confirmCode(email, code, token)).status, 200);
  t.equal(await isVerified(token), true);
});

t.test('a code or link verifies an account only with its access token', async (t) => {
  const other = await createUser(app);
  for (const isLink of [false, true]) {
    const user = await createUser(app);
    const { email } = user;
    const next = async () => {
      await passTime(app, email, hour);
      return isLink ? { token: await newLinkToken(email) } : { email, code: await newCode(email) };
    };
    for (const token of [undefined, other.token]) {
      t.equal((await confirm(await next(), token)).status, 200);
      for (const one of [user, other]) t.equal(await isVerified(one.token), false);
    }
    const { data } = (await confirm(await next(), user.token)).body;
    const { verification_token } = data;
    t.strictSame(data, { email, verification_token, expires_in: 1800 });
    t.match(verification_token, /^.{22,}$/);
    t.equal(await isVerified(user.token), true);
  }
});

t.test('the link works after the last attempt of the code, once, and until a new code is sent', async (t) => {
  const { email, token } = await createUser(app);
  const first = await newLinkToken(email);
  await passTime(app, email, hour);
  const link = { token: await newLinkToken(email) };
  linkRejected(t, await confirm({ token: first }, token));
  const right = await latestCode(app, email);
  for (let attempt = 0; attempt < 5; attempt++) await confirmCode(email, otherThan(right), token);
  t.equal((await confirm({ email, code: right }, token)).status, 429);
  const forged = link.token.replace(/[^.]+$/, 'x'.repeat(43));
  for (const bad of [forged, `${link.token}x`, link.token.slice(0, -1), first, 'x', right]) {
    linkRejected(t, await confirm({ token: bad }, token));
  }
  t.equal(await isVerified(token), false);
  t.equal((await confirm(link, token)).status, 200);
  t.equal(await isVerified(token), true);
  linkRejected(t, await confirm(link, token));
});

t.test('using the code or the link uses up both, and they expire together', async (t) => {
  const email = 'both@example.com';
  const next = async () => {
    await passTime(app, email, hour);
    const token = await newLinkToken(email);
    return { link: { token }, code: { email, code: await latestCode(app, email) } };
  };
  const one = await next();
  t.equal((await confirm(one.code)).status, 200);
  linkRejected(t, await confirm(one.link));
  const two = await next();
  const uses = await inParallel(6, () => confirm(two.link));
  t.strictSame(tally(uses), { 200: 1, '400 invalid_code': 5 });
  rejected(t, await confirm(two.code), 400, 'invalid_code', { attempts_left: 0 });
  const three = await next();
  await app.pool.query('UPDATE email_codes SET expires_at = now() WHERE email = $1', [email]);
  linkRejected(t, await confirm(three.link));
  const { verification_token } = (await confirm((await next()).code)).body.data;
  linkRejected(t, await confirm({ token: verification_token }));
});

t.test('a body is either a code or a link', async (t) => {
  const [email, code, token] = ['one@example.com', '123456', 'x'];
  invalid(t, await confirm({ email }), 'code', 'token');
  invalid(t, await confirm({ email, code, token }), 'code', 'token');
  invalid(t, await confirm({ email, token }), 'email');
});

t.test('send and confirm reject an access token that is not valid, and do nothing', async (t) => {
  const user = await createUser(app);
  const ended = await logIn(app, user);
  await logOut(ended.token);
  const code = await newCode(user.email);
  await passTime(app, user.email, hour);
  for (const [token, reason] of [
    ['x', 'malformed'],
    [ended.token, 'revoked'],
    [user.refresh, 'wrong_type'],
  ] as const) {
    tokenRejected(t, await sendCode(user.email, token), reason);
    tokenRejected(t, await confirm({ email: user.email, code }, token), reason);
  }
  t.equal((await mailsTo(app, user.email)).length, 1);
  const headers = { authorization: 'Basic dXNlcjpwYXNzd29yZA==' };
  const response = await post('email-verify/confirm', { email: user.email, code }, { headers });
  t.equal(response.status, 200, 'other credentials are ignored, and the code still works');
});
