import t from 'tap';
import { createTestApp, createUser, suspend, verifyEmails } from '../support/app.ts';
import { tokenRejected } from '../support/assertions.ts';
import { during } from '../support/concurrency.ts';
import { cleanUp } from '../support/images.ts';
import { countRows, tablesWith } from '../support/rows.ts';
import { createStore } from '../support/stores.ts';
import { accountsOf, deletedIds, signUpBody, statements } from './accounts.ts';

const app = await createTestApp({}, { isolated: true });
const { me, signUp } = accountsOf(app);

const exists = async (id: number, at = app) => (await countRows(at, 'users WHERE id = $1', id)) === 1;

/** An account that has not been used for so many days. */
async function createUnused(days: number, on = app) {
  const user = await createUser(on);
  await on.pool.query(
    `UPDATE users SET created_at = now() - interval '90 days', last_login_at = now() - make_interval(days => $2)
     WHERE id = $1`,
    [user.id, days],
  );
  await on.pool.query('DELETE FROM sessions WHERE user_id = $1', [user.id]);
  return user;
}

t.test('an unverified account without a store and without a login for 30 days is deleted', async (t) => {
  const user = await createUnused(31);
  const key = { 'idempotency-key': 'long-ago' };
  const silent: number = (await signUp(signUpBody(), key)).body.data.id;
  await app.pool.query("UPDATE users SET created_at = now() - interval '31 days' WHERE id = $1", [silent]);
  await cleanUp(app);
  t.notOk(await exists(user.id));
  t.notOk(await exists(silent), 'also one that was never used');
  t.strictSame(await tablesWith(app, user.id), []);
  t.equal(await countRows(app, "idempotency_keys WHERE key = 'long-ago'"), 0, 'with its stored responses');
  tokenRejected(t, await me(user.token), 'revoked');
  const again = signUpBody({ username: user.username, email: user.email });
  t.equal((await signUp(again)).status, 201, 'its username and email are free');
  t.strictSame(deletedIds(app).slice(-2).sort(), [user.id, silent].sort());
});

t.test('every other account is kept', async (t) => {
  const young = await createUser(app);
  const recent = await createUnused(29);
  const verified = await createUnused(365);
  await verifyEmails(app, verified);
  const suspended = await createUnused(365);
  await suspend(app, suspended);
  const owner = await createUser(app);
  await createStore(app, owner.token);
  const active = await createUser(app);
  await app.pool.query(
    "UPDATE users SET created_at = now() - interval '90 days', last_login_at = now() - interval '80 days' WHERE id = ANY ($1)",
    [[owner.id, active.id]],
  );
  await app.pool.query('DELETE FROM sessions WHERE user_id = $1', [owner.id]);
  const gone = await createUnused(31);
  await cleanUp(app);
  t.notOk(await exists(gone.id));
  for (const [reason, { id }] of Object.entries({ young, recent, verified, suspended, owner, active })) {
    t.ok(await exists(id), reason);
  }
  await app.pool.query('UPDATE sessions SET expires_at = now() WHERE user_id = $1', [active.id]);
  await cleanUp(app);
  t.notOk(await exists(active.id), 'until its session has expired');
});

t.test('an account that is used, verified or gets a store during the clean-up is kept', async (t) => {
  const use = 'UPDATE users SET last_login_at = now() WHERE id = $1';
  for (const statement of [use, ...Object.values(statements)]) {
    const user = await createUnused(31);
    await during(t, app, [statement, user.id], () => cleanUp(app));
    t.ok(await exists(user.id), statement);
  }
});

t.test('two runs at once delete each account once', async (t) => {
  const other = await app.startInstance({ WORKER_ENABLED: 'true' });
  const users = [await createUnused(31), await createUnused(31), await createUnused(31)];
  app.logs.length = 0;
  await cleanUp(app, 3);
  const logs = [...app.logs, ...other.logs];
  t.equal(logs.filter((line) => line.includes('"account_deleted"')).length, 3);
  t.notOk(logs.some((line) => line.includes('job failed')));
  for (const { id } of users) t.notOk(await exists(id));
});

t.test('UNVERIFIED_ACCOUNT_TTL sets the time; with 0 all accounts are kept', async (t) => {
  const keeper = await createTestApp({ UNVERIFIED_ACCOUNT_TTL: '0' });
  const old = await createUnused(3_000, keeper);
  await cleanUp(keeper);
  t.ok(await exists(old.id, keeper));
  await keeper.close();
  const hasty = await createTestApp({ UNVERIFIED_ACCOUNT_TTL: '2d' }, { databaseUrl: keeper.url });
  const [one, other] = [await createUnused(3, hasty), await createUnused(1, hasty)];
  await cleanUp(hasty);
  for (const { id } of [old, one]) t.notOk(await exists(id, hasty));
  t.ok(await exists(other.id, hasty));
});
