import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import argon2 from 'argon2';
import t from 'tap';
import { createTestApp, createUser, password } from '../../support/app.ts';
import { rejected, unavailable } from '../../support/assertions.ts';
import { inParallel, lockRows } from '../../support/concurrency.ts';
import { createTestDatabase, execute } from '../../support/database.ts';
import { openTwoVerifiedShops, requestPartnership } from '../../support/partner-requests.ts';
import { listen, rawConnection } from '../../support/raw-http.ts';
import { countRows } from '../../support/rows.ts';
import { createTcpProxy } from '../../support/tcp-proxy.ts';
import { atMost } from '../../support/time.ts';
import { until } from '../../support/until.ts';

/** Without a limit of its own. */
const patient = await createTestApp();

t.test('a database that is unreachable or hangs', async (t) => {
  const database = await createTestDatabase();
  const proxy = await createTcpProxy(t, database);
  const options = { serverErrors: true, databaseUrl: proxy.url, productionLimits: true };
  const app = await createTestApp({ WORKER_ENABLED: 'false' }, options);
  t.teardown(app.close);
  const { token } = await createUser(app);
  const body = { username: 'unknown', password };
  const served = () =>
    until('the database', async () => (await app.call('GET', '/auth/me/', { token })).status === 200);

  t.test('unreachable: service_unavailable with Retry-After until it is back', async (t) => {
    await proxy.cut();
    unavailable(t, await app.call('GET', '/auth/me/', { token }));
    rejected(t, await app.call('GET', '/auth/me/'), 401, 'not_authenticated');

    const more = await inParallel(40, () => app.call('GET', '/auth/me/', { token }));
    const waits = new Set(more.map(({ headers }) => Number(headers['retry-after'])));
    t.ok(waits.size > 1 && Math.min(...waits) >= 3 && Math.max(...waits) <= 8, `Retry-After: ${[...waits]}`);
    const failures = () =>
      app.logs.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request failed');
    const leftOut = () => failures().map(({ suppressed }) => suppressed);
    let failed = 1 + more.length;
    await until('a line that counts others', async () => {
      await app.call('GET', '/auth/me/', { token });
      failed += 1;
      return leftOut().some((count) => count > 0);
    });
    // Those that no line has counted yet had another cause.
    const waiting = [...app.app.unavailableLines.values()].map(({ suppressed }) => suppressed);
    const counted = [...leftOut(), ...waiting].reduce((sum, count) => sum + count, leftOut().length);
    t.equal(counted, failed, 'each line counts those that were left out before it');
    await proxy.restore();
    await served();
  });

  t.test('hanging: service_unavailable within ten seconds', async (t) => {
    proxy.freeze();
    const late = AbortSignal.timeout(atMost(10_000));
    const requests = [
      app.call('GET', '/auth/me/', { token }),
      app.call('POST', '/auth/login/', { body }),
      app.call('POST', '/auth/signup/', { body: { ...body, name: '김', email: 'a@example.com' } }),
    ];
    t.equal((await app.call('GET', '/health/ready')).status, 503);
    const notReady = app.logs.findLast((line) => line.includes('not ready'));
    t.match(notReady, 'did not respond within 1800 ms');
    const responses = await Promise.all(requests);
    t.notOk(late.aborted);
    for (const response of responses) unavailable(t, response);
    await proxy.restore();
    await served();
  });
});

t.test('a database without free connections is service_unavailable', async (t) => {
  const role = `limited_${process.pid}`;
  const limited = new URL(patient.url);
  limited.username = role;
  limited.password = 'limited';
  // A superuser would be let in even then.
  await execute(
    patient.url,
    `CREATE ROLE ${role} LOGIN PASSWORD 'limited' CONNECTION LIMIT 0`,
    `GRANT ALL ON ALL TABLES IN SCHEMA public TO ${role}`,
    `GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO ${role}`,
  );
  t.teardown(() => execute(patient.url, `DROP OWNED BY ${role}`, `DROP ROLE ${role}`));
  const { token } = await createUser(patient);
  const app = await patient.startInstance({}, { serverErrors: true, databaseUrl: limited.href });
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

  await execute(patient.url, `ALTER ROLE ${role} CONNECTION LIMIT -1`);
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
  const request = () => requestPartnership(app, sender, target, { 'idempotency-key': 'once' });
  unavailable(t, await request());
  t.equal(await countRows(app, 'partner_requests'), 0);

  await execute(app.url, 'DROP TRIGGER collide ON notifications');
  t.equal((await request()).status, 201);
  await app.mails.settled();
  const mails = app.mails.sent.filter(({ to }) => to === receiver.email);
  t.equal(mails.filter(({ subject }) => subject.includes('두레 베이커리')).length, 1);
});

/** Milliseconds in which a body must arrive. */
const bodyTime = 30_000;

t.test('a request is answered in time, however long its body takes', async (t) => {
  // Less than the database gives a lock, and enough for a request without one; a body may take twice as long.
  const timeLimit = Math.min(atMost(800), bodyTime / 2);
  const { token } = await createUser(patient);
  const app = await patient.startInstance({}, { serverErrors: true, timeLimit });
  const port = await listen(app.app);

  t.test('while it waits for a lock', async (t) => {
    const lock = await lockRows(t, app, 'LOCK TABLE users IN ACCESS EXCLUSIVE MODE');
    const responses = await Promise.all([
      app.call('GET', '/auth/me/', { token }),
      app.call('POST', '/auth/login/', { body: { username: 'unknown', password } }),
    ]);
    const causes = app.logs.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request failed');
    t.match(causes, [{ err: { message: `no response after ${timeLimit} ms` } }], 'before the lock ends');
    await lock.release();
    for (const response of responses) unavailable(t, response);
    t.equal((await patient.call('GET', '/auth/me/', { token })).status, 200);
    await until('the end of the login', () => app.logs.some((line) => line.includes('login_failed')));
    await app.call('GET', '/health/live');
    const late = app.logs.filter((line) => /already sent|reply\.sent/.test(line));
    t.strictSame(late, [], 'the end of the handlers is not an error');
  });

  t.test('a slow body is waited for', async (t) => {
    const connection = await rawConnection(port);
    const body = JSON.stringify({ email: 'slow@example.com' });
    connection.send(
      `POST /auth/find-id/ HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`,
    );
    for (const part of [body.slice(0, 5), body.slice(5, 10), body.slice(10)]) {
      await sleep(timeLimit / 2);
      connection.send(part);
    }
    t.equal((await connection.response()).status, 200);
    connection.socket.destroy();
  });
});

t.test('logins beyond the hashing queue are service_unavailable; no other request waits', async (t) => {
  const costs = { ARGON2_MEMORY_KIB: '8192', ARGON2_TIME_COST: '2' };
  const app = await patient.startInstance(costs, { serverErrors: true });
  const { token } = await createUser(app);
  let [rounds, most] = [0, 0];
  const verify = argon2.verify.bind(argon2);
  t.capture(argon2, 'verify', async (hash: string, given: string) => {
    const before = rounds;
    const result = await verify(hash, given);
    most = Math.max(most, rounds - before);
    return result;
  });
  let running = 400;
  const logins = inParallel(running, async (index) => {
    const body = { username: `unknown${index}`, password };
    return app.call('POST', '/auth/login/', { body }).finally(() => running--);
  });
  for (; running > 0; rounds++) t.equal((await app.call('GET', '/auth/me/', { token })).status, 200);
  const responses = await logins;
  t.notOk(app.logs.some((line) => line.includes('no response after')));
  const overloaded = responses.filter(({ status }) => status === 503);
  t.ok(overloaded.length > 0, 'some are rejected');
  // And not because they waited too long for something else.
  t.ok(app.logs.some((line) => line.includes('too many password hashes are waiting')));
  for (const response of overloaded.slice(0, 3)) unavailable(t, response);
  const others = responses.filter(({ status }) => status !== 503);
  t.ok(others.length > 0, 'the others are served');
  t.ok(others.every(({ status }) => status === 401));
  // A hash on the event loop would let one request through at most.
  t.ok(most > 2, `${most} other requests during one hash`);
  const find = () => app.call('POST', '/auth/find-id/', { body: { email: 'later@example.com' } });
  await until('later requests succeed', async () => (await find()).status === 200);
});

t.test('an overloaded process rejects requests with 503, and health still answers', async (t) => {
  const { app, call } = await patient.startInstance({}, { serverErrors: true, maxEventLoopDelay: 300 });
  const list = () => call('GET', '/api/v1/stores/categories/');
  t.equal((await list()).status, 200);
  // What is measured in the first ten seconds is the start itself.
  const measured = 10_100;
  await sleep(measured);
  const memory = new Int32Array(new SharedArrayBuffer(4));
  const block = async () => {
    Atomics.wait(memory, 0, 0, 1_200);
    await nextTurn();
  };
  for (let round = 0; round < 2; round++) {
    await block();
    t.equal((await list()).status, 200, 'a delay that is over');
  }
  for (let round = 0; round < 20 && !app.isUnderPressure(); round++) await block();
  unavailable(t, await list());
  t.equal((await call('GET', '/health/live')).status, 200);
  await until('it recovers by itself', async () => (await list()).status === 200);
});
