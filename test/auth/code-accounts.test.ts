import t from 'tap';
import { codeIn, createTestApp, createUser, logIn } from '../support/app.ts';
import { refused, tokenRefused } from '../support/assertions.ts';
import { signUpBody } from './accounts.ts';
import { createUnverifiedUser, latestCode, latestMail, mailsTo, passTime } from './mailbox.ts';

const app = await createTestApp();
t.teardown(app.close);

const send = (email: string, token?: string, language = 'ko') =>
  app.call('POST', '/auth/email-verify/send/', {
    body: { email },
    token,
    headers: { 'accept-language': language },
  });
const confirm = (email: string, code: string, token?: string) =>
  app.call('POST', '/auth/email-verify/confirm/', { body: { email, code }, token });
const isVerified = async (token: string) =>
  (await app.call('GET', '/auth/me/', { token })).body.data.is_verified;

/** A code that was asked for, without a login. */
async function newCode(email: string): Promise<string> {
  await send(email);
  return latestCode(app, email);
}

t.test('a code that was asked for without a login verifies no account', async (t) => {
  const { email, token } = await createUnverifiedUser(app);
  const answer = await confirm(email, await newCode(email));
  t.equal(answer.status, 200);
  t.type(answer.body.data.verification_token, 'string');
  t.equal(await isVerified(token), false);
});

t.test(
  'a code that was asked for verifies the account of the access token, if that has the address',
  async (t) => {
    const user = await createUnverifiedUser(app);
    const other = await createUnverifiedUser(app);
    t.equal((await confirm(user.email, await newCode(user.email), other.token)).status, 200);
    t.equal(await isVerified(user.token), false);
    t.equal(await isVerified(other.token), false);

    await passTime(app, user.email, 3600);
    const answer = await confirm(user.email, await newCode(user.email), user.token);
    t.equal(answer.status, 200);
    t.type(answer.body.data.verification_token, 'string');
    t.equal(await isVerified(user.token), true);
  },
);

t.test('a code that sign-up mailed verifies that account, with or without a login', async (t) => {
  const [user, other] = [await createUser(app), await createUser(app)];
  const answer = await confirm(user.email, await latestCode(app, user.email), other.token);
  t.equal(answer.status, 200);
  t.equal(await isVerified(user.token), true);
  t.equal(await isVerified(other.token), false);
  t.equal((await confirm(other.email, await latestCode(app, other.email))).status, 200);
  t.equal(await isVerified(other.token), true);
});

t.test('a code that was asked for voids the code of the sign-up', async (t) => {
  const { email, token } = await createUser(app);
  const first = await latestCode(app, email);
  await passTime(app, email, 3600);
  const second = await newCode(email);
  refused(t, await confirm(email, first), 400, 'invalid_code', { attempts_left: 4 });
  t.equal((await confirm(email, second)).status, 200);
  t.equal(await isVerified(token), false);
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
      tokenRefused(t, await confirm(user.email, code, token), reason);
    }
    t.equal((await mailsTo(app, user.email)).length, mailed);
    const basic = { authorization: 'Basic dXNlcjpwYXNzd29yZA==' };
    const body = { email: user.email, code };
    const answer = await app.call('POST', '/auth/email-verify/confirm/', { body, headers: basic });
    t.equal(answer.status, 200, 'other credentials are ignored, and the code still works');
  },
);

t.test('the mail of a code names the username that the code verifies', async (t) => {
  const other = await createUser(app, { username: 'someone-else' });
  for (const language of ['ko', 'en']) {
    const body = signUpBody({ username: `named-user-${language}` });
    const headers = { 'accept-language': language };
    t.equal((await app.call('POST', '/auth/signup/', { body, headers })).status, 201);
    t.match((await latestMail(app, body.email)).text, body.username);
    t.match((await latestMail(app, body.email)).html, body.username);
    const { token } = await logIn(app, body);
    for (const [asker, named] of [
      [undefined, false],
      [other.token, false],
      [token, true],
    ] as const) {
      await passTime(app, body.email, 3600);
      await send(body.email, asker, language);
      const mail = await latestMail(app, body.email);
      const { text, html } = mail;
      t.equal(text.includes(body.username), named);
      t.equal(html.includes(body.username), named);
      t.notMatch(text, 'someone-else');
      t.ok(codeIn(mail));
    }
  }
});
