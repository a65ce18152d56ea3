import t from 'tap';
import { createUser, verifyEmails } from '../../support/app.ts';
import { inParallel, lockRows } from '../../support/concurrency.ts';
import { newAccount, startProviders } from './setup.ts';

const app = await startProviders();
const { acme, kakao, call, post } = app;

const statuses = (responses: { status: number }[]) => responses.map(({ status }) => status).sort();

t.test('of concurrent finishes of one flow, one asks the provider', async (t) => {
  const user = newAccount();
  await app.signUpWith(acme, user);
  const sent = await app.answer(acme, await app.begin(acme), user);
  acme.requests.length = 0;
  const responses = await inParallel(5, () => app.finish(acme, sent));
  t.strictSame(statuses(responses), [200, 400, 400, 400, 400]);
  t.equal(acme.requests.length, 1);
});

t.test('of concurrent sign-ups with one token, one creates an account', async (t) => {
  const user = newAccount();
  const { sign_up_token } = (await app.logInWith(acme, user)).body.data;
  const responses = await inParallel(4, () => app.signUp(sign_up_token, { email: user.email }));
  t.strictSame(statuses(responses), [201, 400, 400, 400]);
});

t.test(
  'of concurrent sign-ups with one identity, one creates an account, and the others leave none',
  async (t) => {
    const user = newAccount();
    const tokens = await inParallel(3, async () => (await app.logInWith(acme, user)).body.data.sign_up_token);
    const emails = tokens.map(() => newAccount().email);
    const responses = await inParallel(3, (index) => app.signUp(tokens[index], { email: emails[index] }));
    t.strictSame(statuses(responses), [201, 409, 409]);
    const codes = responses.flatMap(({ body }) => body.data.code ?? []);
    t.strictSame(codes, ['identity_taken', 'identity_taken']);
    const { rowCount } = await app.pool.query('SELECT FROM users WHERE email = ANY ($1)', [emails]);
    t.equal(rowCount, 1);
  },
);

t.test('of two accounts that link one identity at once, one gets it', async (t) => {
  const user = newAccount();
  const owners = await inParallel(2, () => createUser(app));
  const flows = await inParallel(2, async (index) =>
    app.answer(acme, await app.begin(acme, 'link', owners[index]?.token), user),
  );
  const responses = await inParallel(2, (index) =>
    app.finish(acme, flows[index] ?? {}, owners[index]?.token),
  );
  t.strictSame(statuses(responses), [201, 409]);
});

t.test('of the last two ways to log in, concurrent removals leave one', async (t) => {
  const account = await app.signUpWith(acme, newAccount());
  const { token } = account;
  await app.logInWith(kakao, newAccount(), 'link', token);
  const identities = await app.identitiesOf(account);
  const lock = await lockRows(t, app, 'SELECT FROM users WHERE id = $1 FOR UPDATE', [account.id]);
  const removals = identities.map(({ id }) => call('DELETE', `/auth/identities/${id}/`, { token }));
  await lock.waiters(2);
  await lock.release();
  t.strictSame(statuses(await Promise.all(removals)), [200, 409]);
  t.equal((await app.identitiesOf(account)).length, 1);
});

t.test('of concurrent uses of a link token, one adds the identity', async (t) => {
  const owner = await createUser(app);
  await verifyEmails(app, owner);
  const { link_token } = (await app.logInWith(acme, newAccount({ email: owner.email }))).body.data;
  const responses = await inParallel(3, () => post('identities', { link_token }, { token: owner.token }));
  t.strictSame(statuses(responses), [201, 400, 400]);
});

t.test('an identity that is linked while a reset ends the session is not added', async (t) => {
  const owner = await createUser(app);
  const sent = await app.answer(acme, await app.begin(acme, 'link', owner.token), newAccount());
  // As the transaction of a reset: it locks the account, and ends the sessions.
  const lock = await lockRows(t, app, 'UPDATE users SET is_verified = true WHERE id = $1', [owner.id]);
  const linking = app.finish(acme, sent, owner.token);
  await lock.waiters(1);
  await lock.run('DELETE FROM sessions WHERE user_id = $1', [owner.id]);
  await lock.release('COMMIT');
  t.equal((await linking).status, 401);
  t.strictSame(await app.identitiesOf(owner), []);
});

t.test('a flow that begins while its account is deleted can be finished by no one', async (t) => {
  for (const path of ['providers/acme/start', 'passkeys/register/start']) {
    const { id, token } = await createUser(app);
    const deletion = await lockRows(t, app, 'DELETE FROM users WHERE id = $1', [id]);
    const starting = post(path, path.startsWith('passkeys') ? {} : { purpose: 'link' }, { token });
    await deletion.waiters(1);
    await deletion.release('COMMIT');
    const { flow_token } = (await starting).body.data;
    const { rows } = await app.pool.query('SELECT user_id FROM login_flows WHERE id = $1', [
      String(flow_token).split('.')[0],
    ]);
    t.strictSame(rows, [{ user_id: null }], path);
  }
});
