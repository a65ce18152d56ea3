import argon2 from 'argon2';
import t from 'tap';
import { createTestApp, createUser, logIn, password, resetLinkIn } from '../support/app.ts';
import { delayed, invalid, rejected, tally, tokenRejected } from '../support/assertions.ts';
import { during, inParallel } from '../support/concurrency.ts';
import { accountsOf, newPassword } from './accounts.ts';
import { about, latestMail, mailsTo, newResetLink, passTime } from './mailbox.ts';

const app = await createTestApp();
const other = await app.startInstance();

const hour = 3600;
const { post, me, refresh, tryLogin, changePassword, ended } = accountsOf(app);
const { requestReset, validateReset, confirmReset } = accountsOf(app);

/** An account, and a link in its mailbox. */
async function createUserWithLink() {
  const user = await createUser(app);
  return { ...user, link: await newResetLink(app, user.email) };
}

t.test('a link is only mailed to the address of an account', async (t) => {
  const { email } = await createUser(app);
  await requestReset('reset-stranger@example.com');
  await requestReset(email);
  const { url, uid, token } = resetLinkIn(await latestMail(app, email));
  t.equal(url, `https://app.example.com/reset-password?uid=${uid}&token=${token}`);
  t.ok(uid);
  t.match(token, /^[\w-]{22,}$/, 'at least 128 bits in letters that a URL can hold');
  t.match((await latestMail(app, email)).html, `uid=${uid}&amp;token=${token}`);
  t.equal((await mailsTo(app, 'reset-stranger@example.com')).length, 0);
});

t.test('the host of a link never comes from a request header', async (t) => {
  const { email } = await createUser(app);
  await requestReset(email, {
    host: 'evil.example',
    'x-forwarded-host': 'evil.example',
    'x-forwarded-proto': 'http',
    'x-forwarded-for': '203.0.113.9',
    forwarded: 'host=evil.example',
    'x-original-url': 'https://evil.example/',
    origin: 'https://evil.example',
    referer: 'https://evil.example/',
  });
  const mail = await latestMail(app, email);
  t.match(resetLinkIn(mail).url, /^https:\/\/app\.example\.com\/reset-password\?/);
  t.notMatch(JSON.stringify(mail), 'evil');
});

t.test('validate returns when a link expires, and does not use it up', async (t) => {
  const { link } = await createUserWithLink();
  const { expires_at } = (await validateReset(link)).body.data;
  about(t, Math.ceil((Date.parse(expires_at) - Date.now()) / 1000), hour);
  t.strictSame((await validateReset(link)).body.data, { expires_at });
  t.equal((await confirmReset(link)).status, 200);
});

t.test('completing a reset sets the password, once', async (t) => {
  const { link, username, email } = await createUserWithLink();
  t.strictSame((await confirmReset(link)).body.data, {});
  rejected(t, await tryLogin(username, password), 401, 'invalid_credentials');
  t.equal((await tryLogin(username, newPassword)).status, 200);
  t.equal((await tryLogin(email, newPassword)).status, 200);
  rejected(t, await validateReset(link), 400, 'reset_link_invalid');
  rejected(t, await confirmReset(link, 'another-good-one-5'), 400, 'reset_link_invalid');
  t.equal((await tryLogin(username, newPassword)).status, 200, 'a link works once');
});

t.test('completing a reset ends every session at once, on every instance', async (t) => {
  const user = await createUserWithLink();
  const sessions = [user, await logIn(app, user), await logIn(other, user)];
  for (const { token } of sessions) t.equal((await me(token, other)).status, 200);
  t.equal((await confirmReset(user.link)).status, 200);
  for (const session of sessions) await ended(t, session, other);
});

t.test('a wrong link is rejected, and the right one still works', async (t) => {
  const { link, username } = await createUserWithLink();
  const stranger = await createUserWithLink();
  const { uid, token } = link;
  const flipped = token.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'));
  const tokens = [
    flipped,
    token.slice(0, -1),
    `${token}A`,
    token.toLowerCase(),
    stranger.link.token,
    uid,
    `${token}\u0000`,
  ];
  const uids = [stranger.link.uid, '00000000-0000-4000-8000-000000000000', '1', `${uid}' OR 1=1`, '김두레'];
  for (const parts of [...tokens.map((token) => ({ uid, token })), ...uids.map((uid) => ({ uid, token }))]) {
    rejected(t, await validateReset(parts), 400, 'reset_link_invalid');
    rejected(t, await confirmReset(parts), 400, 'reset_link_invalid');
  }
  t.equal((await tryLogin(username)).status, 200);
  t.equal((await confirmReset(link)).status, 200);
});

t.test('a link works for an hour', async (t) => {
  for (const seconds of [hour - 600, hour]) {
    const { link, email } = await createUserWithLink();
    const age = `expires_at = expires_at - interval '${seconds} seconds'`;
    await app.pool.query(`UPDATE password_resets SET ${age} WHERE email = $1`, [email]);
    for (const response of [await validateReset(link), await confirmReset(link)]) {
      if (seconds < hour) t.equal(response.status, 200);
      else rejected(t, response, 400, 'reset_link_invalid');
    }
  }
});

t.test('a link is void after a newer request, but not after one inside the cooldown', async (t) => {
  const { link, email } = await createUserWithLink();
  await requestReset(email);
  t.equal((await validateReset(link)).status, 200);
  const newer = await newResetLink(app, email);
  rejected(t, await validateReset(link), 400, 'reset_link_invalid');
  rejected(t, await confirmReset(link), 400, 'reset_link_invalid');
  t.equal((await confirmReset(newer)).status, 200);
});

t.test('of 20 concurrent uses of a link, one succeeds and sets its password', async (t) => {
  const { link, username, email } = await createUserWithLink();
  const mailed = (await mailsTo(app, email)).length;
  const responses = await inParallel(20, (index) => confirmReset(link, `${newPassword}-${index}`));
  t.strictSame(tally(responses), { '200': 1, '400 reset_link_invalid': 19 });
  const winner = responses.findIndex(({ status }) => status === 200);
  t.equal((await tryLogin(username, `${newPassword}-${winner}`)).status, 200);
  t.equal((await mailsTo(app, email)).length - mailed, 1, 'one notice');
});

t.test('a concurrent reset and password change leave one password and no other session', async (t) => {
  const user = await createUserWithLink();
  const changed = `${newPassword}-changed`;
  const [reset, change] = await Promise.all([
    confirmReset(user.link),
    changePassword(user.token, password, changed),
  ]);
  t.ok([reset, change].some(({ status }) => status === 200));
  t.ok([reset, change].every(({ status }) => status < 500));
  const works = [newPassword, changed, password].map(async (word) => tryLogin(user.username, word));
  t.strictSame(tally(await Promise.all(works)), { '200': 1, '401 invalid_credentials': 2 });
  if (reset.status === 200) tokenRejected(t, await me(user.token), 'revoked');
});

t.test('a concurrent reset and newer request void the old link', async (t) => {
  const { link, username, email } = await createUserWithLink();
  await passTime(app, email, 60);
  const [reset, newer] = await Promise.all([confirmReset(link), requestReset(email)]);
  t.equal(newer.status, 200);
  if (reset.status !== 200) rejected(t, reset, 400, 'reset_link_invalid');
  const current = reset.status === 200 ? newPassword : password;
  t.equal((await tryLogin(username, current)).status, 200);
  rejected(t, await confirmReset(link, 'another-good-one-5'), 400, 'reset_link_invalid');
});

t.test('wrong passwords with a valid token are delayed like failed logins, from any address', async (t) => {
  const user = await createUser(app);
  const { token } = user;
  const remove = (password: string, remoteAddress: string) =>
    app.call('DELETE', '/auth/me/', { token, body: { password }, remoteAddress });
  const moveWith = (password: string, remoteAddress: string) =>
    post('change-email', { password, new_email: 'x@example.com', code: '123456' }, { token, remoteAddress });
  for (let guesses = 0; guesses < 10; guesses++) {
    const guess = guesses % 2 ? remove : moveWith;
    rejected(t, await guess(`guess-${guesses}`, `198.51.100.${guesses + 1}`), 401, 'invalid_credentials');
  }
  const rejection = await remove(password, '198.51.100.77');
  delayed(t, rejection, 30);
  t.match(rejection.body.message, '비밀번호를 여러 번 잘못 입력했습니다.');
  delayed(t, await moveWith(password, '198.51.100.77'), 30);
  const elsewhere = { token, remoteAddress: '198.51.100.78' };
  const body = { current_password: password, new_password: newPassword };
  delayed(t, await post('change-password', body, elsewhere), 30);
  delayed(t, await post('login', { username: user.username, password }, elsewhere), 30);
  t.equal((await tryLogin(user.username)).status, 200, 'the owner has a counter of their own');
  t.equal((await changePassword(token, password)).status, 200);
});

t.test('of 30 concurrent guesses with a valid token, ten are checked', async (t) => {
  const user = await createUser(app);
  const responses = await inParallel(30, (index) =>
    changePassword(user.token, index === 29 ? password : `guess-number-${index}`),
  );
  t.strictSame(tally(responses), { '401 invalid_credentials': 10, '429 too_many_attempts': 20 });
});

t.test('change-password sets the new password, and ends every other session at once', async (t) => {
  const user = await createUser(app);
  const others = [await logIn(app, user), await logIn(other, user)];
  for (const { token } of others) t.equal((await me(token, other)).status, 200);
  t.strictSame((await changePassword(user.token, password)).body.data, {});
  rejected(t, await tryLogin(user.username), 401, 'invalid_credentials');
  rejected(t, await tryLogin(user.email, password), 401, 'invalid_credentials');
  t.equal((await tryLogin(user.username, newPassword)).status, 200);
  for (const session of others) await ended(t, session, other);
  t.equal((await me(user.token)).status, 200);
  const refreshed = await refresh(user.refresh, other);
  t.equal((await me(refreshed.body.data.access)).status, 200);
});

t.test('a wrong current password or a bad new one changes nothing, and uses up no link', async (t) => {
  const user = await createUser(app, { username: 'changer', email: 'first-part@example.com' });
  const { token } = user;
  const link = await newResetLink(app, user.email);
  for (const wrong of ['wrong-password', `${password} `, newPassword])
    rejected(t, await changePassword(token, wrong), 401, 'invalid_credentials');
  for (const bad of ['short-7', 'ILoveYou', 'PassWord', 'my-Changer-pass', 'is-FIRST-part-ok', null])
    for (const response of [await changePassword(token, password, bad), await confirmReset(link, bad)])
      invalid(t, response, 'new_password');
  t.equal((await me(token)).status, 200);
  t.equal((await validateReset(link)).status, 200);
  t.equal((await tryLogin(user.username)).status, 200);
  t.equal((await mailsTo(app, user.email)).length, 1, 'that of the link');
});

t.test('of concurrent password changes, one succeeds', async (t) => {
  const user = await createUser(app);
  const sessions = await inParallel(8, () => logIn(app, user));
  const responses = await inParallel(8, (index) =>
    changePassword(sessions[index]?.token ?? '', password, `${newPassword}-${index}`),
  );
  const winner = responses.findIndex(({ status }) => status === 200);
  t.equal(responses.filter(({ status }) => status === 200).length, 1);
  for (const { status, text } of responses) t.ok([200, 401].includes(status), text);
  t.equal((await tryLogin(user.username, `${newPassword}-${winner}`)).status, 200);
  for (const [index, { token }] of sessions.entries()) {
    const response = await me(token);
    if (index === winner) t.equal(response.status, 200);
    else tokenRejected(t, response, 'revoked');
  }
});

t.test('a change while the hash is replaced is tried again; a rejected one leaves reset links', async (t) => {
  // As a login with new parameters, and as a change of the password.
  for (const given of [password, newPassword]) {
    const isSame = given === password;
    const { link, ...user } = await createUserWithLink();
    const hash = await argon2.hash(given, { memoryCost: 1024, timeCost: 1, parallelism: 1 });
    const replace = 'UPDATE users SET password_hash = $2 WHERE id = $1';
    const change = () => changePassword(user.token, password);
    t.equal((await during(t, app, [replace, user.id, hash], change)).status, isSame ? 200 : 401);
    t.equal((await validateReset(link)).status, isSame ? 400 : 200);
  }
});
