import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import type { Database } from '../../../src/infrastructure/database/client.ts';
import { hang, sendsAtOnce, setUp } from '../../mail/worker-setup.ts';
import { gate } from '../../support/concurrency.ts';
import { createTcpProxy } from '../../support/tcp-proxy.ts';
import { until } from '../../support/until.ts';
import { startProcess } from '../embedded-postgres/support.ts';

/** A service whose workers reach the database by way of a proxy. */
async function setUpBehindProxy(t: Test) {
  const service = await setUp(t);
  const proxy = await createTcpProxy(t, service.url);
  return { ...service, proxy };
}

/** Milliseconds: more than any test takes. */
const staleLock = 3_600_000;

/** Makes the locks of jobs older than {@link staleLock}: those of a worker that the test has ended. */
const ageLocks = ({ pool }: Pick<Database, 'pool'>) =>
  pool.query(`UPDATE graphile_worker._private_jobs SET locked_at = now() - interval '2 hours'
    WHERE locked_at IS NOT NULL`);

/** Waits until a worker has given up its connections. */
const failed = (logLines: Record<string, unknown>[]) =>
  until('the end of the worker', () => logLines.some(({ msg }) => msg === 'worker failed, restarting'));

const script = fileURLToPath(new URL('worker-process.js', import.meta.url));

t.test('killed during the send: a running worker takes over, but not before', async (t) => {
  const { url, database, start, queueIsEmpty } = await setUp(t);
  const process = startProcess(t, url, { script });
  const key = await process.nextLine();
  const { sent } = start({ times: { staleLock } });
  await process.kill('SIGKILL');
  // Two runs of the recovery.
  const recoveries = 1_200;
  await sleep(recoveries);
  t.same(sent, []);
  await ageLocks(database);
  await until('the email is sent', () => sent.length > 0);
  await queueIsEmpty();
  t.match(sent, [{ idempotencyKey: key }]);
  t.equal(sent.length, 1);
});

t.test('the last attempt of a killed worker is recorded', async (t) => {
  const { url, database, start, queueIsEmpty, failedMails } = await setUp(t);
  const process = startProcess(t, url, { script });
  await process.nextLine();
  await database.pool.query('UPDATE graphile_worker._private_jobs SET attempts = max_attempts');
  await process.kill('SIGKILL');
  const { sent } = start({ times: { staleLock: 1_000 } });
  await queueIsEmpty();
  t.same(sent, []);
  t.match(await failedMails(), [{ kind: 'code', reason: 'the process ended during the last attempt' }]);
});

t.test('a worker continues when all its connections are cut', async (t) => {
  const { database, add, queueIsEmpty, start } = await setUp(t);
  const response = gate();
  const { sent } = start({
    send: ({ to }) => (to === 'user1@example.com' ? response.opened : undefined),
    times: { staleLock: 3_000 },
  });
  await add('code', { id: 1 });
  await until('the send began', () => sent.length > 0);
  const listens = async () => {
    const { rowCount } = await database.pool.query(
      `SELECT FROM pg_stat_activity WHERE application_name = 'dure-worker' AND query LIKE 'LISTEN%' AND datname = current_database()`,
    );
    return rowCount === 2;
  };
  await until('the connections that listen', listens);
  const cut = await database.pool.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE application_name = 'dure-worker' AND datname = current_database()`,
  );
  t.ok(cut.rowCount && cut.rowCount >= 2, `${cut.rowCount} connections`);
  response.open();
  await add('code', { id: 2 });
  await queueIsEmpty();
  t.same(new Set(sent.map(({ to }) => to)), new Set(['user1@example.com', 'user2@example.com']));
  await until('the connections that listen', listens);
  await sendsAtOnce(t, sent, () => add('code', { id: 3 }));
});

t.test('a database that takes no writes is a line for each restart of all workers', async (t) => {
  const { url, database, logLines, add, start } = await setUp(t);
  const traces = t.capture(console, 'trace');
  const setReadOnly = async (value: string) => {
    await database.pool.query('SET default_transaction_read_only = off');
    await database.pool.query(
      `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET default_transaction_read_only = ${value}`,
    );
    await database.pool.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE application_name = 'dure-worker' AND datname = current_database()`,
    );
  };
  await setReadOnly('on');
  const { sent } = start({ lanes: [{ tasks: { other: () => undefined }, concurrency: 6 }] });
  const restarts = () => logLines.filter(({ msg }) => msg === 'worker failed, restarting');
  await until('restarts', () => restarts().length > 2);
  t.match(restarts()[0], { reason: /read-only transaction/ });
  // The outbox, the recovery of jobs and the schedule, if it was at work, are lines of their own, every few seconds; so is a
  // connection that a worker got to listen with just before it was ended for the failure of another statement.
  const others = /^worker failed, restarting$|outbox|^recovery|Cron hit an error|notify listener|to UNLISTEN/;
  const warnings = logLines.filter(
    ({ level, msg }) => level !== 20 && level !== 30 && !others.test(String(msg)),
  );
  t.same(warnings, [], 'no other line');
  // A statement that is tried again may be a line of `console.error`, which the server logs as JSON.
  const stacks = traces().map(({ args }) => args.map(String));
  t.same(stacks, [], 'no stack on the console');
  await setReadOnly('off');
  await add('code');
  await until('the email is sent', () => sent.length === 1);
});

t.test('an email whose outcome cannot be stored is retried under the same key', async (t) => {
  const { proxy, database, logLines, add, queueIsEmpty, start } = await setUpBehindProxy(t);
  const response = gate();
  const { sent } = start({ connectionString: proxy.url, send: () => response.opened, times: { staleLock } });
  await add('code', { id: 1 });
  await until('the send began', () => sent.length === 1);
  await proxy.cut();
  response.open();
  await failed(logLines);
  await ageLocks(database);
  await proxy.restore();
  await add('code', { id: 2 });
  await queueIsEmpty();
  const keys = sent.filter(({ to }) => to === 'user1@example.com').map((mail) => mail.idempotencyKey);
  t.equal(keys.length, 2);
  t.equal(new Set(keys).size, 1);
  t.ok(sent.some(({ to }) => to === 'user2@example.com'));
});

t.test('a worker continues when it can store one outcome, but not another', async (t) => {
  const { database, logLines, jobs, add, queueIsEmpty, start } = await setUp(t);
  const responses = [1, 2, 3].map(gate);
  const { sent } = start({
    async send({ to }) {
      await responses[Number(to.charAt(4)) - 1]?.opened;
      if (to === 'user3@example.com' && sent.length === 3) throw new Error('down');
    },
    times: { staleLock },
  });
  // While the outcome of the first job waits for its error, the worker takes the third.
  await database.pool.query(`
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN PERFORM pg_advisory_xact_lock(1); RAISE 'refused'; END $$;
    CREATE TRIGGER refuse BEFORE DELETE ON graphile_worker._private_jobs
    FOR EACH ROW WHEN (old.payload->>'id' = '1') EXECUTE FUNCTION refuse()`);
  const holder = await database.pool.connect();
  await holder.query('SELECT pg_advisory_lock(1)');
  for (const id of [1, 2, 3]) await add('code', { id });
  await until('two sends began', () => sent.length === 2);
  responses[0]?.open();
  await until('the third began', () => sent.length === 3);
  await holder.query('SELECT pg_advisory_unlock(1)');
  holder.release();
  await until('the error', () => logLines.some((line) => JSON.stringify(line).includes('refused')));
  await database.pool.query('DROP TRIGGER refuse ON graphile_worker._private_jobs');
  responses[1]?.open();
  await until('the second outcome', async () => (await jobs()).every(({ payload }) => payload.id !== 2));
  responses[2]?.open();
  await failed(logLines);
  await ageLocks(database);
  await add('code', { id: 4 });
  await queueIsEmpty();
  t.ok(sent.some(({ to }) => to === 'user4@example.com'));
});

t.test('a worker starts without PostgreSQL, and works once that is available', async (t) => {
  const { proxy, logLines, add, start } = await setUpBehindProxy(t);
  await proxy.cut();
  const { sent } = start({ connectionString: proxy.url });
  await add('code');
  await failed(logLines);
  t.same(sent, []);
  await proxy.restore();
  await until('the email is sent', () => sent.length > 0);
  t.equal(sent.length, 1);
});

t.test('connections that stop responding are replaced', async (t) => {
  const { proxy, add, start } = await setUpBehindProxy(t);
  const { sent } = start({ connectionString: proxy.url, times: { staleLock: 4_000 } });
  await add('code');
  await until('the first email is sent', () => sent.length === 1);
  proxy.stall();
  await add('code', { id: 2 });
  await until('the second email is sent', () => sent.some(({ to }) => to === 'user2@example.com'));
  t.pass('the second email is sent');
});

t.test('stopping lets a running send finish', async (t) => {
  const { add, jobs, start } = await setUp(t);
  const response = gate();
  const { sent, stop } = start({ send: () => response.opened });
  await add('code');
  await until('the send began', () => sent.length === 1);
  let isStopped = false;
  const stopped = stop().finally(() => (isStopped = true));
  const aWhile = 1_000;
  await sleep(aWhile);
  t.notOk(isStopped);
  response.open();
  await stopped;
  t.same(await jobs(), []);
});

t.test('stopping releases the job of a send that hangs', async (t) => {
  const { add, jobs, start } = await setUp(t);
  const hanging = start({ send: hang });
  await add('code');
  await until('the send began', () => hanging.sent.length === 1);
  await hanging.stop();
  await until('the release', async () => (await jobs())[0]?.locked_by === null);
  const { sent } = start();
  await until('the other worker sends it', () => sent.length === 1);
  t.equal(sent[0]?.idempotencyKey, hanging.sent[0]?.idempotencyKey);
});

t.test('stopping ends soon while PostgreSQL does not respond', async (t) => {
  const { proxy, add, start } = await setUpBehindProxy(t);
  const { sent, stop } = start({ connectionString: proxy.url, send: hang });
  await add('code');
  await until('the send began', () => sent.length === 1);
  proxy.freeze();
  await stop();
  t.pass('it does not wait for the responses');
});

t.test('a connection that breaks while it begins to listen ends no process', async (t) => {
  const { proxy, add, start } = await setUpBehindProxy(t);
  proxy.holdResponsesTo('LISTEN "jobs:insert"');
  const stuck = start({ connectionString: proxy.url });
  await until('LISTEN has no response', () => proxy.held() > 0);
  const stopped = stuck.stop();
  await proxy.cut();
  await stopped;
  await proxy.restore();
  const { sent } = start({ connectionString: proxy.url });
  await add('code');
  await until('the email is sent', () => sent.length === 1);
  t.equal(sent.length, 1);
});

t.test('the clean-up runs on a schedule', async (t) => {
  const { database, start, logLines } = await setUp(t);
  // In the databases of tests the schedule does not run.
  await database.pool.query('TRUNCATE graphile_worker._private_known_crontabs');
  let runs = 0;
  start({
    async cleanUp() {
      runs += 1;
      if (runs === 1) throw new Error('canceling statement due to lock timeout');
      return { deleted: {}, isComplete: runs > 2 };
    },
  });
  const crontabs = async () =>
    (await database.pool.query('SELECT identifier FROM graphile_worker._private_known_crontabs')).rows;
  await until('the schedule is known', async () => (await crontabs()).length > 0);
  t.same(await crontabs(), [{ identifier: 'clean_up' }]);
  await database.pool.query(`SELECT graphile_worker.add_job('clean_up')`);
  await until('it ran again after a failure and while it was not complete', () => runs > 2);
  const failures = logLines.filter(({ msg }) => msg === 'job failed');
  t.match(failures, [{ task: 'clean_up', reason: /lock timeout/ }]);
});
