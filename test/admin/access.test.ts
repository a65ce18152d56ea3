import t from 'tap';
import { addFailedMail, createAdmin, sendReport } from '../support/admin.ts';
import { createTestApp, createUser } from '../support/app.ts';
import { rejected, tokenRejected } from '../support/assertions.ts';
import { contract } from '../support/contract.ts';
import { createAuthor } from '../support/stores.ts';

const app = await createTestApp();
const { call, pool } = app;

const operations = contract.operations.filter(({ path }) => path.startsWith('/api/v1/admin/'));
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'];
const unknown = ['', '/', '/nothing/', '/users/1/nothing/'].map((path) => `/api/v1/admin${path}`);
const paths = [...new Set(operations.map(({ path }) => path))];

const countEntries = async () => (await pool.query('SELECT count(*)::int FROM audit_entries')).rows;

t.test('for a user who is no admin there is nothing at any path, whatever is sent', async (t) => {
  const { token, id } = await createUser(app);
  const at = (path: string) => path.replace(/\{\w+\}/, String(id));
  const reference = await call('GET', '/api/v1/nothing/', { token });
  const before = await countEntries();
  const bodies = [
    {},
    { body: { reason: 1, unknown: true } },
    { body: '{', headers: { 'content-type': 'application/json' } },
    { body: 'x', headers: { 'content-type': 'text/plain' } },
    { body: `"${'x'.repeat(200_000)}"`, headers: { 'content-type': 'application/json' } },
  ];
  for (const path of [...paths, ...unknown, ...paths.map((one) => one.replace(/\{\w+\}/, '0x1'))]) {
    for (const method of methods) {
      for (const options of method === 'POST' ? bodies : bodies.slice(0, 1)) {
        const response = await call(method, `${at(path)}?limit=x&unknown=1`, { token, ...options });
        t.equal(response.status, 404, `${method} ${path} ${response.text}`);
        t.equal(response.headers.allow, undefined);
        if (method !== 'HEAD') t.strictSame(response.body, reference.body);
      }
    }
  }
  t.strictSame(await countEntries(), before, 'nothing was done');
});

t.test('without a valid token every path asks for one', async (t) => {
  for (const path of [...paths, ...unknown]) {
    for (const method of ['GET', 'PUT', 'OPTIONS']) {
      const url = path.replace(/\{\w+\}/, '1');
      rejected(t, await call(method, url), 401, 'not_authenticated');
      tokenRejected(t, await call(method, url, { token: 'x' }), 'malformed');
    }
  }
});

t.test('for an admin, unknown paths and methods are rejected as everywhere', async (t) => {
  const { token } = await createAdmin(app);
  for (const path of unknown) {
    for (const method of ['GET', 'POST', 'OPTIONS'])
      rejected(t, await call(method, path, { token, body: '{' }), 404, 'not_found');
  }
  const response = await call('PUT', '/api/v1/admin/users/', { token, body: {} });
  rejected(t, response, 405, 'method_not_allowed');
  t.equal(response.headers.allow, 'GET, HEAD');
  const preflight = { origin: 'https://app.example.com', 'access-control-request-method': 'GET' };
  t.equal((await call('OPTIONS', '/api/v1/admin/users/', { headers: preflight })).status, 204);
  rejected(t, await call('OPTIONS', '/api/v1/admin/nothing/', { headers: preflight }), 404, 'not_found');
});

t.test('an admin whose role is taken away is one no more, at once', async (t) => {
  const { token, id } = await createAdmin(app);
  t.equal((await call('GET', '/api/v1/admin/users/', { token })).status, 200);
  await pool.query("UPDATE users SET role = 'user' WHERE id = $1", [id]);
  rejected(t, await call('GET', '/api/v1/admin/users/', { token }), 404, 'not_found');
});

t.test('every operation writes one audit entry and one line of the log', async (t) => {
  const admin = await createAdmin(app);
  const { post, ...shop } = await createAuthor(app);
  const reader = await createUser(app);
  const report = await sendReport(app, reader, 'posts', post.id);
  const mail = await addFailedMail(app, shop);
  const user = { kind: 'user', id: shop.id };
  // What each operation writes; one that is not listed fails.
  type Entry = { action: string; subject?: { kind: string; id: number }; body?: object };
  const expected: Record<string, Entry> = {
    listUsers: { action: 'users_listed' },
    getUser: { action: 'user_shown', subject: user },
    suspendUser: { action: 'user_suspended', subject: user, body: { reason: '사기 신고' } },
    reactivateUser: { action: 'user_reactivated', subject: user },
    endUserSessions: { action: 'sessions_ended', subject: user },
    removeUserSecondFactor: { action: 'second_factor_removed', subject: user },
    listReports: { action: 'reports_listed' },
    closeReport: {
      action: 'report_closed_hide',
      subject: { kind: 'report', id: report },
      body: { action: 'hide', note: '확인함' },
    },
    listFailedMails: { action: 'failed_mails_listed' },
    retryFailedMail: { action: 'failed_mail_retried', subject: { kind: 'failed_mail', id: mail } },
  };
  for (const { operationId, method, path } of operations) {
    const { action, subject, body } = expected[operationId] ?? { action: 'is not listed' };
    const url = path.replace(/\{\w+\}/, String(subject?.id));
    const response = await call(method, url, { token: admin.token, body });
    t.equal(response.status, 200, `${operationId} ${response.text}`);
    const requestId = response.headers['x-request-id'];
    const columns = 'operator, action, subject_kind, subject_id::int, reason, address';
    const entries = `SELECT ${columns} FROM audit_entries WHERE request_id = $1`;
    const { rows } = await pool.query(entries, [requestId]);
    const given = Object.values(body ?? {}).at(-1) ?? null;
    const by = { operator: `admin:${admin.id}`, address: '127.0.0.1' };
    const { kind: subject_kind = null, id: subject_id = null } = subject ?? {};
    t.strictSame(rows, [{ ...by, action, subject_kind, subject_id, reason: given }], operationId);
    const lines = app.logs.map((line) => JSON.parse(line)).filter((line) => line.reqId === requestId);
    const events = lines.filter((line) => 'event' in line);
    t.match(events, [{ level: 30, event: `admin_${action}`, ...by }], operationId);
    if (given !== null) t.notMatch(JSON.stringify(lines), given, 'the log has no reason');
  }
});

t.test('what does not happen has no audit entry, and a line of the log', async (t) => {
  const { token, id } = await createAdmin(app);
  const before = await countEntries();
  const body = { reason: 'x' };
  const path = '/api/v1/admin/users/2147483647/';
  rejected(t, await call('GET', path, { token }), 404, 'not_found');
  rejected(t, await call('POST', `${path}suspend/`, { token, body }), 404, 'not_found');
  rejected(t, await call('POST', `${path}reactivate/`, { token }), 404, 'not_found');
  rejected(t, await call('DELETE', `${path}sessions/`, { token }), 404, 'not_found');
  rejected(t, await call('DELETE', `${path}second-factor/`, { token }), 404, 'not_found');
  const refused = await call('POST', `/api/v1/admin/users/${id}/suspend/`, { token, body });
  rejected(t, refused, 403, 'forbidden');
  t.strictSame(await countEntries(), before);
  const lines = app.logs.map((line) => JSON.parse(line));
  const events = lines.filter((line) => line.reqId === refused.headers['x-request-id'] && 'event' in line);
  const subject = { kind: 'user', id };
  t.match(events, [{ event: 'admin_failed', action: 'user_suspended', operator: `admin:${id}`, subject }]);
  t.equal((await call('GET', '/auth/me/', { token })).status, 200);
});
