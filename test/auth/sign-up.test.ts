import t from 'tap';
import { codeIn, createTestApp, password } from '../support/app.ts';
import { refused, tally } from '../support/assertions.ts';
import { inParallel } from '../support/concurrency.ts';
import { signUpBody } from './accounts.ts';

const app = await createTestApp();
t.teardown(app.close);

const signUp = (body: unknown, headers: Record<string, string> = {}) =>
  app.call('POST', '/auth/signup/', { body, headers });

async function countUsers(where: string, value: string): Promise<number> {
  const { rows } = await app.pool.query(`SELECT count(*)::int AS n FROM users WHERE ${where} = $1`, [value]);
  return rows[0].n;
}

t.test('signing up answers with exactly the six fields of a user and mails a code', async (t) => {
  const body = { username: 'Dure_Cafe', password, name: '  김두레 ', email: 'Owner@Example.com' };
  const answer = await signUp(body);
  t.equal(answer.status, 201);
  t.strictSame(answer.body, {
    success: true,
    message: answer.body.message,
    data: {
      id: answer.body.data.id,
      username: 'dure_cafe',
      name: '김두레',
      email: 'owner@example.com',
      role: 'user',
      is_verified: false,
    },
  });
  t.ok(Number.isSafeInteger(answer.body.data.id));
  t.match(answer.body.message, /[가-힣]/);
  t.equal(answer.headers['cache-control'], 'no-store');
  t.match(codeIn(await app.mails.next('owner@example.com')), /^\d{6}$/);
});

t.test('the path without its slash answers the same', async (t) => {
  t.equal((await app.call('POST', '/auth/signup', { body: signUpBody() })).status, 201);
});

t.test('an account can log in before its address is verified', async (t) => {
  const body = signUpBody();
  await signUp(body);
  const login = await app.call('POST', '/auth/login/', { body: { username: body.username, password } });
  t.equal(login.status, 200);
  t.equal(login.body.data.user.is_verified, false);
});

t.test('a username that is taken is 409, in any case', async (t) => {
  const { username } = signUpBody();
  await signUp(signUpBody({ username }));
  const other = signUpBody({ username: username.toUpperCase() });
  refused(t, await signUp(other), 409, 'username_taken');
  t.equal(await countUsers('username', username), 1);
  t.equal(await countUsers('email', other.email), 0);
  await app.mails.settled();
  t.notOk(app.mails.sent.some(({ to }) => to === other.email));
});

t.test('an e-mail address that is taken is 409, in any case', async (t) => {
  const { email } = signUpBody();
  await signUp(signUpBody({ email }));
  const other = signUpBody({ email: email.replace('visitor', 'VisItor') });
  refused(t, await signUp(other), 409, 'email_taken');
  t.equal(await countUsers('email', email), 1);
  t.equal(await countUsers('username', other.username), 0);
  await app.mails.settled();
  t.equal(app.mails.sent.filter(({ to }) => to === email).length, 1);
});

t.test('of 20 concurrent sign-ups with one username, one succeeds', async (t) => {
  const { username } = signUpBody();
  const answers = await inParallel(20, () => signUp(signUpBody({ username })));
  t.strictSame(tally(answers), { '201': 1, '409 username_taken': 19 });
  t.equal(await countUsers('username', username), 1);
});

t.test('of 20 concurrent sign-ups with one e-mail address, one succeeds', async (t) => {
  const { email } = signUpBody();
  const answers = await inParallel(20, () => signUp(signUpBody({ email })));
  t.strictSame(tally(answers), { '201': 1, '409 email_taken': 19 });
  t.equal(await countUsers('email', email), 1);
  await app.mails.settled();
  t.equal(app.mails.sent.filter(({ to }) => to === email).length, 1);
});

t.test('of 20 concurrent sign-ups with one body, one succeeds', async (t) => {
  const body = signUpBody();
  const answers = await inParallel(20, () => signUp(body));
  t.strictSame(tally(answers), { '201': 1, '409 username_taken': 19 });
});

t.test('20 concurrent sign-ups of different users succeed', async (t) => {
  const answers = await inParallel(20, () => signUp(signUpBody()));
  t.strictSame(tally(answers), { 201: 20 });
  t.equal(new Set(answers.map(({ body }) => body.data.id)).size, 20);
});

t.test('the language of a user is set at sign-up', async (t) => {
  for (const [header, language, text] of [
    ['en-US', 'en', /account/],
    ['fr, en;q=0.3', 'en', /account/],
    ['ko-KR,en;q=0.9', 'ko', /회원가입/],
    ['fr', 'ko', /회원가입/],
  ] as const) {
    const body = signUpBody();
    const answer = await signUp(body, { 'accept-language': header });
    t.match(answer.body.message, text, header);
    t.equal(answer.headers['content-language'], language);
    t.match(answer.headers.vary, /Accept-Language/i);
    const { rows } = await app.pool.query('SELECT language FROM users WHERE username = $1', [body.username]);
    t.equal(rows[0].language, language, header);
    t.match((await app.mails.next(body.email)).text, language === 'en' ? /code/ : /인증/);
  }
});

t.test('no password can be read from the database or the log', async (t) => {
  const secret = 'only-i-know-this-42';
  const body = signUpBody({ password: secret });
  t.equal((await signUp(body, { 'idempotency-key': 'a-key-that-is-kept' })).status, 201);
  await app.call('POST', '/auth/login/', { body: { username: body.username, password: `${secret}!` } });
  const { rows } = await app.pool.query(
    `SELECT query_to_xml('SELECT * FROM ' || quote_ident(tablename), true, false, '')::text AS content
     FROM pg_tables WHERE schemaname = 'public'`,
  );
  t.ok(rows.some(({ content }) => content.includes(body.username)));
  t.notOk(rows.some(({ content }) => content.includes(secret)));
  t.notOk(app.logs.some((line) => line.includes(secret)));
});
