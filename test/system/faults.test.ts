import t from 'tap';
import { createTestApp, createUser, password } from '../support/app.ts';
import { unavailable } from '../support/assertions.ts';
import { createTestDatabase, execute } from '../support/database.ts';
import { openTwoVerifiedShops, requestsPath } from '../support/partner-requests.ts';
import { insist, production, startService } from '../support/service.ts';

t.test('a database without free connections is service_unavailable', async (t) => {
  const migrated = await createTestApp({ WORKER_ENABLED: 'false' }, { serverErrors: true });
  t.teardown(migrated.close);
  const role = `limited_${process.pid}`;
  const limited = new URL(migrated.url);
  limited.username = role;
  limited.password = 'limited';
  // A superuser would be let in even then.
  await execute(
    migrated.url,
    `CREATE ROLE ${role} LOGIN PASSWORD 'limited' CONNECTION LIMIT 0`,
    `GRANT ALL ON ALL TABLES IN SCHEMA public TO ${role}`,
    `GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO ${role}`,
  );
  t.teardown(() => execute(migrated.url, `DROP OWNED BY ${role}`, `DROP ROLE ${role}`));
  const { token } = await createUser(migrated);
  const app = await migrated.startInstance({}, { serverErrors: true, databaseUrl: limited.href });
  t.teardown(app.close);

  const responses = await Promise.all([
    app.call('GET', '/auth/me/', { token }),
    app.call('POST', '/auth/login/', { body: { username: 'unknown', password } }),
    app.call('GET', '/api/v1/stores/categories/'),
  ]);
  for (const response of responses) unavailable(t, response);
  t.notMatch(app.logs.join(), 'no response after', 'none waits for its time to be over');
  t.equal((await app.call('GET', '/health/live')).status, 200);
  t.equal((await app.call('GET', '/health/ready')).status, 503);

  await execute(migrated.url, `ALTER ROLE ${role} CONNECTION LIMIT -1`);
  t.equal((await app.call('GET', '/auth/me/', { token })).status, 200);
});

t.test('a serialization failure leaves nothing, and a retry succeeds', async (t) => {
  const app = await createTestApp({}, { serverErrors: true });
  const { sender, receiver, post: target } = await openTwoVerifiedShops(app);
  await execute(
    app.url,
    `CREATE FUNCTION collide() RETURNS trigger LANGUAGE plpgsql AS
       $$ BEGIN RAISE 'could not serialize access' USING ERRCODE = 'serialization_failure'; END $$`,
    'CREATE TRIGGER collide AFTER INSERT ON notifications FOR EACH ROW EXECUTE FUNCTION collide()',
  );
  const request = {
    token: sender.token,
    body: { post_id: target.id, message: '함께 해요!' },
    headers: { 'idempotency-key': 'once' },
  };
  const rejected = await app.call('POST', requestsPath, request);
  t.match(rejected, { status: 503, body: { data: { code: 'service_unavailable' } } });
  t.match(rejected.headers['retry-after'], /^[1-9]\d*$/);
  const { rows } = await app.pool.query('SELECT count(*)::int AS requests FROM partner_requests');
  t.strictSame(rows, [{ requests: 0 }]);

  await execute(app.url, 'DROP TRIGGER collide ON notifications');
  t.equal((await app.call('POST', requestsPath, request)).status, 201);
  await app.mails.settled();
  const mails = app.mails.sent.filter(({ to }) => to === receiver.email);
  t.equal(mails.filter(({ subject }) => subject.includes('두레 베이커리')).length, 1);
});

t.test('instances whose clocks differ by a minute accept each other’s tokens', async (t) => {
  const database = await createTestDatabase();
  const start = (seconds: number) =>
    startService({
      ...production,
      DATABASE_URL: database,
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(shiftClock(seconds))}`,
    });
  const [ahead, behind] = await Promise.all([start(60), start(0)]);
  t.teardown(() => Promise.all([ahead.end(), behind.end()]));
  const account = { username: 'dure_cafe', password, name: '김두레', email: 'owner@example.com' };
  t.equal((await insist(`${ahead.url}/auth/signup/`, account)).status, 201);
  const issuedAt: number[] = [];
  for (const [one, other] of [
    [ahead, behind],
    [behind, ahead],
  ] as const) {
    const { data } = JSON.parse(
      (await insist(`${one.url}/auth/login/`, { username: account.username, password })).text,
    );
    const [, claims = ''] = data.access.split('.');
    issuedAt.push(JSON.parse(Buffer.from(claims, 'base64url').toString()).iat);
    const me = (access: string, url: string) =>
      fetch(`${url}/auth/me/`, { headers: { authorization: `Bearer ${access}` } });
    t.equal((await me(data.access, other.url)).status, 200);
    const refreshed = await insist(`${other.url}/auth/token/refresh/`, { refresh: data.refresh });
    t.equal(refreshed.status, 200);
    const pair = JSON.parse(refreshed.text).data;
    t.equal((await me(pair.access, one.url)).status, 200);
    const late = await insist(`${one.url}/auth/token/refresh/`, { refresh: data.refresh });
    t.equal(late.status, 200, 'the reuse grace does not depend on the clock of an instance');
    t.equal((await insist(`${one.url}/auth/token/refresh/`, { refresh: pair.refresh })).status, 200);
    await execute(database, `UPDATE sessions SET expires_at = now() + interval '50 seconds'`);
    for (const { url } of [one, other]) {
      const headers = { authorization: `Bearer ${pair.access}` };
      const listed = await (await fetch(`${url}/auth/sessions/`, { headers })).json();
      t.match(listed, { data: { items: [{ is_current: true }] } }, 'listed as long as it is taken');
    }
    const out = await fetch(`${one.url}/auth/logout/`, {
      method: 'POST',
      headers: { authorization: `Bearer ${pair.access}` },
    });
    t.equal(out.status, 200);
    t.equal((await me(pair.access, other.url)).status, 401, 'ended on both at once');
  }
  const [ofAhead = 0, ofBehind = 0] = issuedAt;
  t.ok(ofAhead - ofBehind > 40, 'the clocks do differ');
});

/** A script that moves the clock of a process. */
function shiftClock(seconds: number): string {
  return `const Real=Date;globalThis.Date=class extends Real{constructor(...a){if(a.length)super(...a);else super(Real.now()+${seconds * 1_000})}static now(){return Real.now()+${seconds * 1_000}}}`;
}
