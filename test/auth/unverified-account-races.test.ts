import t, { type Test } from 'tap';
import { createTestApp, createUser, deleteAccount } from '../support/app.ts';
import { refused, tally } from '../support/assertions.ts';
import { inParallel, lockRows } from '../support/concurrency.ts';
import { signUpBody, verifyAddress } from './accounts.ts';
import { latestCode, passTime } from './mailbox.ts';

const app = await createTestApp();
t.teardown(app.close);

const signUp = (body: unknown) => app.call('POST', '/auth/signup/', { body });

/** An account with an unverified address, and the body of a sign-up that proves the address. */
async function createRivals() {
  const squatter = await createUser(app);
  const { email } = squatter;
  const code = await latestCode(app, email);
  await passTime(app, email, 3600);
  const body = signUpBody({ email, verification_token: await verifyAddress(app, email) });
  return { squatter, body, code };
}

/** A sign-up that waits for a transaction on the account that it replaces, which then ends. */
async function signUpDuring(t: Test, statement: string, end: 'COMMIT' | 'ROLLBACK') {
  const { squatter, body } = await createRivals();
  const lock = await lockRows(t, app, statement, [squatter.id]);
  const answer = signUp(body);
  await lock.waiters(1);
  await lock.release(end);
  return { squatter, body, answer: await answer };
}

const openStore = `
  WITH store AS (INSERT INTO stores (owner_id, name)
    (SELECT id, '두레 카페' FROM users WHERE id = $1 FOR SHARE) RETURNING id)
  INSERT INTO store_category_links (store_id, category_id, position) SELECT id, 1, 1 FROM store`;
const verify = 'UPDATE users SET is_verified = true WHERE id = $1';
const remove = 'DELETE FROM users WHERE id = $1';

t.test('a sign-up waits for a concurrent opening of a store, and does not replace its owner', async (t) => {
  const { body, answer } = await signUpDuring(t, openStore, 'COMMIT');
  refused(t, answer, 409, 'email_taken');
  refused(t, await signUp(body), 409, 'email_taken');
  t.equal((await signUpDuring(t, openStore, 'ROLLBACK')).answer.status, 201);
});

t.test(
  'a sign-up waits for a concurrent verification, and does not replace a verified account',
  async (t) => {
    const { body, answer } = await signUpDuring(t, verify, 'COMMIT');
    refused(t, answer, 409, 'email_taken');
    refused(t, await signUp(body), 409, 'email_taken');
    t.equal((await signUpDuring(t, verify, 'ROLLBACK')).answer.status, 201);
  },
);

t.test('a sign-up waits for a concurrent deletion, and succeeds either way', async (t) => {
  t.equal((await signUpDuring(t, remove, 'COMMIT')).answer.status, 201);
  t.equal((await signUpDuring(t, remove, 'ROLLBACK')).answer.status, 201);
});

t.test(
  'an account that is verified or gets a store until the sign-up has locked it is not replaced',
  async (t) => {
    for (const statement of [verify, openStore]) {
      const { squatter, body } = await createRivals();
      await app.call('POST', '/auth/reset-password-request/', { body: { email: squatter.email } });
      const link = 'SELECT FROM password_resets WHERE email = $1 FOR UPDATE';
      const lock = await lockRows(t, app, link, [squatter.email]);
      const answer = signUp(body);
      await lock.waiters(1);
      await app.pool.query(statement, [squatter.id]);
      await lock.release();
      refused(t, await answer, 409, 'email_taken');
      t.equal((await app.call('GET', '/auth/me/', { token: squatter.token })).status, 200);
    }
  },
);

t.test('a sign-up and a code of the account that it replaces do not deadlock', async (t) => {
  const { email } = signUpBody();
  const verification_token = await verifyAddress(app, email);
  await passTime(app, email, 3600);
  const squatter = await createUser(app, { email });
  const code = await latestCode(app, email);
  const lock = await lockRows(t, app, 'SELECT FROM users WHERE id = $1 FOR UPDATE', [squatter.id]);
  const replaced = signUp(signUpBody({ email, verification_token }));
  await lock.waiters(1);
  const confirmed = app.call('POST', '/auth/email-verify/confirm/', { body: { email, code } });
  await lock.waiters(2);
  await lock.release();
  t.equal((await replaced).status, 201);
  t.equal((await confirmed).status, 200, 'the code proves the address');
});

t.test('a store cannot be opened in an account that is replaced', async (t) => {
  const { squatter, body } = await createRivals();
  const { token } = squatter;
  const lock = await lockRows(t, app, 'SELECT FROM sessions WHERE user_id = $1 FOR UPDATE', [squatter.id]);
  const replaced = signUp(body);
  await lock.waiters(1);
  const opened = app.call('POST', '/api/v1/stores/', { token, body: { name: '두레', category_ids: [1] } });
  await lock.waiters(2);
  await lock.release();
  t.equal((await replaced).status, 201);
  t.equal((await opened).status, 401);
});

t.test('of 12 concurrent sign-ups with a token each, one replaces the account', async (t) => {
  const { squatter, body } = await createRivals();
  const { email } = squatter;
  const tokens = [body.verification_token];
  while (tokens.length < 12) {
    await passTime(app, email, 3600);
    tokens.push(await verifyAddress(app, email));
  }
  const answers = await inParallel(12, (index) =>
    signUp(signUpBody({ email, verification_token: tokens[index] })),
  );
  t.strictSame(tally(answers), { '201': 1, '409 email_taken': 11 });
  const { rows } = await app.pool.query('SELECT FROM email_proofs WHERE email = $1', [email]);
  t.equal(rows.length, 11, 'the other tokens are not used up');
});

t.test('sign-up, verification, login, store and deletion at once leave one consistent account', async (t) => {
  for (let round = 0; round < 8; round++) {
    const { squatter, body, code } = await createRivals();
    const { email, token, username, password } = squatter;
    const second = await latestCode(app, email);
    const [replaced, ...others] = await Promise.all([
      signUp(body),
      app.call('POST', '/auth/email-verify/confirm/', { body: { email, code: second }, token }),
      app.call('POST', '/auth/email-verify/confirm/', { body: { email, code } }),
      app.call('POST', '/auth/login/', { body: { username, password } }),
      round % 2
        ? deleteAccount(app, squatter)
        : app.call('POST', '/api/v1/stores/', { token, body: { name: '두레', category_ids: [1] } }),
      app.call('POST', '/auth/email-verify/send/', { body: { email } }),
    ]);
    t.ok([201, 409].includes(replaced.status), replaced.text);
    for (const { status, text } of others) t.ok(status < 500, text);
    const { rows } = await app.pool.query(
      `SELECT is_verified, owner_id IS NOT NULL AS has_store, u.id <> $2 AS is_new
       FROM users u LEFT JOIN stores s ON s.owner_id = u.id WHERE u.email = $1`,
      [email, squatter.id],
    );
    t.ok(rows.length <= 1);
    if (replaced.status === 201) t.match(rows, [{ is_verified: true, has_store: false, is_new: true }]);
    else t.notOk(rows[0]?.is_new);
  }
});
