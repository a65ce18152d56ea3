import t from 'tap';
import { createTestApp } from '../support/app.ts';
import { about, createVerifiedUser, mailsTo, passTime } from './mailbox.ts';

const app = await createTestApp();
t.teardown(app.close);

const paths = ['email-verify/send', 'reset-password-request', 'find-id'];

for (const path of paths) {
  const request = (email: string, language = 'ko') =>
    app.call('POST', `/auth/${path}/`, { body: { email }, headers: { 'accept-language': language } });

  t.test(`${path} says whether it was accepted, within the cooldown and beyond the hourly cap`, async (t) => {
    const user = await createVerifiedUser(app);
    const stranger = `stranger-${path.length}@example.com`;
    for (const email of [user.email, stranger]) {
      const first = await request(email);
      t.equal(first.body.data.accepted, true);
      for (let sends = 1; sends < 5; sends++) {
        const refused = await request(email);
        t.equal(refused.status, 200);
        t.equal(refused.body.data.accepted, false);
        about(t, refused.body.data.resend_after, 60);
        t.not(refused.body.message, first.body.message);
        await passTime(app, email, 60);
        const accepted = await request(email);
        t.equal(accepted.body.data.accepted, true);
        t.equal(accepted.body.message, first.body.message);
      }
      await passTime(app, email, 60);
      const before = (await mailsTo(app, email)).length;
      t.equal((await request(email)).body.data.accepted, false, 'five mails went out in this hour');
      t.equal((await mailsTo(app, email)).length, before);
    }
  });

  t.test(`${path} tells in words that it was not accepted, the same for every address`, async (t) => {
    const user = await createVerifiedUser(app);
    for (const [language, wait] of [
      ['ko', /잠시 후 다시 요청해 주세요/],
      ['en', /again in a while/],
    ] as const) {
      const stranger = `${language}-${path.length}@example.com`;
      await passTime(app, user.email, 3600);
      for (const text of [undefined, wait]) {
        const [known, unknown] = [await request(user.email, language), await request(stranger, language)];
        t.equal(known.status, unknown.status);
        t.equal(known.body.message, unknown.body.message);
        t.equal(wait.test(known.body.message), text === wait, known.body.message);
      }
    }
  });
}
