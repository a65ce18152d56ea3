import t from 'tap';
import { createTestApp, createUser, deleteAccount, suspend, verifyEmails } from '../support/app.ts';
import { tally } from '../support/assertions.ts';
import { inParallel } from '../support/concurrency.ts';
import { accountsOf } from './accounts.ts';
import { about, comparable, createVerifiedUser, mailsTo, newResetLink, passTime } from './mailbox.ts';

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

type User = Awaited<ReturnType<typeof createUser>>;

const notice = /비밀번호가 변경/;
const noticesTo = async (email: string, at = app) =>
  (await mailsTo(at, email)).filter(({ subject }) => notice.test(subject));
const { confirmReset } = accountsOf(app);
const recover = (path: string, email: string, at = app) => accountsOf(at).post(path, { email });

/** Changes the password of a user. @returns the user with the new one */
async function changePassword<Changed extends Pick<User, 'token' | 'password'>>(user: Changed, at = app) {
  const new_password = `${user.password}!`;
  const response = await accountsOf(at).changePassword(user.token, user.password, new_password);
  if (response.status !== 200) throw new Error(response.text);
  return { ...user, password: new_password };
}

t.test('a verified address gets a notice of which sessions ended, and how to begin a reset', async (t) => {
  const user = await changePassword(await createUser(app));
  await verifyEmails(app, user);
  await changePassword(user);
  await confirmReset(await newResetLink(app, user.email));
  const texts = (await noticesTo(user.email)).map(({ text }) => text);
  t.equal(texts.length, 2, 'none before it was verified');
  for (const [index, ended] of ['다른 기기에서 로그아웃', '모든 기기에서 로그아웃되었습니다'].entries()) {
    t.match(texts[index], ended);
    t.match(texts[index], '비밀번호 다시 설정하기:\nhttps://app.example.com/reset-password-request');
  }
});

t.test('an address gets at most five notices an hour, also after its account was deleted', async (t) => {
  let user = await createVerifiedUser(app);
  for (let change = 0; change < 7; change++) user = await changePassword(user);
  t.equal((await noticesTo(user.email)).length, 5);
  t.equal((await deleteAccount(app, user)).status, 200);
  user = await createVerifiedUser(app, { username: user.username, email: user.email });
  user = await changePassword(user);
  t.equal((await noticesTo(user.email)).length, 5);
  await passTime(app, user.email, 3600);
  await changePassword(user);
  t.equal((await noticesTo(user.email)).length, 6, 'an hour later as well');
});

t.test('a suspended account gets no email of any kind, and the responses are the same', async (t) => {
  for (const user of [await createVerifiedUser(app), await createUser(app)]) {
    const link = await newResetLink(app, user.email);
    await passTime(app, user.email, 3600);
    await suspend(app, user);
    const before = (await mailsTo(app, user.email)).length;
    for (const path of paths) {
      const response = await recover(path, user.email);
      // No other test has asked for this address, which would have its own countdown.
      const unknown = await recover(path, `never-${user.email}`);
      t.strictSame(comparable(response), comparable(unknown));
      for (const { body } of [response, unknown]) about(t, body.data.resend_after, 60);
    }
    await confirmReset(link);
    t.equal((await mailsTo(app, user.email)).length, before);
  }
});

t.test('queued emails follow what happens to their account before they are sent', async (t) => {
  const offline = await createTestApp({ WORKER_ENABLED: 'false' });
  t.teardown(offline.close);
  const requestAll = async () => {
    const changed = await changePassword(await createVerifiedUser(offline), offline);
    for (const path of paths) await recover(path, changed.email, offline);
    return changed;
  };
  const users = await inParallel(4, requestAll);
  const [kept, suspended, moved, deleted] = users.map(({ email }) => email);
  const update = (change: string, email?: string) =>
    offline.pool.query(`UPDATE users SET ${change} WHERE email = $1`, [email]);
  await update('suspended_at = now()', suspended);
  await update("email = 'moved-user@example.com'", moved);
  for (const user of users.slice(3)) t.equal((await deleteAccount(offline, user)).status, 200);

  const online = await createTestApp({}, { databaseUrl: offline.url });
  t.teardown(online.close);
  const mails = async (email = '') => {
    const texts = (await mailsTo(online, email)).map(({ text }) => text);
    const links = { login: /\/login/, link: /\/reset-password\?/ };
    const kinds = { deleted: /탈퇴/, id: /아이디입니다/, code: /\b\d{6}\b/, ...links, notice };
    const kindOf = (text: string) => Object.entries(kinds).find(([, part]) => part.test(text))?.[0];
    return texts.map(kindOf).sort();
  };
  t.strictSame(await mails(kept), ['id', 'link', 'login', 'notice']);
  t.strictSame(await mails(suspended), []);
  t.strictSame(await mails(moved), ['code'], 'the address has no account any more');
  t.strictSame(await mails('moved-user@example.com'), ['id', 'notice']);
  t.strictSame(await mails(deleted), ['deleted'], 'only that it is deleted');
  t.strictSame((await online.pool.query('SELECT * FROM failed_mails')).rows, []);
});
