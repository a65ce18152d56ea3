import t from 'tap';
import { createTestApp } from '../support/app.ts';
import { invalid, refused, tally } from '../support/assertions.ts';
import { inParallel } from '../support/concurrency.ts';
import { signUpBody, verifyAddress } from './accounts.ts';

const app = await createTestApp();
t.teardown(app.close);
const required = await createTestApp(
  { EMAIL_VERIFICATION: 'required', WORKER_ENABLED: 'false' },
  { databaseUrl: app.url },
);
t.teardown(required.close);

const signUp = (body: unknown, { call } = app) => call('POST', '/auth/signup/', { body });

/** The body of a sign-up whose address is proved. */
async function provenBody(fields: Record<string, unknown> = {}) {
  const body = signUpBody(fields);
  return { ...body, verification_token: await verifyAddress(app, body.email) };
}

/** How many mails went to an address, once the queue is empty. */
async function mailsTo(email: string): Promise<number> {
  await app.mails.settled();
  return app.mails.sent.filter(({ to }) => to === email).length;
}

t.test('with a verification_token the account is verified, and no code is mailed', async (t) => {
  const body = await provenBody();
  const answer = await signUp({ ...body, email: body.email.toUpperCase() });
  t.equal(answer.status, 201);
  t.equal(answer.body.data.is_verified, true);
  t.equal(answer.body.data.email, body.email);
  t.equal(await mailsTo(body.email), 1, 'only the code that was asked for');
});

t.test('an invalid token is verification_token_invalid, and no account is created', async (t) => {
  const { verification_token: token, ...body } = await provenBody();
  const [id = '', proof = ''] = token.split('.');
  const bad = [
    'x',
    'undefined',
    id,
    `${id}.`,
    `.${proof}`,
    `${token}A`,
    token.slice(0, -1),
    `${id}.${proof}.${proof}`,
  ];
  bad.push(
    `${id}.${'A'.repeat(43)}`,
    `00000000-0000-4000-8000-000000000000.${proof}`,
    `${id.replaceAll('-', '0')}.${proof}`,
  );
  bad.push(`------------------------------------.${proof}`, token.toUpperCase());
  for (const verification_token of bad) {
    refused(t, await signUp({ ...body, verification_token }), 400, 'verification_token_invalid');
  }
  for (const verification_token of [null, 5, '', {}]) {
    invalid(t, await signUp({ ...body, verification_token }), 'verification_token');
  }
  t.equal((await signUp({ ...body, verification_token: token })).status, 201, 'the genuine one still works');
});

t.test('a token is bound to its address', async (t) => {
  const { verification_token } = await provenBody();
  refused(t, await signUp(signUpBody({ verification_token })), 400, 'verification_token_invalid');
});

t.test('a token expires', async (t) => {
  const body = await provenBody();
  await app.pool.query('UPDATE email_proofs SET expires_at = now() WHERE email = $1', [body.email]);
  refused(t, await signUp(body), 400, 'verification_token_invalid');
});

t.test('a token lives for VERIFICATION_TOKEN_TTL, by default 30 minutes', async (t) => {
  const { email } = await provenBody();
  const { rows } = await app.pool.query(
    'SELECT extract(epoch FROM expires_at - now())::int AS seconds FROM email_proofs WHERE email = $1',
    [email],
  );
  t.ok(rows[0].seconds > 1740 && rows[0].seconds <= 1800, `${rows[0].seconds} s`);
});

t.test('a token works once', async (t) => {
  const body = await provenBody();
  t.equal((await signUp(body)).status, 201);
  const again = signUpBody({ email: body.email, verification_token: body.verification_token });
  refused(t, await signUp(again), 400, 'verification_token_invalid');
  await app.pool.query('DELETE FROM users WHERE email = $1', [body.email]);
  refused(t, await signUp(again), 400, 'verification_token_invalid');
});

t.test('a sign-up that is refused does not use the token up', async (t) => {
  const { username } = signUpBody();
  await signUp(signUpBody({ username }));
  const body = await provenBody();
  refused(t, await signUp({ ...body, username }), 409, 'username_taken');
  invalid(t, await signUp({ ...body, password: 'password' }), 'password');
  t.equal((await signUp(body)).status, 201);
});

t.test('of 20 concurrent sign-ups with one token, one succeeds', async (t) => {
  const { email, verification_token } = await provenBody();
  const answers = await inParallel(20, () => signUp(signUpBody({ email, verification_token })));
  t.strictSame(tally(answers), { '201': 1, '400 verification_token_invalid': 19 });
});

t.test('with EMAIL_VERIFICATION=required sign-up needs a token', async (t) => {
  invalid(t, await signUp(signUpBody(), required), 'verification_token');
  invalid(t, await signUp(signUpBody({ password: 'password' }), required), 'verification_token', 'password');
  invalid(t, await signUp(signUpBody({ verification_token: null }), required), 'verification_token');
  refused(
    t,
    await signUp(signUpBody({ verification_token: 'x' }), required),
    400,
    'verification_token_invalid',
  );
  const answer = await signUp(await provenBody(), required);
  t.equal(answer.status, 201);
  t.equal(answer.body.data.is_verified, true);
});

t.test('with EMAIL_VERIFICATION=required sign-up does not reveal taken addresses or usernames', async (t) => {
  const taken = signUpBody();
  await signUp(taken);
  const { verification_token } = await provenBody();
  for (const token of [{}, { verification_token: 'x' }, { verification_token }]) {
    const [free, address, both] = [
      await signUp(signUpBody(token), required),
      await signUp(signUpBody({ email: taken.email, ...token }), required),
      await signUp({ ...taken, ...token }, required),
    ];
    t.equal(free.status, 400);
    t.strictSame(address.body, free.body);
    t.strictSame(both.body, free.body);
    const telling = ({ headers: { date, 'x-request-id': id, ...others } }: typeof free) => others;
    t.strictSame(telling(address), telling(free));
  }
  t.equal(await mailsTo(taken.email), 1, 'no mail but the one of the first sign-up');
});
