import argon2 from 'argon2';
import t from 'tap';
import { createTestApp, createUser, logIn, password } from '../support/app.ts';
import { delayed, invalid, rejected, tally, tokenRejected } from '../support/assertions.ts';
import { during, inParallel } from '../support/concurrency.ts';
import { accountsOf, newPassword } from './accounts.ts';
import { mailsTo, newResetLink } from './mailbox.ts';

const app = await createTestApp();
const other = await app.startInstance();

const { post, me, refresh, tryLogin, changePassword, validateReset, ended } = accountsOf(app);
const patch = (token: string, body: unknown) => app.call('PATCH', '/auth/me/', { token, body });

t.test('PATCH changes the name', async (t) => {
  const { id, username, email, token } = await createUser(app);
  const user = { id, username, name: '박 두레', email, role: 'user', is_verified: false };
  t.strictSame((await patch(token, { name: '박 두레' })).body.data, user);
  t.strictSame((await me(token)).body.data, user);
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

t.test('change-password with a wrong current password or a bad new one changes nothing', async (t) => {
  const user = await createUser(app, { username: 'changer', email: 'first-part@example.com' });
  const { token } = user;
  for (const wrong of ['wrong-password', `${password} `, newPassword]) {
    rejected(t, await changePassword(token, wrong), 401, 'invalid_credentials');
  }
  for (const bad of ['short-7', 'ILoveYou', 'my-Changer-pass', 'is-FIRST-part-ok']) {
    invalid(t, await changePassword(token, password, bad), 'new_password');
  }
  t.equal((await me(token)).status, 200);
  t.equal((await tryLogin(user.username)).status, 200);
  t.strictSame(await mailsTo(app, user.email), []);
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
    const user = await createUser(app);
    const link = await newResetLink(app, user.email);
    const hash = await argon2.hash(given, { memoryCost: 1024, timeCost: 1, parallelism: 1 });
    const replace = 'UPDATE users SET password_hash = $2 WHERE id = $1';
    const change = () => changePassword(user.token, password);
    t.equal((await during(t, app, [replace, user.id, hash], change)).status, isSame ? 200 : 401);
    t.equal((await validateReset(link)).status, isSame ? 400 : 200);
  }
});
