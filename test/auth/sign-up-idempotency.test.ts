import t from 'tap';
import { createTestApp, password } from '../support/app.ts';
import { invalid, refused, tally } from '../support/assertions.ts';
import { inParallel } from '../support/concurrency.ts';
import { signUpBody } from './accounts.ts';

const app = await createTestApp();
t.teardown(app.close);

let keys = 0;
const newKey = () => `key-${++keys}`;

const signUp = (body: unknown, key: string, headers: Record<string, string> = {}, { call } = app) =>
  call('POST', '/auth/signup/', { body, headers: { 'idempotency-key': key, ...headers } });

async function countUsers(): Promise<number> {
  const { rows } = await app.pool.query('SELECT count(*)::int AS n FROM users');
  return rows[0].n;
}

t.test('the same key with the same body returns the first answer again and changes nothing', async (t) => {
  const [body, key] = [signUpBody(), newKey()];
  const first = await signUp(body, key);
  t.equal(first.status, 201);
  t.notOk('idempotency-replayed' in first.headers);
  const users = await countUsers();
  for (let time = 0; time < 3; time++) {
    const again = await signUp(body, key);
    t.equal(again.status, 201);
    t.equal(again.text, first.text);
    t.equal(again.headers['idempotency-replayed'], 'true');
  }
  t.equal(await countUsers(), users);
  await app.mails.settled();
  t.equal(app.mails.sent.filter(({ to }) => to === body.email).length, 1);
});

t.test('a replay has the language of the first answer', async (t) => {
  const [body, key] = [signUpBody(), newKey()];
  const first = await signUp(body, key, { 'accept-language': 'en' });
  t.equal(first.headers['content-language'], 'en');
  const again = await signUp(body, key, { 'accept-language': 'ko' });
  t.equal(again.text, first.text);
  t.equal(again.headers['content-language'], 'en', 'and says so');
});

t.test('a replay is the first answer, also after the account has changed', async (t) => {
  const [body, key] = [signUpBody(), newKey()];
  const first = await signUp(body, key);
  await app.pool.query('UPDATE users SET name = $1, is_verified = true WHERE username = $2', [
    '다른 이름',
    body.username,
  ]);
  t.equal((await signUp(body, key)).text, first.text);
});

t.test('the same key with another body is idempotency_conflict', async (t) => {
  const [body, key] = [signUpBody(), newKey()];
  await signUp(body, key);
  const users = await countUsers();
  for (const changes of [{ name: '다른 이름' }, { password: `${password}!` }, signUpBody()]) {
    refused(t, await signUp({ ...body, ...changes }, key), 409, 'idempotency_conflict');
  }
  t.equal(await countUsers(), users);
});

t.test('the same body with another key is a new request', async (t) => {
  const body = signUpBody();
  await signUp(body, newKey());
  refused(t, await signUp(body, newKey()), 409, 'username_taken');
});

t.test(
  'of 20 concurrent requests with one key, one does the work and the others get its answer',
  async (t) => {
    const [body, key, users] = [signUpBody(), newKey(), await countUsers()];
    const answers = await inParallel(20, () => signUp(body, key));
    t.strictSame(tally(answers), { 201: 20 });
    t.equal(new Set(answers.map(({ text }) => text)).size, 1);
    t.equal(await countUsers(), users + 1);
    await app.mails.settled();
    t.equal(app.mails.sent.filter(({ to }) => to === body.email).length, 1);
  },
);

t.test('of 20 concurrent bodies with one key, one succeeds and the others conflict', async (t) => {
  const [key, users] = [newKey(), await countUsers()];
  const answers = await inParallel(20, () => signUp(signUpBody(), key));
  t.strictSame(tally(answers), { '201': 1, '409 idempotency_conflict': 19 });
  t.equal(await countUsers(), users + 1);
});

t.test('a key is shared by all instances', async (t) => {
  const other = await createTestApp({ WORKER_ENABLED: 'false' }, { databaseUrl: app.url });
  t.teardown(other.close);
  const [body, key] = [signUpBody(), newKey()];
  const first = await signUp(body, key);
  t.equal((await signUp(body, key, {}, other)).text, first.text);
  const [next, nextKey] = [signUpBody(), newKey()];
  const answers = await inParallel(20, (index) => signUp(next, nextKey, {}, index % 2 ? other : app));
  t.strictSame(tally(answers), { 201: 20 });
});

t.test('after a 4xx the key is free again', async (t) => {
  const taken = signUpBody();
  await signUp(taken, newKey());
  const key = newKey();
  invalid(t, await signUp(signUpBody({ password: 'short' }), key), 'password');
  invalid(t, await signUp(signUpBody({ password: 'password' }), key), 'password');
  refused(t, await signUp(signUpBody({ verification_token: 'x' }), key), 400, 'verification_token_invalid');
  refused(t, await signUp(signUpBody({ username: taken.username }), key), 409, 'username_taken');
  refused(t, await signUp(signUpBody({ email: taken.email }), key), 409, 'email_taken');
  t.equal((await signUp(signUpBody(), key)).status, 201);
});

t.test('after 24 hours the key is free again', async (t) => {
  const [body, key] = [signUpBody(), newKey()];
  await signUp(body, key);
  const shift = (interval: string) =>
    app.pool.query('UPDATE idempotency_keys SET created_at = now() - $1::interval WHERE key = $2', [
      interval,
      key,
    ]);
  await shift('23 hours 59 minutes');
  t.equal((await signUp(body, key)).status, 201);
  await shift('24 hours 1 second');
  refused(t, await signUp(body, key), 409, 'username_taken');
  const next = signUpBody();
  const first = await signUp(next, key);
  t.equal(first.status, 201);
  t.equal((await signUp(next, key)).text, first.text);
});

t.test('the stored row of a key has no password', async (t) => {
  const { rows } = await app.pool.query('SELECT k::text AS row FROM idempotency_keys k');
  t.ok(rows.length > 0);
  for (const { row } of rows) t.notMatch(row, password);
});

t.test('the order of the fields does not matter', async (t) => {
  const body = { username: 'same_body', password, name: '김두레', email: 'same-body@example.com' };
  const headers = { 'idempotency-key': 'same-body' };
  const first = await app.call('POST', '/auth/signup/', { body, headers });
  const reversed = Object.fromEntries(Object.entries(body).reverse());
  const again = await app.call('POST', '/auth/signup/', { body: reversed, headers });
  t.equal(first.status, 201);
  t.strictSame(again.body, first.body);
});
