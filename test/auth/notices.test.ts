import t from 'tap';
import {
  createTestApp,
  createUser,
  deleteAccount,
  queuedFor,
  suspend,
  verifyEmails,
} from '../support/app.ts';
import { inParallel } from '../support/concurrency.ts';
import { accountsOf } from './accounts.ts';
import { about, comparable, createVerifiedUser, mailsTo, newResetLink, passTime } from './mailbox.ts';

const app = await createTestApp();

type User = Awaited<ReturnType<typeof createUser>>;

const notice = /비밀번호가 변경/;
const noticesTo = async (email: string, at = app) =>
  (await mailsTo(at, email)).filter(({ subject }) => notice.test(subject));
const { confirmReset } = accountsOf(app);
const recoveries = ['email-verify/send', 'reset-password-request', 'find-id'];
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
  const user = await createVerifiedUser(app);
  const link = await newResetLink(app, user.email);
  await passTime(app, user.email, 3600);
  await suspend(app, user);
  const before = (await mailsTo(app, user.email)).length;
  for (const path of recoveries) {
    const response = await recover(path, user.email);
    // No other test has asked for this address, which would have its own countdown.
    const unknown = await recover(path, 'never-suspended@example.com');
    t.strictSame(comparable(response), comparable(unknown));
    for (const { body } of [response, unknown]) about(t, body.data.resend_after, 60);
  }
  await confirmReset(link);
  t.equal((await mailsTo(app, user.email)).length, before);
});

t.test('an unverified suspended account gets no code', async (t) => {
  const user = await createUser(app);
  await suspend(app, user);
  await recover('email-verify/send', user.email);
  t.strictSame(await mailsTo(app, user.email), []);
});

t.test('queued emails follow what happens to their account before they are sent', async (t) => {
  const offline = await createTestApp({ WORKER_ENABLED: 'false' });
  t.teardown(offline.close);
  const requestAll = async () => {
    const changed = await changePassword(await createVerifiedUser(offline), offline);
    for (const path of recoveries) await recover(path, changed.email, offline);
    return changed;
  };
  const users = await inParallel(4, requestAll);
  const [kept, suspended, moved, deleted] = users.map(({ email }) => email);
  const update = (change: string, email?: string) =>
    offline.pool.query(`UPDATE users SET ${change} WHERE email = $1`, [email]);
  await update('suspended_at = now()', suspended);
  await update("email = 'moved-user@example.com'", moved);
  for (const user of users.slice(3)) {
    t.strictSame(await queuedFor(offline, user), ['password_changed', 'user_id']);
    t.equal((await deleteAccount(offline, user)).status, 200);
  }

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
