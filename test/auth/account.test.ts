import t from 'tap';
import { createTestApp, createUser, password } from '../support/app.ts';
import { delayed, refused, tally } from '../support/assertions.ts';
import { inParallel } from '../support/concurrency.ts';
import { createVerifiedUser } from './mailbox.ts';

const app = await createTestApp();
t.teardown(app.close);

const me = (token: string) => app.call('GET', '/auth/me/', { token });
const patch = (token: string, body: unknown) => app.call('PATCH', '/auth/me/', { token, body });
const remove = (token: string, password: unknown, remoteAddress = '127.0.0.1') =>
  app.call('DELETE', '/auth/me/', { token, body: { password }, remoteAddress });
const change = (token: string, current_password: unknown) =>
  app.call('POST', '/auth/change-password/', {
    token,
    body: { current_password, new_password: 'rice-cake-at-dawn-3' },
  });
const tryLogin = (username: string, password: string) =>
  app.call('POST', '/auth/login/', { body: { username, password } });

t.test('me is exactly the six fields of a user', async (t) => {
  const { id, username, email, token } = await createVerifiedUser(app, { name: '  이 웃 ' });
  const answer = await me(token);
  t.equal(answer.status, 200);
  t.equal(answer.body.success, true);
  t.match(answer.body.message, /\S/);
  t.strictSame(answer.body.data, { id, username, name: '이 웃', email, role: 'user', is_verified: true });
});

t.test('PATCH changes the name', async (t) => {
  const { id, username, email, token } = await createUser(app);
  for (const [given, kept] of [
    ['  박 두레\t', '박 두레'],
    ['\u1112\u1161\u11ab글', '한글'],
    ['e\u0301'.repeat(50), 'é'.repeat(50)],
    ['🦊'.repeat(50), '🦊'.repeat(50)],
    ['A', 'A'],
    [`O'Neil <b>"&\\`, `O'Neil <b>"&\\`],
  ] as const) {
    const answer = await patch(token, { name: given });
    t.equal(answer.status, 200, answer.text);
    const user = { id, username, name: kept, email, role: 'user', is_verified: false };
    t.strictSame(answer.body.data, user);
    t.strictSame((await me(token)).body.data, user);
  }
});

t.test('wrong passwords with a valid token are delayed like failed logins, from any address', async (t) => {
  const user = await createUser(app);
  for (let guesses = 0; guesses < 10; guesses++) {
    const guess = await remove(user.token, `guess-number-${guesses}`, `198.51.100.${guesses + 1}`);
    refused(t, guess, 401, 'invalid_credentials');
  }
  const refusal = await remove(user.token, password, '198.51.100.77');
  delayed(t, refusal, 30);
  t.match(refusal.body.message, '비밀번호를 여러 번 잘못 입력했습니다.');
  const body = { current_password: password, new_password: 'rice-cake-at-dawn-3' };
  const remoteAddress = '198.51.100.78';
  const options = { token: user.token, body, remoteAddress };
  delayed(t, await app.call('POST', '/auth/change-password/', options), 30);
  const login = { body: { username: user.username, password }, remoteAddress };
  delayed(t, await app.call('POST', '/auth/login/', login), 30);
  t.equal((await tryLogin(user.username, password)).status, 200, 'the owner has a counter of their own');
  t.equal((await change(user.token, password)).status, 200);
});

t.test('of 60 concurrent guesses with a valid token, ten are checked', async (t) => {
  const user = await createUser(app);
  const answers = await inParallel(60, (index) =>
    change(user.token, index === 59 ? password : `guess-number-${index}`),
  );
  const { '401 invalid_credentials': checked = 0, '200': right = 0 } = tally(answers);
  t.equal(checked, 10, JSON.stringify(tally(answers)));
  t.equal(right, 0);
});
