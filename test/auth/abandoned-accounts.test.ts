import t from 'tap';
import { createTestApp, signUpUser, suspend, type TestApp, verifyEmails } from '../support/app.ts';
import { tokenRejected } from '../support/assertions.ts';
import { lockRows } from '../support/concurrency.ts';
import { tablesWith } from '../support/rows.ts';
import { createStore } from '../support/stores.ts';
import { until } from '../support/until.ts';
import { accountsOf, deletedIds, signUpBody, startInstance, statements } from './accounts.ts';
import { createSettledUser } from './mailbox.ts';

const app = await createTestApp({}, { isolated: true });

const { me, signUp } = accountsOf(app);

/** Starts the clean-up, as its schedule does. */
const startCleanUp = ({ pool } = app) => pool.query("SELECT graphile_worker.add_job('clean_up')");

async function cleanUp(on = app): Promise<void> {
  await startCleanUp(on);
  await on.mails.settled();
}

const exists = async (id: number, { pool } = app) =>
  (await pool.query('SELECT FROM users WHERE id = $1', [id])).rowCount === 1;

/** An account that has not been used for so many days. */
async function createUnused(days: number, on: TestApp = app) {
  const user = await createSettledUser(on);
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
  const body = signUpBody();
  const signup = await signUp(body, key);
  const silent: number = signup.body.data.id;
  await app.pool.query("UPDATE users SET created_at = now() - interval '31 days' WHERE id = $1", [silent]);
  await cleanUp();
  t.notOk(await exists(user.id));
  t.notOk(await exists(silent), 'also one that was never used');
  t.strictSame(await tablesWith(app, user.id), []);
  const { rows } = await app.pool.query("SELECT FROM idempotency_keys WHERE key = 'long-ago'");
  t.equal(rows.length, 0, 'with its stored responses');
  tokenRejected(t, await me(user.token), 'revoked');
  await signUpUser(app, { username: user.username, email: user.email });
  t.strictSame(deletedIds(app).slice(-2).sort(), [user.id, silent].sort());
});

t.test('every other account is kept', async (t) => {
  const young = await signUpUser(app);
  const recent = await createUnused(29);
  const verified = await createUnused(365);
  await verifyEmails(app, verified);
  const suspended = await createUnused(365);
  await suspend(app, suspended);
  const owner = await signUpUser(app);
  await createStore(app, owner.token);
  const active = await signUpUser(app);
  await app.pool.query(
    "UPDATE users SET created_at = now() - interval '90 days', last_login_at = now() - interval '80 days' WHERE id = ANY ($1)",
    [[owner.id, active.id]],
  );
  await app.pool.query('DELETE FROM sessions WHERE user_id = $1', [owner.id]);
  const gone = await createUnused(31);
  await cleanUp();
  t.notOk(await exists(gone.id));
  for (const [reason, { id }] of Object.entries({ young, recent, verified, suspended, owner, active })) {
    t.ok(await exists(id), reason);
  }
  await app.pool.query('UPDATE sessions SET expires_at = now() WHERE user_id = $1', [active.id]);
  await cleanUp();
  t.notOk(await exists(active.id), 'until its session has expired');
});

t.test('an account that is used, verified or gets a store during the clean-up is kept', async (t) => {
  const use = 'UPDATE users SET last_login_at = now() WHERE id = $1';
  for (const statement of [use, ...Object.values(statements)]) {
    const user = await createUnused(31);
    const lock = await lockRows(t, app, statement, [user.id]);
    await startCleanUp();
    await lock.waiters(1);
    await lock.release('COMMIT');
    await app.mails.settled();
    t.ok(await exists(user.id), statement);
  }
});

t.test('two runs at once delete each account once', async (t) => {
  const other = await startInstance(t, app, { WORKER_ENABLED: 'true' });
  const users = [await createUnused(31), await createUnused(31), await createUnused(31)];
  app.logs.length = 0;
  await Promise.all([startCleanUp(), startCleanUp(), startCleanUp()]);
  await app.mails.settled();
  const deleted = [...app.logs, ...other.logs].filter((line) => line.includes('"account_deleted"'));
  t.equal(deleted.length, 3);
  t.notOk([...app.logs, ...other.logs].some((line) => line.includes('job failed')));
  for (const { id } of users) t.notOk(await exists(id));
});

t.test('UNVERIFIED_ACCOUNT_TTL sets the time; with 0 all accounts are kept', async (t) => {
  const keeper = await createTestApp({ UNVERIFIED_ACCOUNT_TTL: '0' });
  t.teardown(keeper.close);
  const kept = await createUnused(3_000, keeper);
  await cleanUp(keeper);
  t.ok(await exists(kept.id, keeper));
  const hasty = await createTestApp({ UNVERIFIED_ACCOUNT_TTL: '2d' });
  t.teardown(hasty.close);
  const [one, other] = [await createUnused(3, hasty), await createUnused(1, hasty)];
  await cleanUp(hasty);
  await until('the deletion', async () => !(await exists(one.id, hasty)));
  t.ok(await exists(other.id, hasty));
});
