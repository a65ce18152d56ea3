import t from 'tap';
import { createTestApp, createUser, relayed, signUpUser } from '../support/app.ts';
import { tally } from '../support/assertions.ts';
import { inParallel, lockRows } from '../support/concurrency.ts';
import { createTestDatabase } from '../support/database.ts';
import { freePort } from '../support/free-port.ts';
import { listen, rawConnection } from '../support/raw-http.ts';
import { countRows } from '../support/rows.ts';
import { createTcpProxy } from '../support/tcp-proxy.ts';
import { holdTimers } from '../support/timers.ts';
import { until } from '../support/until.ts';

t.test('health', async (t) => {
  const database = await createTestDatabase();
  const proxy = await createTcpProxy(t, database);
  const options = { serverErrors: true, databaseUrl: proxy.url };
  const app = await createTestApp({ WORKER_ENABLED: 'false' }, options);
  const live = () => app.call('GET', '/health/live');
  const ready = () => app.call('GET', '/health/ready');

  t.test('checks that come together share one query, and its result for a moment', async (t) => {
    const forget = holdTimers(t, 1_000);
    const lockMigrations = () => lockRows(t, app, 'LOCK TABLE _prisma_migrations IN ACCESS EXCLUSIVE MODE');
    const lock = await lockMigrations();
    const waiting = inParallel(20, ready);
    await lock.waiters(1);
    await inParallel(20, live);
    t.equal((await lock.waiters(1)).length, 1);
    await lock.release();
    t.strictSame(tally(await waiting), { '200': 20 });
    const again = await lockMigrations();
    t.equal((await ready()).status, 200, 'the result of a moment before');
    await again.release();
    const scrape = async () => (await app.call('GET', '/metrics')).text;
    t.equal(new Set(await inParallel(20, scrape)).size, 1, 'scrapes at once share one');
    forget();
  });

  t.test('without the database it is live and not ready, which alone is in the log', async (t) => {
    const checks = () => app.logs.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request');
    const before = checks().length;
    await ready();
    await app.call('GET', '/metrics');
    await proxy.cut();
    t.equal((await live()).status, 200);
    const { status, text } = await until('metrics that say so', async () => {
      const metrics = await app.call('GET', '/metrics');
      return /^database_up 0$/m.test(metrics.text) ? metrics : undefined;
    });
    t.equal(status, 200);
    t.match(text, /^database_pool_waiting \d+$/m);
    t.notMatch(text, /^(?:failed_mails|migrations_pending|queue_\w+age_seconds)/m, 'no values of before');
    t.equal(checks().length, before);
    const response = await until('not ready', async () => {
      const checked = await ready();
      return checked.status === 503 ? checked : undefined;
    });
    t.strictSame(response.body, { status: 'unavailable' });
    t.match(response.headers['retry-after'], /^[1-9]\d*$/);
    t.match(await until('its line', () => checks().at(before)), { path: '/health/ready', status: 503 });
    await proxy.restore();
    await until('the next check', async () => (await ready()).status === 200);
    await until('metrics of the database', async () =>
      /^database_up 1$/m.test((await app.call('GET', '/metrics')).text),
    );
  });

  t.test('with a migration missing it is not ready', async (t) => {
    const { rows } = await app.pool.query(
      'SELECT * FROM _prisma_migrations ORDER BY migration_name DESC LIMIT 1',
    );
    const [{ id, migration_name: name }] = rows;
    await app.pool.query('UPDATE _prisma_migrations SET rolled_back_at = now() WHERE id = $1', [id]);
    // A result is used again for a second.
    await until('not ready', async () => (await ready()).status === 503);
    t.equal((await live()).status, 200);
    t.notMatch((await ready()).text, name, 'the name is for the log');
    t.ok(app.logs.some((line) => line.includes(name)));
  });
});

t.test('during shutdown it is not ready, takes no jobs, and finishes requests in flight', async (t) => {
  const app = await createTestApp({}, { isolated: true, serverErrors: true });
  const ofWorker = "pg_stat_activity WHERE application_name = 'dure-worker' AND datname = current_database()";
  const workers = () => countRows(app, ofWorker);
  await until('the worker', async () => (await workers()) > 0);
  const { token } = await createUser(app);
  const port = await listen(app.app);
  const waiting = await rawConnection(port);
  waiting.send('GET /health/ready HTTP/1.1\r\nHost: x\r\n');
  const lock = await lockRows(t, app, 'LOCK TABLE users IN ACCESS EXCLUSIVE MODE');
  const busy = await rawConnection(port);
  busy.send(`GET /auth/me/ HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`);
  const idle = await rawConnection(port);
  idle.send('GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n');
  t.equal((await idle.response()).status, 200);

  const closed = app.close();
  waiting.send('\r\n');
  const ready = await waiting.response();
  t.has(ready, { status: 503, body: { status: 'unavailable' }, headers: { connection: 'close' } });
  await t.rejects(rawConnection(port), 'no new connection is accepted');
  await until('the end of the worker', async () => (await workers()) === 0);
  await lock.release();
  t.has(await busy.response(), { status: 200, headers: { connection: 'close' } });
  await closed;
});

t.test('metrics are Prometheus text, by route pattern, at METRICS_PORT only where it is set', async (t) => {
  const METRICS_PORT = String(await freePort());
  const app = await createTestApp({ METRICS_PORT, WORKER_ENABLED: 'false' });
  const { token, username } = await signUpUser(app);
  const session = '3f1ab0e2-5b1f-4e0e-9a59-0d4a1b2c3d4e';
  await app.call('GET', '/auth/me/', { token });
  await app.call('GET', '/auth/me', { token });
  await app.call('DELETE', `/auth/sessions/${session}/`, { token });
  await app.call('GET', '/auth/nothing/');
  await app.call('PUT', '/auth/me/');
  await app.call('PROPFIND', '/auth/nothing/');
  await app.call('REPORT', '/auth/nothing/');
  await relayed(app);
  const url = `http://127.0.0.1:${METRICS_PORT}`;
  const { now } = Date;
  const clock = t.intercept(Date, 'now', { value: () => now() + 600_000 });
  const response = await fetch(`${url}/metrics`);
  clock.restore();
  t.equal(response.status, 200);
  t.match(response.headers.get('content-type'), /^text\/plain; version=0\.0\.4/);
  const text = await response.text();
  const count = (labels: string) =>
    Number(new RegExp(`^http_request_duration_seconds_count\\{${labels}\\} (\\d+)$`, 'm').exec(text)?.[1]);
  t.equal(count('method="GET",route="/auth/me/",status="200"'), 2);
  t.equal(count('method="DELETE",route="/auth/sessions/:session_id/",status="404"'), 1);
  t.equal(count('method="GET",route="unknown",status="404"'), 1);
  t.equal(count('method="other",route="unknown",status="404"'), 2);
  t.equal(count('method="PUT",route="unknown",status="405"'), 1);
  for (const line of text.split('\n').filter((one) => one !== '')) {
    t.match(
      line,
      /^(?:# (?:HELP|TYPE) [a-z_][a-z0-9_]* .+|[a-z_][a-z0-9_]*(?:\{.*\})? (?:[0-9.e+-]+|NaN|[+-]Inf))$/,
    );
  }
  t.match(text, /^process_cpu_seconds_total /m);
  t.match(text, /^nodejs_eventloop_lag_seconds /m);
  for (const sample of [
    /^database_pool_connections\{state="idle"\} [1-9]\d*$/m,
    /^database_pool_waiting 0$/m,
    /^database_up 1$/m,
    /^migrations_pending 0$/m,
    /^failed_mails 0$/m,
    // Of a clock that is ten minutes ahead, less the time of the response.
    /^clock_offset_seconds (?:600|59\d|60\d)\b/m,
    /^image_disk_free_ratio [01]/m,
    /^queue_jobs\{task="send_mail",kind="verification_code"\} 1$/m,
    /^queue_oldest_due_job_age_seconds\{task="send_mail"\} \d/m,
    /^queue_oldest_due_job_age_seconds\{task="outbox"\} 0$/m,
    /^security_events_total\{event="login"\} 1$/m,
    /^security_events_total\{event="login_failed"\} 0$/m,
    /^password_hashing_duration_seconds_count [2-9]$/m,
    /^dure_build_info\{version="[\d.]+",node="v[\d.]+",commit="unknown"\} 1$/m,
    /^nodejs_eventloop_lag_p99_seconds /m,
  ]) {
    t.match(text, sample);
  }
  for (const secret of [session, username, token]) t.notMatch(text, secret);

  t.equal((await app.call('GET', '/metrics')).status, 404);
  for (const path of ['/', '/health/live', '/auth/me/']) t.equal((await fetch(url + path)).status, 404, path);
  t.equal((await fetch(`${url}/metrics`, { method: 'POST' })).status, 404);
  await t.rejects(createTestApp({ METRICS_PORT }, { databaseUrl: app.url }), {
    message: `listen EADDRINUSE: address already in use 127.0.0.1:${METRICS_PORT}`,
  });
  await app.close();
  await t.rejects(fetch(`${url}/metrics`));
});
