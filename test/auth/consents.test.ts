import t from 'tap';
import { createTestApp, createUser, deleteAccount, suspend, type TestApp } from '../support/app.ts';
import { exhausted, invalid, rejected } from '../support/assertions.ts';
import { inParallel } from '../support/concurrency.ts';
import { cleanUp } from '../support/images.ts';
import { countRows } from '../support/rows.ts';
import { accountsOf, signUpBody } from './accounts.ts';
import { developmentLogin } from './development-login.ts';
import { createVerifiedUser, mailsTo } from './mailbox.ts';

const app = await createTestApp();
const terms = { TERMS_VERSION: '2026-01-31', TERMS_URL: 'https://dure.example/terms' };
const privacy = { PRIVACY_VERSION: '2026-02-28', PRIVACY_URL: 'https://dure.example/privacy' };
const both = await app.startInstance({ ...terms, ...privacy });
/** Later, without a privacy policy. */
const termsOnly = await app.startInstance({ ...terms, TERMS_VERSION: '2027-01-01' });
const { signUp } = accountsOf(app);

const accepted = { terms: '2026-01-31', privacy: '2026-02-28', is_14_or_older: true };
const path = '/auth/me/consents/';

/** The rows of a user, oldest first. */
async function rowsOf(id: number): Promise<Record<string, unknown>[]> {
  const columns = 'kind, action, version, address';
  return (await app.pool.query(`SELECT ${columns} FROM consents WHERE user_id = $1 ORDER BY id`, [id])).rows;
}

const actionsOf = async (id: number) => (await rowsOf(id)).map(({ action }) => action);

const read = (token: string, at = both) => at.call('GET', path, { token });
const change = (token: string, body: unknown, at = both) => at.call('PATCH', path, { token, body });

/** Signs up at an instance that demands consents. */
const signUpWith = (consents: unknown, fields = {}, headers = {}, at = both) =>
  signUp(signUpBody({ consents, ...fields }), headers, at);

t.test('the documents that are configured are listed, with marketing as the only optional one', async (t) => {
  const list = async (at: TestApp) => (await at.call('GET', '/auth/consents/')).body.data;
  const ofTerms = { version: '2026-01-31', url: 'https://dure.example/terms' };
  const ofPrivacy = { version: '2026-02-28', url: 'https://dure.example/privacy' };
  t.strictSame(await list(app), { items: [] });
  const later = { ...ofTerms, version: '2027-01-01' };
  t.strictSame(await list(termsOnly), {
    items: [
      { id: 'terms', ...later, required: true },
      { id: 'marketing', ...later, required: false },
    ],
  });
  t.strictSame(await list(both), {
    items: [
      { id: 'terms', ...ofTerms, required: true },
      { id: 'privacy', ...ofPrivacy, required: true },
      { id: 'marketing', ...ofPrivacy, required: false },
    ],
  });
});

t.test('a sign-up records each answer with its version and the address of the client', async (t) => {
  const response = await signUpWith({ ...accepted, marketing: true });
  const address = '127.0.0.1';
  t.strictSame(await rowsOf(response.body.data.id), [
    { kind: 'terms', action: 'given', version: '2026-01-31', address },
    { kind: 'privacy', action: 'given', version: '2026-02-28', address },
    { kind: 'marketing', action: 'given', version: '2026-02-28', address },
    { kind: 'age', action: 'given', version: null, address },
  ]);
  const only = await signUpWith({ terms: '2027-01-01', is_14_or_older: true }, {}, {}, termsOnly);
  t.equal((await rowsOf(only.body.data.id)).length, 2, 'without a privacy policy');
});

t.test('a sign-up without them is rejected for all its problems at once, and records nothing', async (t) => {
  const before = await countRows(app, 'consents');
  const { errors } = (await signUpWith(undefined)).body.data;
  t.match(errors, [{ field: 'consents', code: 'required' }]);
  const fields = ['/consents/terms', '/consents/privacy', '/consents/is_14_or_older'];
  invalid(t, await signUpWith({}), ...fields);
  invalid(t, await signUpWith({}, { password: '11111111' }), 'password', ...fields);
  invalid(t, await signUpWith({}, {}, {}, termsOnly), '/consents/terms', '/consents/is_14_or_older');
  const old = await signUpWith({ ...accepted, terms: '2025-12-31' });
  invalid(t, old, '/consents/terms');
  t.match(old.body.data.errors, [{ code: 'not_allowed', params: { allowed: ['2026-01-31'] } }]);
  const young = await signUpWith({ ...accepted, is_14_or_older: false });
  invalid(t, young, '/consents/is_14_or_older');
  t.match(young.body.data.errors, [{ code: 'not_allowed', params: { allowed: ['true'] } }]);
  invalid(t, await signUpWith({ ...accepted, newsletter: true }), '/consents/newsletter');
  const taken = signUpBody();
  await signUp(taken);
  rejected(t, await signUpWith(accepted, { email: taken.email }), 409, 'email_taken');
  t.equal(await countRows(app, 'consents'), before);
});

t.test('where nothing is demanded, what is given is recorded as it is', async (t) => {
  const response = await signUpWith({ privacy: '2020-01-01', marketing: false }, {}, {}, app);
  const { id } = response.body.data;
  t.match(await rowsOf(id), [
    { kind: 'privacy', action: 'given', version: '2020-01-01' },
    { kind: 'marketing', action: 'withdrawn', version: '2020-01-01' },
  ]);
  t.equal((await signUpWith(undefined, {}, {}, app)).status, 201);
});

t.test('a replayed sign-up records nothing, whatever is demanded by then', async (t) => {
  const body = signUpBody({ consents: accepted });
  const headers = { 'idempotency-key': 'with-consents' };
  const first = await signUp(body, headers, both);
  t.strictSame((await signUp(body, headers, termsOnly)).body, first.body);
  t.equal((await rowsOf(first.body.data.id)).length, 3);
});

t.test('a sign-up with a provider needs them as well, and without them keeps its token', async (t) => {
  const { finish } = await developmentLogin(both, { subject: 'consenting', email: 'consenting@example.com' });
  const { sign_up_token } = (await finish()).body.data;
  const { username, name, email } = signUpBody();
  const signUpHere = (consents?: unknown) =>
    both.call('POST', '/auth/providers/sign-up/', {
      body: { sign_up_token, username, name, email, consents },
    });
  invalid(t, await signUpHere(), 'consents');
  invalid(t, await signUpHere({ ...accepted, privacy: '2026-01-31' }), '/consents/privacy');
  const { status, body } = await signUpHere(accepted);
  t.equal(status, 201);
  t.equal((await rowsOf(body.data.user.id)).length, 3);
});

t.test('a user reads the latest answers, and agrees to a new version', async (t) => {
  const user = await createUser(app);
  t.strictSame((await read(user.token)).body.data, { items: [] });
  await change(user.token, { terms: '2026-01-31', marketing: true });
  const { body } = await read(user.token);
  const given = { given_at: String, withdrawn_at: null, is_current: true };
  t.match(body.data, {
    items: [
      { id: 'terms', version: '2026-01-31', ...given },
      { id: 'marketing', version: '2026-02-28', ...given },
    ],
  });
  t.match((await read(user.token, termsOnly)).body.data.items, [{ id: 'terms', is_current: false }, {}]);
  const outdated = await change(user.token, { terms: '2026-01-31' }, termsOnly);
  invalid(t, outdated, 'terms');
  t.match(outdated.body.data.errors, [{ code: 'not_allowed', params: { allowed: ['2027-01-01'] } }]);
  const agreed = await change(user.token, { terms: '2027-01-01' }, termsOnly);
  t.match(agreed.body.data.items, [{ id: 'terms', version: '2027-01-01', is_current: true }, {}]);
});

t.test('only the marketing consent can be withdrawn, and given again', async (t) => {
  const { token, id } = await createUser(app);
  const { given_at } = (await change(token, { marketing: true })).body.data.items[0];
  const withdrawn = (await change(token, { marketing: false })).body.data.items[0];
  t.match(withdrawn, { id: 'marketing', given_at, withdrawn_at: String, is_current: false });
  const { items } = (await change(token, { marketing: true })).body.data;
  t.match(items, [{ given_at: String, withdrawn_at: null, is_current: true }]);
  t.strictSame(await actionsOf(id), ['given', 'withdrawn', 'given']);
  invalid(t, await change(token, { terms: false }), 'terms');
  invalid(t, await change(token, { is_14_or_older: true }), 'is_14_or_older');
});

t.test('the same answer twice is one row, also at once on two instances', async (t) => {
  const { token, id } = await createUser(app);
  const responses = await inParallel(6, (index) =>
    change(token, { privacy: '2026-02-28' }, index % 2 ? both : termsOnly),
  );
  for (const { status } of responses) t.equal(status, 200);
  t.equal((await rowsOf(id)).length, 1);
  for (let time = 0; time < 2; time++) await change(token, { terms: '2026-01-31', marketing: true });
  t.equal((await rowsOf(id)).length, 3);
});

t.test('at most 50 changes of one user are recorded a day', async (t) => {
  const { token } = await createUser(app);
  for (let n = 0; n < 50; n++) t.equal((await change(token, { marketing: n % 2 === 0 })).status, 200);
  exhausted(t, await change(token, { marketing: true }), 86_400);
  t.equal((await change(token, { marketing: false })).status, 200, 'the answer of before is no change');
});

t.test('an answer is never changed, and goes with the account', async (t) => {
  const user = await createUser(app);
  await change(user.token, { marketing: true });
  const update = app.pool.query("UPDATE consents SET action = 'withdrawn' WHERE user_id = $1", [user.id]);
  await t.rejects(update, /never changed/);
  t.equal((await deleteAccount(app, user)).status, 200);
  t.strictSame(await rowsOf(user.id), []);
});

/** A verified user whose answer about marketing is so old. */
async function createAsked(age: string, action = 'given') {
  const user = await createVerifiedUser(app);
  await app.pool.query(
    `INSERT INTO consents (user_id, kind, action, version, created_at)
     VALUES ($1, 'marketing', 'given', '2024-01-31', '2024-01-31T15:00:00Z'),
       ($1, 'marketing', $2, '2024-01-31', now() - $3::interval)`,
    [user.id, action, age],
  );
  return user;
}

t.test('marketing consents are asked for once every 23 months, also by clean-ups at once', async (t) => {
  const due = [await createAsked('23 months 1 day', 'asked'), await createAsked('23 months 1 day', 'asked')];
  const recent = [await createAsked('22 months'), await createAsked('22 months', 'asked')];
  const withdrawn = await createAsked('30 months', 'withdrawn');
  const suspended = await createAsked('30 months');
  await suspend(app, suspended);
  const unverified = await createAsked('30 months');
  await app.pool.query('UPDATE users SET is_verified = false WHERE id = $1', [unverified.id]);
  await cleanUp(app, 2);
  for (const user of due) {
    const [mail, ...more] = await mailsTo(app, user.email);
    t.strictSame(more, []);
    t.match(mail, { subject: '수신 동의', text: /2024년 2월 1일.*https:\/\/app\.example\.com\/account/s });
    t.match((await rowsOf(user.id)).slice(2), [{ action: 'asked', version: '2024-01-31', address: null }]);
    t.match((await read(user.token)).body.data.items, [{ given_at: '2024-01-31T15:00:00.000Z' }]);
  }
  for (const user of [...recent, withdrawn, suspended, unverified]) {
    t.strictSame(await mailsTo(app, user.email), []);
    t.equal((await rowsOf(user.id)).length, 2);
  }
});

t.test('an answer to the question is recorded, also where it is the same', async (t) => {
  const { token, id } = await createAsked('1 month', 'asked');
  await change(token, { marketing: true });
  await change(token, { marketing: true });
  t.strictSame(await actionsOf(id), ['given', 'asked', 'given']);
});

t.test('who has had too many notices within an hour is asked later', async (t) => {
  const user = await createAsked('24 months');
  await app.pool.query(
    `INSERT INTO mail_sends (purpose, email, sent_at) VALUES ('notice', $1, array_fill(now(), ARRAY[5]))`,
    [user.email],
  );
  await cleanUp(app);
  t.equal((await rowsOf(user.id)).length, 2);
  await app.pool.query('DELETE FROM mail_sends WHERE email = $1', [user.email]);
  await cleanUp(app);
  t.equal((await mailsTo(app, user.email)).length, 1);
});
