import t from 'tap';
import { createTestApp, createUser } from '../support/app.ts';
import { tally } from '../support/assertions.ts';
import { inParallel } from '../support/concurrency.ts';
import { accountsOf } from './accounts.ts';
import { about, comparable, createVerifiedUser, latestMail, mailsTo, passTime } from './mailbox.ts';

/** Seconds, so many that none passes by itself while a test runs. */
const cooldown = 600;
const app = await createTestApp();
const { post } = accountsOf(await app.startInstance({ EMAIL_COOLDOWN: `${cooldown}s` }));

const hour = 3600;
const paths = ['email-verify/send', 'reset-password-request', 'find-id'];

for (const path of paths) {
  const isCode = path === 'email-verify/send';
  const request = (email: string, language = 'ko') =>
    post(path, { email }, { headers: { 'accept-language': language } });
  const waitFor = async (email: string) => (await request(email)).body.data.resend_after;

  t.test(`${path}: the response is the same for every email, accepted or not`, async (t) => {
    const users = [await createUser(app), await createVerifiedUser(app)];
    for (const [language, again] of Object.entries({
      ko: '잠시 후 다시 요청해 주세요',
      en: 'again in a while',
    })) {
      const unknown = `${language}-${path.length}@example.com`;
      const emails = [unknown, ...users.map(({ email }) => email)];
      for (const email of emails) await passTime(app, email, hour);
      for (const accepted of [true, false]) {
        const responses = [];
        for (const email of emails) responses.push(await request(email, language));
        for (const response of responses) {
          const { resend_after } = response.body.data;
          about(t, resend_after, cooldown);
          t.strictSame(response.body.data, { accepted, ...(isCode && { expires_in: 600 }), resend_after });
          t.equal(response.body.message.includes(again), !accepted, response.body.message);
          t.equal(response.body.message, responses[0]?.body.message);
        }
        const [first, ...others] = responses.map(comparable);
        t.equal(first?.status, 200);
        for (const other of accepted ? others : []) t.strictSame(other, first);
      }
    }
  });

  t.test(`${path} has a cooldown and an hourly cap of its own, also for unknown emails`, async (t) => {
    const user = await createVerifiedUser(app);
    for (const other of paths) if (other !== path) await post(other, { email: user.email });
    for (const [email, sent] of [
      [user.email, 1],
      [`capped-${path.length}@example.com`, isCode ? 1 : 0],
    ] as const) {
      const before = (await mailsTo(app, email)).length;
      const mailed = async () => (await mailsTo(app, email)).length - before;
      about(t, await waitFor(email), cooldown);
      for (const left of [(cooldown * 2) / 3, cooldown / 3]) {
        await passTime(app, email, cooldown / 3);
        about(t, await waitFor(email), left);
      }
      t.equal(await mailed(), sent, 'nothing inside the cooldown');
      await passTime(app, email, cooldown / 3);
      for (let sends = 2; sends < 5; sends++) {
        about(t, await waitFor(email), cooldown);
        // A code or link that the next one voids before it was mailed is not mailed any more.
        await app.mails.settled();
        await passTime(app, email, cooldown);
      }
      about(t, await waitFor(email), hour - 4 * cooldown);
      await app.mails.settled();
      await passTime(app, email, cooldown);
      about(t, await waitFor(email), hour - 5 * cooldown);
      t.equal(await mailed(), 5 * sent);
      await passTime(app, email, hour - 5 * cooldown);
      t.ok((await waitFor(email)) > 0);
      t.equal(await mailed(), 6 * sent, 'the hour of the first one is over');
    }
  });

  t.test(`of 20 concurrent requests, ${path} emails one`, async (t) => {
    const { email } = await createVerifiedUser(app);
    const responses = await inParallel(20, () => request(email));
    t.strictSame(tally(responses), { '200': 20 });
    for (const { body } of responses) about(t, body.data.resend_after, cooldown);
    t.equal((await mailsTo(app, email)).length, 1);
  });
}

t.test('the username is mailed to its own address only', async (t) => {
  const user = await createUser(app, { username: 'forgotten.name-7' });
  await app.mails.settled();
  const before = app.mails.sent.length;
  const response = await post('find-id', { email: user.email });
  await post('find-id', { email: 'find-stranger@example.com' });
  const mail = await latestMail(app, user.email);
  t.match(mail.subject, '아이디');
  for (const part of [mail.text, mail.html]) t.match(part, 'forgotten.name-7');
  t.notMatch(response.text + JSON.stringify(response.headers), 'forgotten');
  const receivers = app.mails.sent.slice(before).map(({ to }) => to);
  t.strictSame(receivers, [user.email]);
});
