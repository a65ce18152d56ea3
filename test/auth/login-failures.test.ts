import t from 'tap';
import { createTestApp, createUser, password, resetLinkIn } from '../support/app.ts';
import { tally } from '../support/assertions.ts';
import { inParallel } from '../support/concurrency.ts';
import { delayedFor, home, loginFailuresOf, stranger, wrong } from './login-failures.ts';

const app = await createTestApp();
t.teardown(app.close);
const { logIn, fail, passDelays, age } = loginFailuresOf(app);

t.test('after 10 failed logins an account is delayed for 30 s, also for the right password', async (t) => {
  const { username } = await createUser(app);
  await fail(t, 10, username);
  delayedFor(t, await logIn(username, wrong), 30);
  delayedFor(t, await logIn(username), 30);
});

t.test('failures from all addresses count together', async (t) => {
  const { username } = await createUser(app);
  for (let time = 1; time <= 10; time++) await fail(t, 1, username, `198.51.100.${time}`);
  delayedFor(t, await logIn(username, password, '198.51.100.99'), 30);
});

t.test('accounts that do not exist are delayed the same', async (t) => {
  const { username } = await createUser(app);
  for (let time = 0; time < 10; time++) {
    const [one, other] = [await logIn(username, wrong), await logIn('no.such.user', wrong)];
    t.equal(other.status, 401);
    t.equal(other.text, one.text);
  }
  delayedFor(t, await logIn(username, wrong), 30);
  delayedFor(t, await logIn('no.such.user', wrong), 30);
  delayedFor(t, await logIn('NO.such.User', wrong), 30);
  const texts = await Promise.all([logIn(username, wrong), logIn('no.such.user', wrong)]);
  t.equal(texts[0].body.message, texts[1].body.message);
});

t.test(
  'a username and an e-mail address have a counter each, so that none tells that they belong together',
  async (t) => {
    const { username, email } = await createUser(app);
    await fail(t, 5, username);
    await fail(t, 5, username.toUpperCase());
    delayedFor(t, await logIn(username, wrong), 30);
    await fail(t, 10, email);
    delayedFor(t, await logIn(email.toUpperCase(), wrong), 30);

    const other = await createUser(app);
    await fail(t, 10, other.username);
    t.equal((await logIn(other.email)).status, 200);
  },
);

t.test('each failure after a delay doubles it, from 30 s up to 15 min', async (t) => {
  const { username } = await createUser(app);
  for (const login of [username, 'unknown.user']) {
    await fail(t, 10, login);
    for (const seconds of [30, 60, 120, 240, 480, 900, 900]) {
      delayedFor(t, await logIn(login, wrong), seconds);
      delayedFor(t, await logIn(login, wrong), seconds);
      await passDelays();
      await fail(t, 1, login);
    }
  }
});

t.test('an attempt during the delay does not prolong it', async (t) => {
  const { username } = await createUser(app);
  await fail(t, 10, username);
  await age('20 seconds');
  for (let time = 0; time < 5; time++) delayedFor(t, await logIn(username, wrong), 10);
});

t.test('a successful login lifts the delay and forgets the failures', async (t) => {
  const { username } = await createUser(app);
  await fail(t, 10, username);
  await passDelays();
  t.equal((await logIn(username, password, '198.51.100.1')).status, 200);
  await fail(t, 10, username);
  delayedFor(t, await logIn(username), 30);

  await passDelays();
  t.equal((await logIn(username, password, '198.51.100.2')).status, 200);
  await fail(t, 9, username);
  t.equal((await logIn(username, password, '198.51.100.3')).status, 200);
  await fail(t, 10, username);
});

t.test(
  'a successful login forgets the failures with the username and the e-mail address alike',
  async (t) => {
    for (const from of [stranger, home]) {
      const { username, email } = await createUser(app);
      for (const login of [username, email]) {
        await fail(t, 10, username, from);
        await fail(t, 10, email, from);
        await passDelays();
        t.equal((await logIn(login, password, from)).status, 200);
        await fail(t, 9, username, from);
        await fail(t, 9, email, from);
        t.equal((await logIn(login, password, from)).status, 200);
      }
    }
  },
);

t.test('a completed reset lifts the delay, for strangers and from known addresses', async (t) => {
  const { username, email } = await createUser(app);
  for (const name of [username, email]) {
    await fail(t, 10, name, home);
    delayedFor(t, await logIn(name, password, home), 30);
    await fail(t, 10, name);
    delayedFor(t, await logIn(name), 30);
  }
  await app.call('POST', '/auth/reset-password-request/', { body: { email } });
  const { uid, token } = resetLinkIn(await app.mails.next(email, 1));
  const body = { uid, token, new_password: 'tteok-and-tea-2' };
  t.equal((await app.call('POST', '/auth/reset-password-confirm/', { body })).status, 200);
  await fail(t, 9, username);
  await fail(t, 9, email);
  t.equal((await logIn(username, 'tteok-and-tea-2', home)).status, 200);
  t.equal((await logIn(username, 'tteok-and-tea-2')).status, 200);
});

t.test('only failures within 15 min count', async (t) => {
  const { username } = await createUser(app);
  await fail(t, 9, username);
  await age('15 minutes 1 second');
  await fail(t, 10, username);
  delayedFor(t, await logIn(username), 30);

  const other = await createUser(app);
  await fail(t, 9, other.username);
  await age('14 minutes');
  await fail(t, 1, other.username);
  delayedFor(t, await logIn(other.username), 30);
});

t.test('a delay expires', async (t) => {
  const { username } = await createUser(app);
  await fail(t, 10, username);
  await age('16 minutes');
  await fail(t, 10, username);
  delayedFor(t, await logIn(username), 30);
});

t.test('of 30 concurrent wrong guesses, ten are checked', async (t) => {
  const { username } = await createUser(app);
  for (const name of [username, 'other.unknown']) {
    const answers = await inParallel(30, (index) => logIn(name, wrong, `198.51.100.${index % 2}`));
    t.strictSame(tally(answers), { '401 invalid_credentials': 10, '429 too_many_attempts': 20 });
    for (const answer of answers.filter(({ status }) => status === 429)) delayedFor(t, answer, 30);
  }
  delayedFor(t, await logIn(username), 30);
});

t.test('concurrent failures and logins with both names do not deadlock', async (t) => {
  const { username, email } = await createUser(app);
  const answers = await inParallel(40, (index) =>
    logIn(index % 2 ? username : email, index % 4 < 2 ? password : wrong, home),
  );
  for (const { status } of answers) t.ok([200, 401, 429].includes(status), `${status}`);
});

t.test('after the delay, one of 30 concurrent wrong guesses is checked', async (t) => {
  const { username } = await createUser(app);
  await fail(t, 10, username);
  await passDelays();
  const answers = await inParallel(30, () => logIn(username, wrong));
  t.strictSame(tally(answers), { '401 invalid_credentials': 1, '429 too_many_attempts': 29 });
});

t.test('failures count on all instances together', async (t) => {
  const other = await createTestApp({ WORKER_ENABLED: 'false' }, { databaseUrl: app.url });
  t.teardown(other.close);
  const { username } = await createUser(app);
  const answers = await inParallel(30, (index) => logIn(username, wrong, stranger, index % 2 ? other : app));
  t.strictSame(tally(answers), { '401 invalid_credentials': 10, '429 too_many_attempts': 20 });
  delayedFor(t, await logIn(username, password, stranger, other), 30);
});

t.test('a validation error is not a failed login', async (t) => {
  const { username } = await createUser(app);
  for (let time = 0; time < 12; time++) t.equal((await logIn(username, '')).status, 400);
  t.equal((await logIn(username)).status, 200);
});

t.test('failed logins are stored without the name that was typed', async (t) => {
  await fail(t, 1, 'a.very.special.name');
  const { rows } = await app.pool.query('SELECT f::text AS row FROM login_failures f');
  t.ok(rows.length > 0);
  for (const { row } of rows) t.notMatch(row, 'special');
});
