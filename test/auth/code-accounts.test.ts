import t, { type Test } from 'tap';
import { type Answer, createTestApp, createUser, logIn } from '../support/app.ts';
import { invalid, refused, tally, tokenRefused } from '../support/assertions.ts';
import { inParallel } from '../support/concurrency.ts';
import {
  createUnverifiedUser,
  latestCode,
  latestMail,
  mailsTo,
  passTime,
  verifyLinkTokenIn,
} from './mailbox.ts';

const app = await createTestApp();
t.teardown(app.close);

const send = (email: string, token?: string) =>
  app.call('POST', '/auth/email-verify/send/', { body: { email }, token });
const confirm = (body: Record<string, unknown>, token?: string) =>
  app.call('POST', '/auth/email-verify/confirm/', { body, token });
const isVerified = async (token: string) =>
  (await app.call('GET', '/auth/me/', { token })).body.data.is_verified;

/** A code that a stranger asked for. */
async function newCode(email: string): Promise<string> {
  await send(email);
  return latestCode(app, email);
}

async function newLinkToken(email: string): Promise<string> {
  await send(email);
  return verifyLinkTokenIn(await latestMail(app, email));
}

function linkRefused(t: Test, answer: Answer): void {
  refused(t, answer, 400, 'invalid_code', { attempts_left: 0 });
  t.match(answer.body.message, '링크');
}

t.test(
  'without a login a code or link verifies no account, also those that its sign-up mailed',
  async (t) => {
    const user = await createUser(app);
    const mailed = [{ email: user.email, code: await latestCode(app, user.email) }];
    await passTime(app, user.email, 3600);
    for (const body of [...mailed, undefined]) {
      const answer = await confirm(body ?? { token: await newLinkToken(user.email) });
      t.equal(answer.status, 200);
      t.type(answer.body.data.verification_token, 'string');
      t.equal(answer.body.data.email, user.email);
      t.equal(await isVerified(user.token), false);
    }
  },
);

t.test('a code or link verifies the account of the access token, if that has the address', async (t) => {
  const other = await createUnverifiedUser(app);
  for (const isLink of [false, true]) {
    const user = await createUnverifiedUser(app);
    const { email } = user;
    const next = async () => {
      await passTime(app, email, 3600);
      return isLink ? { token: await newLinkToken(email) } : { email, code: await newCode(email) };
    };
    t.equal((await confirm(await next(), other.token)).status, 200);
    t.equal(await isVerified(user.token), false);
    t.equal(await isVerified(other.token), false);
    const answer = await confirm(await next(), user.token);
    t.equal(answer.status, 200);
    t.type(answer.body.data.verification_token, 'string');
    t.equal(await isVerified(user.token), true);
  }
});

t.test('the link works after the last attempt of the code, once, and until a new code is sent', async (t) => {
  const { email, token } = await createUnverifiedUser(app);
  const first = await newLinkToken(email);
  await passTime(app, email, 3600);
  const link = { token: await newLinkToken(email) };
  linkRefused(t, await confirm({ token: first }, token));
  const right = await latestCode(app, email);
  const wrong = right === '000000' ? '000001' : '000000';
  for (let attempt = 0; attempt < 5; attempt++) await confirm({ email, code: wrong }, token);
  t.equal((await confirm({ email, code: right }, token)).status, 429);
  const forged = link.token.replace(/[^.]+$/, 'x'.repeat(43));
  for (const bad of [forged, `${link.token}x`, link.token.slice(0, -1), first, 'x', right]) {
    linkRefused(t, await confirm({ token: bad }, token));
  }
  t.equal(await isVerified(token), false);
  t.equal((await confirm(link, token)).status, 200);
  t.equal(await isVerified(token), true);
  linkRefused(t, await confirm(link, token));
});

t.test('using the code or the link uses up both, and they expire together', async (t) => {
  const email = 'both@example.com';
  const next = async () => {
    await passTime(app, email, 3600);
    const token = await newLinkToken(email);
    return { link: { token }, code: { email, code: await latestCode(app, email) } };
  };
  const one = await next();
  t.equal((await confirm(one.code)).status, 200);
  linkRefused(t, await confirm(one.link));
  const two = await next();
  const uses = await inParallel(6, () => confirm(two.link));
  t.strictSame(tally(uses), { 200: 1, '400 invalid_code': 5 });
  refused(t, await confirm(two.code), 400, 'invalid_code', { attempts_left: 0 });
  const three = await next();
  await app.pool.query('UPDATE email_codes SET expires_at = now() WHERE email = $1', [email]);
  linkRefused(t, await confirm(three.link));
  const { verification_token } = (await confirm((await next()).code)).body.data;
  linkRefused(t, await confirm({ token: verification_token }));
});

t.test('a body is either a code or a link', async (t) => {
  const [email, code, token] = ['one@example.com', '123456', 'x'];
  invalid(t, await confirm({}), 'email', 'code');
  invalid(t, await confirm({ email }), 'code');
  invalid(t, await confirm({ email, code, token }), 'email', 'code');
  invalid(t, await confirm({ token: '' }), 'token');
  invalid(t, await confirm({ token: 1 }), 'token');
});

t.test(
  'an access token that is not valid is refused by send and confirm, which then do nothing',
  async (t) => {
    const user = await createUnverifiedUser(app);
    const ended = await logIn(app, user);
    await app.call('POST', '/auth/logout/', { token: ended.token });
    const code = await newCode(user.email);
    await passTime(app, user.email, 3600);
    const mailed = (await mailsTo(app, user.email)).length;
    for (const [token, reason] of [
      ['x', 'malformed'],
      [ended.token, 'revoked'],
      [user.refresh, 'wrong_type'],
    ] as const) {
      tokenRefused(t, await send(user.email, token), reason);
      tokenRefused(t, await confirm({ email: user.email, code }, token), reason);
    }
    t.equal((await mailsTo(app, user.email)).length, mailed);
    const basic = { authorization: 'Basic dXNlcjpwYXNzd29yZA==' };
    const body = { email: user.email, code };
    const answer = await app.call('POST', '/auth/email-verify/confirm/', { body, headers: basic });
    t.equal(answer.status, 200, 'other credentials are ignored, and the code still works');
  },
);
