import t from 'tap';
import { codeIn, createTestApp, password } from '../support/app.ts';
import { invalid, rejected, tally } from '../support/assertions.ts';
import { inParallel } from '../support/concurrency.ts';
import { accountsOf, signUpBody, verifyAddress } from './accounts.ts';
import { comparable, mailsTo } from './mailbox.ts';

const app = await createTestApp();
const required = await app.startInstance({ EMAIL_VERIFICATION: 'required' });

const { signUp } = accountsOf(app);

/** The body of a sign-up whose email is proved. */
async function provenBody(fields: Record<string, unknown> = {}) {
  const body = signUpBody(fields);
  return { ...body, verification_token: await verifyAddress(app, body.email) };
}

const mailCount = async (email: string) => (await mailsTo(app, email)).length;
const countUsers = async (): Promise<number> =>
  (await app.pool.query('SELECT count(*)::int AS n FROM users')).rows[0].n;

t.test('a sign-up returns exactly the six fields of a user and sends a code', async (t) => {
  const body = { username: 'Dure_Cafe', password, name: '  김두레 ', email: 'Owner@Example.com' };
  const response = await signUp(body);
  const { id } = response.body.data;
  const user = { id, username: 'dure_cafe', name: '김두레', email: 'owner@example.com', role: 'user' };
  t.strictSame(response.body.data, { ...user, is_verified: false });
  t.ok(Number.isSafeInteger(id));
  t.match(codeIn(await app.mails.next('owner@example.com')), /^\d{6}$/);
  const withoutSlash = await app.call('POST', '/auth/signup', { body: signUpBody() });
  t.equal(withoutSlash.status, 201, 'the path without its slash answers the same');
});

for (const field of ['username', 'email'] as const) {
  const code = `${field}_taken`;

  t.test(`a sign-up with a ${field} that is taken is ${code}, in any case`, async (t) => {
    const first = signUpBody();
    await signUp(first);
    const second = signUpBody({ [field]: first[field].toUpperCase() });
    const users = await countUsers();
    rejected(t, await signUp(second), 409, code);
    t.equal(await countUsers(), users);
    t.equal(await mailCount(first.email), 1);
    if (field === 'username') t.equal(await mailCount(second.email), 0);
  });

  t.test(`of 20 concurrent sign-ups with one ${field}, one succeeds`, async (t) => {
    const { username, email } = signUpBody();
    const users = await countUsers();
    const shared = field === 'username' ? { username } : { email };
    const responses = await inParallel(20, () => signUp(signUpBody(shared)));
    t.strictSame(tally(responses), { '201': 1, [`409 ${code}`]: 19 });
    t.equal(await countUsers(), users + 1);
    if (field === 'email') t.equal(await mailCount(email), 1);
  });
}

t.test('the language of a user is set at sign-up', async (t) => {
  for (const [header, language, message, text] of [
    ['en-US', 'en', /account/, /code/],
    ['ko-KR,en;q=0.9', 'ko', /회원가입/, /인증/],
  ] as const) {
    const body = signUpBody();
    t.match((await signUp(body, { 'accept-language': header })).body, { message });
    const { rows } = await app.pool.query('SELECT language FROM users WHERE username = $1', [body.username]);
    t.strictSame(rows, [{ language }], header);
    t.match((await app.mails.next(body.email)).text, text);
  }
});

t.test('with a verification_token the account is verified, and no code is mailed', async (t) => {
  const body = await provenBody();
  const response = await signUp({ ...body, email: body.email.toUpperCase() });
  t.match(response, { status: 201, body: { data: { is_verified: true, email: body.email } } });
  t.equal(await mailCount(body.email), 1, 'only the code that was asked for');
});

t.test('an invalid token is verification_token_invalid, and no account is created', async (t) => {
  const { verification_token: token, ...body } = await provenBody();
  const [id = '', proof = ''] = token.split('.');
  const ids = ['', '00000000-0000-4000-8000-000000000000', id.replaceAll('-', '0'), '-'.repeat(36)];
  for (const verification_token of [
    ...['x', 'undefined', id, `${id}.`, `${id}.${'A'.repeat(43)}`, `${id}.${proof}.${proof}`],
    ...[`${token}A`, token.slice(0, -1), token.toUpperCase(), ...ids.map((one) => `${one}.${proof}`)],
  ]) {
    rejected(t, await signUp({ ...body, verification_token }), 400, 'verification_token_invalid');
  }
  t.equal((await signUp({ ...body, verification_token: token })).status, 201, 'the genuine one still works');
});

t.test('a token is bound to its address', async (t) => {
  const { verification_token } = await provenBody();
  rejected(t, await signUp(signUpBody({ verification_token })), 400, 'verification_token_invalid');
});

t.test('a token lives for VERIFICATION_TOKEN_TTL, by default 30 minutes', async (t) => {
  const body = await provenBody();
  const left =
    'SELECT extract(epoch FROM expires_at - now())::int AS seconds FROM email_proofs WHERE email = $1';
  const [{ seconds }] = (await app.pool.query(left, [body.email])).rows;
  t.ok(seconds > 1740 && seconds <= 1800, `${seconds} s`);
  await app.pool.query('UPDATE email_proofs SET expires_at = now() WHERE email = $1', [body.email]);
  rejected(t, await signUp(body), 400, 'verification_token_invalid');
});

t.test('a sign-up that is rejected does not use the token up', async (t) => {
  const { username } = signUpBody();
  await signUp(signUpBody({ username }));
  const body = await provenBody();
  rejected(t, await signUp({ ...body, username }), 409, 'username_taken');
  invalid(t, await signUp({ ...body, password: 'password' }), 'password');
  t.equal((await signUp(body)).status, 201);
});

t.test('of 20 concurrent sign-ups with one token, one succeeds', async (t) => {
  const { email, verification_token } = await provenBody();
  const responses = await inParallel(20, () => signUp(signUpBody({ email, verification_token })));
  t.strictSame(tally(responses), { '201': 1, '400 verification_token_invalid': 19 });
  await app.pool.query('DELETE FROM users WHERE email = $1', [email]);
  const again = await signUp(signUpBody({ email, verification_token }));
  rejected(t, again, 400, 'verification_token_invalid');
});

t.test('with EMAIL_VERIFICATION=required sign-up needs a token', async (t) => {
  invalid(t, await signUp(signUpBody(), {}, required), 'verification_token');
  const common = signUpBody({ password: 'password' });
  invalid(t, await signUp(common, {}, required), 'verification_token', 'password');
  const unknown = await signUp(signUpBody({ verification_token: 'x' }), {}, required);
  rejected(t, unknown, 400, 'verification_token_invalid');
  const response = await signUp(await provenBody(), {}, required);
  t.match(response, { status: 201, body: { data: { is_verified: true } } });
});

t.test('with EMAIL_VERIFICATION=required sign-up does not reveal taken addresses or usernames', async (t) => {
  const taken = signUpBody();
  await signUp(taken);
  const { verification_token } = await provenBody();
  for (const token of [{}, { verification_token: 'x' }, { verification_token }]) {
    const [free, address, both] = [
      await signUp(signUpBody(token), {}, required),
      await signUp(signUpBody({ email: taken.email, ...token }), {}, required),
      await signUp({ ...taken, ...token }, {}, required),
    ];
    t.equal(free.status, 400);
    t.strictSame(address.body, free.body);
    t.strictSame(both.body, free.body);
    t.strictSame(comparable(address).headers, comparable(free).headers);
  }
  t.equal(await mailCount(taken.email), 1, 'no email but the one of the first sign-up');
});
