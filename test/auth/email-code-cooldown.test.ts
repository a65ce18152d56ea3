import t from 'tap';
import { createTestApp, createUser, logIn, password } from '../support/app.ts';
import { refused, tally } from '../support/assertions.ts';
import { inParallel } from '../support/concurrency.ts';
import { about, comparable, createVerifiedUser, latestCode, mailsTo, passTime } from './mailbox.ts';

const app = await createTestApp();
t.teardown(app.close);

const hour = 3600;
const send = (email: unknown) => app.call('POST', '/auth/email-verify/send/', { body: { email } });
const confirm = (email: unknown, code: unknown) =>
  app.call('POST', '/auth/email-verify/confirm/', { body: { email, code } });
const signUp = (fields: Record<string, unknown>) =>
  app.call('POST', '/auth/signup/', { body: { name: '김두레', password, ...fields } });
const other = (code: string) => String((Number(code) + 1) % 1_000_000).padStart(6, '0');

async function newCode(email: string): Promise<string> {
  await send(email);
  return latestCode(app, email);
}

t.test('send answers the same for unknown, unverified and verified addresses', async (t) => {
  const unverified = await createUser(app);
  await passTime(app, unverified.email, hour);
  const verified = await createVerifiedUser(app);
  const answers = [];
  for (const email of ['unknown-user@example.com', unverified.email, verified.email]) {
    answers.push(await send(email));
  }
  const [unknown, ...others] = answers.map(comparable);
  t.equal(unknown?.status, 200);
  t.strictSame(answers[0]?.body.data, { accepted: true, expires_in: 600, resend_after: 60 });
  t.equal(answers[0]?.body.success, true);
  for (const answer of others) t.strictSame(answer, unknown);
});

t.test('resend_after counts down for any address, and no mail is sent inside the cooldown', async (t) => {
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

t.test('an address gets five mails an hour; then resend_after is the rest of the hour', async (t) => {
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

t.test('20 concurrent sends mail one code', async (t) => {
  const email = 'twenty-sends@example.com';
  const answers = await inParallel(20, () => send(email));
  t.strictSame(tally(answers), { '200': 20 });
  for (const { body } of answers) about(t, body.data.resend_after, 60);
  t.equal((await mailsTo(app, email)).length, 1);
  t.equal((await confirm(email, await latestCode(app, email))).status, 200);
});

t.test('a concurrent sign-up and send mail one code', async (t) => {
  const email = 'both-at-once@example.com';
  const answers = await Promise.all([signUp({ username: 'both-at-once', email }), send(email), send(email)]);
  t.strictSame(tally(answers), { '201': 1, '200': 2 });
  t.equal((await mailsTo(app, email)).length, 1);
  t.equal((await confirm(email, await latestCode(app, email))).status, 200);
});

t.test('a clock that is set back does not lengthen the cooldown', async (t) => {
  const email = 'clock@example.com';
  await send(email);
  await passTime(app, email, -hour);
  about(t, (await send(email)).body.data.resend_after, 60);
  t.equal((await mailsTo(app, email)).length, 1);
});

t.test('a send inside the cooldown keeps the code', async (t) => {
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

t.test(
  'sign-up inside the cooldown mails nothing, and the earlier code verifies it with a login',
  async (t) => {
    const email = 'sent-before@example.com';
    const code = await newCode(email);
    const signup = await signUp({ username: 'sent-before', email });
    t.equal(signup.status, 201);
    t.equal(signup.body.data.is_verified, false);
    t.equal((await mailsTo(app, email)).length, 1);
    const { token } = await logIn(app, { username: 'sent-before', password });
    const options = { token, body: { email, code } };
    t.equal((await app.call('POST', '/auth/email-verify/confirm/', options)).status, 200);
    t.equal((await app.call('GET', '/auth/me/', { token })).body.data.is_verified, true);
  },
);
