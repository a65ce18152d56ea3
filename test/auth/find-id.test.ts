import t from 'tap';
import { createTestApp } from '../support/app.ts';
import { tally } from '../support/assertions.ts';
import { inParallel } from '../support/concurrency.ts';
import {
  about,
  comparable,
  createSettledUser,
  createVerifiedUser,
  latestMail,
  mailsTo,
  passTime,
} from './mailbox.ts';

const app = await createTestApp();
t.teardown(app.close);

const hour = 3600;
const findId = (email: unknown) => app.call('POST', '/auth/find-id/', { body: { email } });

t.test('the answer is the same for unknown, unverified and verified addresses', async (t) => {
  const unverified = await createSettledUser(app);
  const verified = await createVerifiedUser(app);
  const answers = [];
  for (const email of ['find-unknown@example.com', unverified.email, verified.email]) {
    answers.push(await findId(email));
  }
  const [unknown, ...others] = answers.map(comparable);
  t.equal(unknown?.status, 200);
  t.equal(answers[0]?.body.success, true);
  t.strictSame(answers[0]?.body.data, { accepted: true, resend_after: 60 });
  for (const answer of others) t.strictSame(answer, unknown);
});

t.test('the username is mailed to its own address only', async (t) => {
  const user = await createSettledUser(app, { username: 'forgotten.name-7' });
  const before = app.mails.sent.length;
  const answer = await findId(user.email);
  await findId('find-stranger@example.com');
  const mail = await latestMail(app, user.email);
  t.match(mail.subject, '아이디');
  t.match(mail.text, 'forgotten.name-7');
  t.match(mail.html, 'forgotten.name-7');
  t.notMatch(answer.text, 'forgotten');
  t.notMatch(JSON.stringify(answer.headers), 'forgotten');
  const receivers = app.mails.sent.slice(before).map(({ to }) => to);
  t.strictSame(receivers, [user.email]);
});

t.test('it has its own cooldown and hourly cap, also for unknown addresses', async (t) => {
  const user = await createSettledUser(app);
  await app.call('POST', '/auth/reset-password-request/', { body: { email: user.email } });
  for (const [email, mailed] of [
    [user.email, 5],
    ['find-capped@example.com', 0],
  ] as const) {
    const before = (await mailsTo(app, email)).length;
    t.equal((await findId(email)).body.data.resend_after, 60, 'other mails do not count');
    await passTime(app, email, 20);
    about(t, (await findId(email)).body.data.resend_after, 40);
    t.equal((await mailsTo(app, email)).length - before, mailed && 1, 'nothing inside the cooldown');
    for (let sends = 1; sends < 5; sends++) {
      await passTime(app, email, 60);
      await findId(email);
    }
    await passTime(app, email, 60);
    about(t, (await findId(email)).body.data.resend_after, hour - 320);
    t.equal((await mailsTo(app, email)).length - before, mailed);
  }
});

t.test('20 concurrent requests mail once', async (t) => {
  const { email } = await createSettledUser(app);
  const before = (await mailsTo(app, email)).length;
  t.strictSame(tally(await inParallel(20, () => findId(email))), { '200': 20 });
  t.equal((await mailsTo(app, email)).length - before, 1);
});

t.test('an address is trimmed and case-folded', async (t) => {
  const { email, username } = await createSettledUser(app);
  await findId(`\t${email.toUpperCase()} `);
  t.match((await latestMail(app, email)).text, username);
  about(t, (await findId(email)).body.data.resend_after, 60);
});
