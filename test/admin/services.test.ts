import t from 'tap';
import { commandOperator } from '../../src/domains/admin/index.ts';
import { createDomains } from '../../src/domains.ts';
import { ApiError } from '../../src/http/errors.ts';
import { loadConfig } from '../../src/infrastructure/config/config.ts';
import { openDatabase } from '../../src/infrastructure/database/client.ts';
import { createMetrics } from '../../src/infrastructure/metrics/metrics.ts';
import { addFailedMail, createAdmin } from '../support/admin.ts';
import { createTestApp, createUser, logIn } from '../support/app.ts';
import { refused, tokenRefused } from '../support/assertions.ts';
import { lockRows } from '../support/concurrency.ts';
import { notifiedOf, openTwoShops, requestPartnership, sendRequest } from '../support/partner-requests.ts';
import { createPost, openShop } from '../support/stores.ts';

/*
 * What operators do with the command: the same services as those of the API, without a request.
 */

const app = await createTestApp({ WORKER_ENABLED: 'false' });
t.teardown(app.close);
const { call, pool } = app;

const config = loadConfig({ DATA_DIR: t.testdir() });
const database = openDatabase({ url: app.url, poolSize: 3, pooled: false, onError: () => undefined });
t.teardown(() => database.close());
const { admin, reports } = await createDomains({
  config,
  database,
  jwt: app.app.jwt,
  logger: app.app.log,
  metrics: createMetrics(),
  tracing: undefined,
  storage: undefined,
});
const { users, failedMails } = admin;
const operator = commandOperator('mina', app.app.log);

const page = { limit: 20 };
const lastEntry = async () => {
  const { rows } = await pool.query(
    `SELECT operator, action, subject_kind, subject_id::int, reason, request_id, address
     FROM audit_entries ORDER BY id DESC LIMIT 1`,
  );
  return rows[0];
};
const entry = (action: string, subject?: [string, number], reason: string | null = null) => ({
  operator: 'cli:mina',
  action,
  subject_kind: subject?.[0] ?? null,
  subject_id: subject?.[1] ?? null,
  reason,
  request_id: null,
  address: null,
});
/** `done`, or the code of the failure. */
const outcomeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error: unknown) => (error instanceof ApiError ? error.definition.code : String(error)),
  );

t.test('an account is found by its id, its username and its e-mail address', async (t) => {
  const user = await createUser(app);
  for (const reference of [String(user.id), user.username.toUpperCase(), user.email])
    t.equal(await users.findId(reference), user.id);
  for (const reference of ['', '0', 'unknown_user', '9'.repeat(30)])
    t.equal(await users.findId(reference), undefined);
});

t.test('every call writes an audit entry with the name of the operator', async (t) => {
  const user = await createUser(app);
  const subject: [string, number] = ['user', user.id];
  await users.list(operator, page);
  t.strictSame(await lastEntry(), entry('users_listed'));
  t.match(await users.show(operator, user.id), { username: user.username });
  t.strictSame(await lastEntry(), entry('user_shown', subject));
  t.match(await users.suspend(operator, user.id, '사기'), { suspended_reason: '사기' });
  t.strictSame(await lastEntry(), entry('user_suspended', subject, '사기'));
  await users.reactivate(operator, user.id);
  t.strictSame(await lastEntry(), entry('user_reactivated', subject));
  await logIn(app, user);
  const { items } = await users.listSessions(operator, user.id, page);
  t.match(items, [{ ip: '127.0.0.1', created_at: /Z$/ }]);
  t.strictSame(await lastEntry(), entry('sessions_listed', subject));
  await users.endSessions(operator, user.id);
  t.strictSame(await lastEntry(), entry('sessions_ended', subject));
  t.strictSame((await users.listSessions(operator, user.id, page)).items, []);
  await reports.service.list(operator, page);
  t.strictSame(await lastEntry(), entry('reports_listed'));
  t.match(
    app.logs.map((line) => JSON.parse(line)).filter(({ event }) => event === 'admin_user_suspended'),
    [{ operator: 'cli:mina', subject: { kind: 'user', id: user.id } }],
  );
});

t.test('the role of an admin is given and taken away at once', async (t) => {
  const user = await createUser(app);
  const list = () => call('GET', '/api/v1/admin/reports/', { token: user.token });
  refused(t, await list(), 404, 'not_found');
  t.match(await users.setRole(operator, user.id, 'admin'), { role: 'admin' });
  t.strictSame(await lastEntry(), entry('user_made_admin', ['user', user.id]));
  t.equal((await list()).status, 200);
  t.match(await users.setRole(operator, user.id, 'user'), { role: 'user' });
  t.strictSame(await lastEntry(), entry('user_made_user', ['user', user.id]));
  refused(t, await list(), 404, 'not_found');
});

t.test("the command suspends and reactivates an admin's account, too", async (t) => {
  const { id } = await createAdmin(app);
  t.match(await users.suspend(operator, id, '도난'), { role: 'admin', suspended_reason: '도난' });
  t.match(await users.reactivate(operator, id), { suspended_at: null });
});

t.test('a failed mail is retried or dropped', async (t) => {
  const user = await createAdmin(app);
  const [retried, dropped] = [await addFailedMail(app, user), await addFailedMail(app, user)];
  t.match((await failedMails.list(operator, page)).items, [{ id: dropped }, { id: retried }]);
  await failedMails.retry(operator, retried);
  t.strictSame(await lastEntry(), entry('failed_mail_retried', ['failed_mail', retried]));
  await failedMails.drop(operator, dropped);
  t.strictSame(await lastEntry(), entry('failed_mail_dropped', ['failed_mail', dropped]));
  t.equal(await outcomeOf(failedMails.drop(operator, dropped)), 'not_found');
  t.strictSame((await failedMails.list(operator, page)).items, []);
});

t.test('an account is deleted as by its owner, and the other sides are notified', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const id = await sendRequest(app, sender, post);
  await users.deleteAccount(operator, receiver.id, '본인 요청');
  t.strictSame(await lastEntry(), entry('user_deleted', ['user', receiver.id], '본인 요청'));
  t.strictSame(await notifiedOf(app, sender), [['withdrawn', id, '취소됨']]);
  refused(t, await requestPartnership(app, sender, post), 404, 'post_not_found');
  tokenRefused(t, await call('GET', '/auth/me/', { token: receiver.token }), 'revoked');
  t.strictSame((await pool.query('SELECT FROM users WHERE id = $1', [receiver.id])).rows, []);
  const body = {
    username: receiver.username,
    email: receiver.email,
    name: '새',
    password: receiver.password,
  };
  t.equal((await call('POST', '/auth/signup/', { body })).status, 201, 'username and address are free');
  for (const work of [
    () => users.deleteAccount(operator, receiver.id),
    () => users.show(operator, receiver.id),
    () => users.setRole(operator, receiver.id, 'admin'),
    () => users.listSessions(operator, receiver.id, page),
  ])
    t.equal(await outcomeOf(work()), 'not_found');
});

t.test('of two deletions of an account at once, one finds it', async (t) => {
  const shop = await openShop(app);
  await createPost(app, shop.token);
  const lock = await lockRows(t, app, 'SELECT FROM users WHERE id = $1 FOR UPDATE', [shop.id]);
  const results = [1, 2].map(() => outcomeOf(users.deleteAccount(operator, shop.id)));
  await lock.waiters(2);
  await lock.release();
  t.strictSame((await Promise.all(results)).sort(), ['done', 'not_found']);
});

t.test('an account whose address changes while it is deleted is kept, for another attempt', async (t) => {
  const user = await createUser(app);
  const lock = await lockRows(t, app, "UPDATE users SET email = 'moved@example.com' WHERE id = $1", [
    user.id,
  ]);
  const deleted = outcomeOf(users.deleteAccount(operator, user.id));
  await lock.waiters(1);
  await lock.release('COMMIT');
  t.equal(await deleted, 'service_unavailable');
  await users.deleteAccount(operator, user.id);
  t.equal(await users.findId('moved@example.com'), undefined);
});
