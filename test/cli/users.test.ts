import t from 'tap';
import { secondFactorOf } from '../auth/authenticator.ts';
import { createTestApp, createUser, logIn, testEnvironment } from '../support/app.ts';
import { during, inOrder, lockRows } from '../support/concurrency.ts';
import { notifiedOf, openTwoShops, sendRequest } from '../support/partner-requests.ts';
import { commandsOn, dureText, failed } from './command.ts';

const app = await createTestApp();
const { call, pool } = app;
const dure = commandsOn(app);

const me = async ({ token }: { token: string }) => (await call('GET', '/auth/me/', { token })).status;

t.test('suspend and reactivate write who did it and why', async (t) => {
  const user = await createUser(app);
  const reason = ['--reason', ' sends ads\t ', '--operator', 'night shift'];
  const suspended = await dure('users', 'suspend', user.username, ...reason);
  t.equal(suspended.code, 0);
  t.match(suspended.document, { id: user.id, suspended_reason: 'sends ads', suspended_at: /^\d{4}-/ });
  t.match(suspended.log, [
    { event: 'admin_user_suspended', operator: 'cli:night shift', subject: { kind: 'user', id: user.id } },
  ]);
  t.equal(await me(user), 401);
  const again = await dure('users', 'suspend', user.email.toUpperCase(), '--reason', 'still does');
  t.match(again.document, { suspended_reason: 'still does' });
  const lifted = await dure('users', 'reactivate', String(user.id));
  t.match(lifted.document, { suspended_at: null, suspended_reason: null });

  const { rows } = await pool.query(`SELECT operator, action, reason FROM audit_entries
    WHERE subject_kind = 'user' AND subject_id = ${user.id} ORDER BY id`);
  t.match(rows, [
    { operator: 'cli:night shift', action: 'user_suspended', reason: 'sends ads' },
    { operator: /^cli:.+@.+/, action: 'user_suspended', reason: 'still does' },
    { operator: /^cli:.+@.+/, action: 'user_reactivated', reason: null },
  ]);
});

t.test('a suspension without a usable reason changes nothing', async (t) => {
  const user = await createUser(app);
  const suspend = (...args: string[]) => dure('users', 'suspend', user.username, ...args);
  failed(t, await suspend(), 2, 'usage', /--reason/);
  for (const reason of [' ', 'a\u202eb', 'x'.repeat(1001)])
    failed(t, await suspend('--reason', reason), 4, 'validation_error');
  t.equal(await me(user), 200);
});

t.test('sessions are listed and ended', async (t) => {
  const user = await createUser(app);
  const other = await logIn(app, user);
  const { document } = await dure('users', 'sessions', user.email, '--limit', '1');
  t.match(document.items, [{ user_agent: String, ip: String, created_at: /^\d{4}-/ }]);
  t.equal(document.items.length, 1);
  const next = await dure('users', 'sessions', user.email, '--cursor', document.next_cursor);
  t.equal(next.document.items.length, 1);
  t.strictSame((await dure('users', 'end-sessions', user.username)).document, { id: user.id });
  for (const session of [user, other]) t.equal(await me(session), 401);
  t.strictSame((await dure('users', 'sessions', user.email)).document.items, []);
});

t.test('remove-second-factor lets the password be enough', async (t) => {
  const user = await secondFactorOf(app).createProtected();
  for (const reference of [user.username, String(user.id)]) {
    const removed = await dure('users', 'remove-second-factor', reference);
    t.match(removed, { code: 0, document: { id: user.id }, log: [{ event: 'admin_second_factor_removed' }] });
  }
  t.ok((await logIn(app, user)).token);
});

t.test('a value in a table neither begins a line nor controls the terminal', async (t) => {
  const user = await createUser(app);
  await pool.query("UPDATE sessions SET user_agent = E'a\\x1b[31m\\u009b1mb' WHERE user_id = $1", [user.id]);
  const environment = { ...testEnvironment, DATABASE_URL: app.url };
  const sessions = await dureText(environment, 'users', 'sessions', user.username);
  t.match(sessions.stdout, / {2}a \[31m 1mb\n$/);
  await dure('users', 'suspend', user.username, '--reason', 'first\n2026-01-01 forged');
  const audit = await dureText(environment, 'audit', '--user', String(user.id));
  t.match(
    audit.stdout,
    /^CREATED_AT.*\n.* user_suspended .* first 2026-01-01 forged {2}-\n.* sessions_listed .*\n$/,
  );
});

t.test('make-admin gives the role, and --revoke undoes it; the command suspends admins, too', async (t) => {
  const { username } = await createUser(app);
  t.equal((await dure('users', 'make-admin', username)).document.role, 'admin');
  const suspended = await dure('users', 'suspend', username, '--reason', '도난');
  t.match(suspended.document, { role: 'admin', suspended_reason: '도난' });
  t.match((await dure('users', 'reactivate', username)).document, { suspended_at: null });
  t.equal((await dure('users', 'make-admin', username, '--revoke')).document.role, 'user');
});

t.test('list finds accounts by a part of a name, and continues at the cursor', async (t) => {
  const users = [await createUser(app, { name: '찾기상점' }), await createUser(app, { name: '찾기상점' })];
  const first = await dure('users', 'list', '찾기', '--limit', '1');
  const second = await dure('users', 'list', '찾기', '--limit', '1', '--cursor', first.document.next_cursor);
  const found = [first, second].flatMap(({ document }) => document.items.map(({ id }: { id: number }) => id));
  t.strictSame(found, [users[1]?.id, users[0]?.id]);
  failed(t, await dure('users', 'list', '--cursor', 'nonsense'), 4, 'invalid_cursor');
});

t.test('delete needs the username of the account', async (t) => {
  const [user, other] = [await createUser(app), await createUser(app)];
  const remove = (...args: string[]) => dure('users', 'delete', user.email, ...args);
  failed(t, await remove(), 2, 'confirmation_required');
  for (const wrong of [other.username, user.email, ''])
    failed(t, await remove('--yes', wrong), 4, 'not_confirmed');
  t.equal(await me(user), 200, 'nothing was deleted');
});

t.test('delete does what the owner can do, once, and the other sides are notified', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const request = await sendRequest(app, sender, post);
  const { id, username, email } = receiver;
  const remove = () => dure('users', 'delete', email, '--yes', username, '--reason', 'asked for it');
  const runs = await inOrder(t, app, receiver, remove, remove);
  t.same(runs.map(({ code }) => code).sort(), [0, 3]);
  t.equal(await me(receiver), 401);
  t.strictSame(await notifiedOf(app, sender), [['withdrawn', request, '취소됨']]);
  const { document } = await dure('audit', '--user', String(id));
  t.match(document.items, [{ action: 'user_deleted', reason: 'asked for it' }]);
});

t.test('an account whose address changes while it is deleted is kept, for another attempt', async (t) => {
  const { id, username } = await createUser(app);
  const move: [string, number] = ["UPDATE users SET email = 'moved@example.com' WHERE id = $1", id];
  const remove = () => dure('users', 'delete', String(id), '--yes', username);
  failed(t, await during(t, app, move, remove), 4, 'service_unavailable');
  t.equal((await dure('users', 'delete', 'moved@example.com', '--yes', username)).code, 0);
});

t.test('a user that does not exist is exit code 3, in every command', async (t) => {
  const commands = 'show sessions reactivate make-admin end-sessions remove-second-factor delete';
  for (const command of commands.split(' '))
    failed(t, await dure('users', command, 'unknown_user'), 3, 'user_not_found');
  t.equal((await dure('users', 'suspend', '2147483647', '--reason', 'x')).code, 3);
  t.equal((await dure('users', 'show', '99999999999999')).code, 3);
});

t.test('every command has an audit entry', async (t) => {
  await dure('users', 'show', String((await createUser(app)).id));
  const { rows } = await pool.query(
    "SELECT array_agg(DISTINCT action) AS actions FROM audit_entries WHERE operator LIKE 'cli:%'",
  );
  const actions = [
    ...['audit_listed', 'second_factor_removed', 'sessions_ended', 'sessions_listed', 'user_deleted'],
    ...['user_made_admin', 'user_made_user', 'user_reactivated', 'user_shown', 'user_suspended'],
    'users_listed',
  ];
  t.same(rows[0].actions.sort(), actions);
});

t.test('a command whose connection is lost, or that waits for a lock in vain, says so', async (t) => {
  // Without a worker, whose statements would wait for the lock, too.
  const idle = await createTestApp({ WORKER_ENABLED: 'false' });
  const { username } = await createUser(idle);
  const cancelled = 'canceling statement due to (?:user request|lock timeout)$';
  for (const [signal, args, reason] of [
    ['terminate', ['users', 'list'], ''],
    ['cancel', ['users', 'list'], cancelled],
    ['cancel', ['users', 'show', username], cancelled],
  ] as const) {
    const lock = await lockRows(t, idle, 'LOCK TABLE users IN ACCESS EXCLUSIVE MODE');
    const shown = commandsOn(idle)(...args);
    const [backend] = await lock.waiters(1);
    await idle.pool.query(`SELECT pg_${signal}_backend($1)`, [backend]);
    failed(t, await shown, 1, 'database_unavailable', new RegExp(`^the database failed: ${reason}`));
    await lock.release();
  }
});
