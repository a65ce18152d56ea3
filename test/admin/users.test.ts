import t from 'tap';
import { secondFactorOf } from '../auth/authenticator.ts';
import { mailsTo } from '../auth/mailbox.ts';
import { addFailedMail, createAdmin } from '../support/admin.ts';
import { createTestApp, createUser, deleteAccount, logIn, readPages, signUpUser } from '../support/app.ts';
import { rejected, tally, tokenRejected } from '../support/assertions.ts';
import { during, inParallel, lockRows } from '../support/concurrency.ts';
import { countRows } from '../support/rows.ts';
import { idsIn, openShop } from '../support/stores.ts';

const app = await createTestApp({}, { isolated: true });
const { call, pool } = app;

const admin = await createAdmin(app);
const users = '/api/v1/admin/users/';
const mails = '/api/v1/admin/failed-mails/';
const ask = (method: string, path: string, body?: unknown, { token } = admin) =>
  call(method, path, { token, body });
const suspend = (id: number, reason = '사기 신고', who = admin) =>
  ask('POST', `${users}${id}/suspend/`, { reason }, who);
const reactivate = (id: number) => ask('POST', `${users}${id}/reactivate/`);
const search = async (q: string) => idsIn(await ask('GET', `${users}?q=${encodeURIComponent(q)}`));

t.test('an account that has not logged in is shown without a time', async (t) => {
  const { id } = await createUser(app, { name: '이아직' });
  await pool.query('UPDATE users SET last_login_at = NULL WHERE id = $1', [id]);
  const { body } = await ask('GET', `${users}${id}/`);
  t.match(body.data, { name: '이아직', last_login_at: null, store: null });
});

t.test('accounts are found by parts of username, email and name, by id and by a whole email', async (t) => {
  const names = { username: 'haneul.bakery', email: 'Owner@Haneul.example', name: 'Kim Ha-Neul' };
  const one = await signUpUser(app, names);
  const others = { username: 'other.one', email: 'my.owner@haneul.example', name: '박 하늘' };
  const two = await createUser(app, others);
  t.strictSame(await search('haneul'), [two.id, one.id], 'newest first');
  t.strictSame(await search('HA-NEUL'), [one.id]);
  t.strictSame(await search('하늘'), [two.id]);
  t.strictSame(await search('.one'), [two.id]);
  t.strictSame(await search('owner@haneul.example'), [one.id], 'a whole address finds one');
  t.strictSame(await search('wner@haneul.example'), [two.id, one.id], 'a part of it finds both');
  t.strictSame(await search(String(one.id)), [one.id]);
  t.strictSame(await search('%'), []);
  t.strictSame(await search("'; --"), []);
  t.strictSame(await search('2147483648'), []);
});

t.test('the list has every account once, newest first, and reads a bounded number of them', async (t) => {
  const read = (q: string, limit: number) =>
    readPages((cursor) => ask('GET', `${users}?q=${encodeURIComponent(q)}&limit=${limit}${cursor}`));
  const needle = await createUser(app, { name: '바늘' });
  const { rows } = await pool.query('SELECT id FROM users ORDER BY id DESC');
  const all = rows.map(({ id }) => id);
  t.strictSame((await read('', 5)).flat(), all);
  await pool.query(`INSERT INTO users (username, email, name, password_hash)
    SELECT 'many' || n, 'many' || n || '@example.com', 'Many', '' FROM generate_series(1, 5000) n`);
  t.strictSame(await read('바늘', 20), [[], [needle.id]]);
  await pool.query("DELETE FROM users WHERE username LIKE 'many%'");
});

t.test('a list that is asked for one account has the audit entry of showing it', async (t) => {
  const { id, email } = await createUser(app);
  for (const [query, action, shown] of [
    [`q=${email}`, 'user_shown', id],
    [`q=${id}`, 'user_shown', id],
    ['limit=1', 'users_listed', null],
  ] as const) {
    const { headers } = await ask('GET', `${users}?${query}`);
    const entries = 'SELECT action, subject_id::int FROM audit_entries WHERE request_id = $1';
    const { rows } = await pool.query(entries, [headers['x-request-id']]);
    t.strictSame(rows, [{ action, subject_id: shown }], query);
  }
});

t.test('a suspension ends the sessions at once and keeps its time when its reason changes', async (t) => {
  const shop = await openShop(app);
  const first = (await suspend(shop.id, '첫째 이유')).body.data;
  t.match(first, { suspended_at: /Z$/, suspended_reason: '첫째 이유' });
  tokenRejected(t, await call('GET', '/auth/me/', { token: shop.token }), 'revoked');
  const second = (await suspend(shop.id, '둘째 이유')).body.data;
  t.strictSame(second, { ...first, suspended_reason: '둘째 이유' });
  t.match((await reactivate(shop.id)).body.data, { suspended_at: null, suspended_reason: null });
  t.equal((await reactivate(shop.id)).status, 200, 'also where nothing is to be lifted');
  t.ok((await logIn(app, shop)).token);
});

t.test("admins can neither suspend nor reactivate an admin's account", async (t) => {
  const other = await createAdmin(app);
  for (const { id } of [admin, other]) {
    rejected(t, await suspend(id), 403, 'forbidden');
    rejected(t, await reactivate(id), 403, 'forbidden');
  }
  t.equal(await countRows(app, 'users WHERE id = $1 AND suspended_at IS NULL', other.id), 1);
});

t.test('a suspension waits for an account that becomes an admin', async (t) => {
  const promoted = await createUser(app);
  const promotion: [string, number] = ["UPDATE users SET role = 'admin' WHERE id = $1", promoted.id];
  rejected(t, await during(t, app, promotion, () => suspend(promoted.id)), 403, 'forbidden');
  t.equal((await call('GET', '/auth/me/', promoted)).status, 200);
});

t.test('of concurrent suspensions of an account, all keep one time', async (t) => {
  const { id } = await createUser(app);
  const reasons = await inParallel(10, (n) => suspend(id, `이유 ${n}`));
  t.strictSame(tally(reasons), { '200': 10 });
  t.equal(new Set(reasons.map(({ body }) => body.data.suspended_at)).size, 1, 'one time');
});

t.test('the second factor of an account is removed, with a notice in the language of its user', async (t) => {
  const user = await createUser(app);
  await pool.query("UPDATE users SET language = 'en', is_verified = true WHERE id = $1", [user.id]);
  const { firstFactor, switchOn } = secondFactorOf(app);
  await switchOn(user);
  await firstFactor(user);
  const removed = await inParallel(5, () => ask('DELETE', `${users}${user.id}/second-factor/`));
  t.strictSame(tally(removed), { '200': 5 });
  t.strictSame((await ask('DELETE', `${users}${user.id}/second-factor/`)).body.data, {}, 'again');
  t.ok((await logIn(app, user)).token, 'no code is asked for');
  t.equal((await call('GET', '/auth/me/', user)).status, 200, 'the session stays');
  const notices = await mailsTo(app, user.email);
  t.strictSame(notices.map(({ language }) => language).sort(), ['en', 'ko'], 'of the removal, one');
});

t.test('ending the sessions of an account ends all of them, and no others', async (t) => {
  const [user, other] = [await createUser(app), await createUser(app)];
  const second = await logIn(app, user);
  t.strictSame((await ask('DELETE', `${users}${user.id}/sessions/`)).body.data, {});
  for (const { token } of [user, second])
    tokenRejected(t, await call('GET', '/auth/me/', { token }), 'revoked');
  for (const { token } of [other, await logIn(app, user)])
    t.equal((await call('GET', '/auth/me/', { token })).status, 200);
});

t.test('failed emails are listed without what they contain, newest first, in pages', async (t) => {
  const user = await createUser(app);
  const ids = [await addFailedMail(app, user), await addFailedMail(app, user)];
  const page = (await ask('GET', `${mails}?limit=1`)).body.data;
  const { created_at } = page.items[0];
  const mail = { id: ids[1], user_id: user.id, kind: 'user_id', attempts: 25, created_at };
  t.strictSame(page.items, [{ ...mail, reason: 'the provider rejected it' }]);
  const rest = (await ask('GET', `${mails}?cursor=${page.next_cursor}`)).body.data;
  t.match(rest, { items: [{ id: ids[0] }], next_cursor: null });
});

t.test('a failed mail is sent once, however often it is retried at once', async (t) => {
  const user = await createUser(app);
  const id = await addFailedMail(app, user);
  const responses = await inParallel(10, () => ask('POST', `${mails}${id}/retry/`));
  t.strictSame(tally(responses), { '200': 1, '404 not_found': 9 });
  const [sent, ...others] = await mailsTo(app, user.email);
  t.match(sent, { text: user.username });
  t.strictSame(others, []);
  t.equal(await countRows(app, 'failed_mails WHERE id = $1', id), 0);
});

t.test('an email can be retried while its account is deleted', async (t) => {
  const user = await createUser(app);
  const id = await addFailedMail(app, user);
  const lock = await lockRows(t, app, 'SELECT FROM users WHERE id = $1 FOR UPDATE', [user.id]);
  const deleted = deleteAccount(app, user);
  await lock.waiters(1);
  t.equal((await ask('POST', `${mails}${id}/retry/`)).status, 200);
  await lock.release();
  t.equal((await deleted).status, 200);
});
