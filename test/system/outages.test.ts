import { once } from 'node:events';
import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { reachEmbeddedServer, startEmbeddedServer } from '../../src/development/embedded-postgres/server.ts';
import { password } from '../support/app.ts';
import { execute } from '../support/database.ts';
import { createProvider } from '../support/provider.ts';
import { post, production, insist as repeat, type Service, startService } from '../support/service.ts';
import { cannotMount, fillDisk, smallDisk } from '../support/small-disk.ts';
import { atMost, pause } from '../support/time.ts';
import { until } from '../support/until.ts';
import {
  allEnd,
  clusterFolder,
  postmasterPid,
  processesIn,
  signalAll,
  temporaryFolder,
} from './embedded-postgres/support.ts';

/** Real processes, real failures: what the service promises while PostgreSQL or the disk is not there. */

const open = { ...production, RATE_LIMIT_ENABLED: 'false' };

/** How long any response may take, in milliseconds. */
const promisedTime = 10_000;
/** Milliseconds until the process manager starts PostgreSQL again, and in which it does not respond. */
const restartDelay = 1_000;
const hanging = 7_000;

const mailOf = (username: string) => `${username}@example.com`;

/** Signs somebody up once: the response is in time, and a success or `service_unavailable`. @returns whether it is a success */
async function signUp(t: Test, { url }: Service, username: string): Promise<boolean> {
  const late = AbortSignal.timeout(atMost(promisedTime));
  const account = { username, password, name: '김두레', email: mailOf(username) };
  const key = { 'idempotency-key': `sign-up-of-${username}` };
  const { status, headers, text } = await post(`${url}/auth/signup/`, account, key);
  if (late.aborted) t.fail(`the response to ${username} was too late`);
  if (status === 201) return true;
  t.match(JSON.parse(text), { success: false, data: { code: 'service_unavailable' } }, text);
  t.equal(status, 503);
  t.match(headers.get('retry-after'), /^[1-9]\d*$/);
  return false;
}

/** Tries again, as a careful client does, until it is a success. @throws when it is none in time */
async function insist(t: Test, service: Service, username: string): Promise<void> {
  const end = AbortSignal.timeout(atMost(60_000));
  for (; !(await signUp(t, service, username)); await sleep(4 * pause)) {
    if (end.aborted) throw new Error(`${username} cannot sign up`);
  }
}

/**
 * PostgreSQL under a process manager: a second after it ended, and once that was noticed, it is started again on the same port,
 * until that works.
 *
 * @returns its connection string
 */
async function startRestartingServer(
  t: Test,
  directory: string,
  noticed: () => Promise<unknown>,
): Promise<string> {
  let port: number | undefined;
  let stopped = false;
  const start = () => startEmbeddedServer({ directory, port, onExit: () => void restart() });
  let server = start();
  const restart = async () => {
    await Promise.allSettled([sleep(restartDelay), noticed()]);
    if (stopped) return;
    server = start();
    await server.catch(restart);
  };
  t.teardown(async () => {
    stopped = true;
    await (await server).stop();
  });
  const { url } = await server;
  port = Number(new URL(url).port);
  return url;
}

const status = async (service: Service, path: string) => (await fetch(`${service.url}${path}`)).status;

/** Waits until a service says that it is ready, or that it is not. */
const readiness = (service: Service, expected: 200 | 503) =>
  until(`${expected}`, async () => (await status(service, '/health/ready')) === expected);

/** PostgreSQL restarts all its processes when one of them is killed. */
async function crashConnection(url: string): Promise<void> {
  const [pid] = await execute(
    url,
    `SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() LIMIT 1`,
  );
  process.kill(Number(pid), 'SIGKILL');
}

async function keepDown(directory: string, milliseconds: number): Promise<void> {
  for (const end = AbortSignal.timeout(milliseconds); !end.aborted; await sleep(pause)) {
    const pid = await postmasterPid(directory).catch(() => undefined);
    if (pid !== undefined) signalAll([pid], 'SIGKILL');
  }
}

async function hang(directory: string, end: Promise<unknown>): Promise<void> {
  // First the one that makes new ones.
  signalAll([await postmasterPid(directory)], 'SIGSTOP');
  const processes = processesIn(directory, 'postgres');
  signalAll(processes, 'SIGSTOP');
  await end.finally(() => signalAll(processes, 'SIGCONT'));
}

t.test('PostgreSQL ends or hangs: nothing acknowledged is lost, each email is sent once', async (t) => {
  const directory = await clusterFolder(t, true);
  /** No outage ends before both services have noticed it. */
  let noticed: Promise<unknown> = Promise.resolve();
  const databaseUrl = await startRestartingServer(t, directory, () => noticed);
  const provider = await createProvider(t);
  const environment = { ...open, DATABASE_URL: databaseUrl, RESEND_BASE_URL: provider.url };
  const services = await Promise.all([startService(environment), startService(environment)]);
  t.teardown(() => Promise.all(services.map((service) => service.end())));

  const signedUp: string[] = [];
  let over = false;
  const clients = Array.from({ length: 4 }, async (_, client) => {
    for (let index = 0; !over; index++) {
      const username = `shop${client}n${index}`;
      await insist(t, services[index % 2 === 0 ? 0 : 1], username);
      signedUp.push(username);
      await sleep(8 * pause);
    }
  });
  const prober = (async () => {
    for (; !over; await sleep(4 * pause)) {
      for (const service of services) if ((await status(service, '/health/live')) !== 200) t.fail('not live');
    }
  })();

  const outages: [string, () => Promise<void>][] = [
    ['a fast shutdown', async () => signalAll([await postmasterPid(directory)], 'SIGINT')],
    ['a crash', async () => signalAll([await postmasterPid(directory)], 'SIGKILL')],
    ['a crash of one connection', async () => crashConnection(databaseUrl)],
    ['a restart that fails for five seconds', () => keepDown(directory, 5_000)],
    ['a server that hangs for seven seconds', () => hang(directory, Promise.all([noticed, sleep(hanging)]))],
  ];
  for (const [what, happen] of outages) {
    const before = signedUp.length;
    await until(`sign-ups before ${what}`, () => signedUp.length > before + 8);
    // After the crash of a connection PostgreSQL may be back before anybody can ask.
    const asked = what === 'a crash of one connection' ? [] : services;
    noticed = Promise.all(asked.map((service) => readiness(service, 503)));
    await Promise.all([happen(), noticed]);
    for (const service of services) await readiness(service, 200);
    t.pass(what);
  }
  const after = signedUp.length;
  await until('sign-ups in the end', () => signedUp.length > after + 8);
  over = true;
  await Promise.all([...clients, prober]);

  for (const service of services)
    t.notMatch(service.output(), /already sent|reply\.sent/, 'the end of a late handler is not an error');
  const accounts = await execute(databaseUrl, 'SELECT count(*)::int FROM users');
  t.same(accounts, [signedUp.length], 'each account once, and no other');
  for (const username of [...signedUp.slice(0, 5), ...signedUp.slice(-5)]) {
    const login = await repeat(`${services[0].url}/auth/login/`, { username, password });
    t.equal(login.status, 200, username);
  }
  const allTaken = async () => {
    // Those that failed several times would wait for a minute, those of lost connections until their lock is 45 seconds old.
    await execute(
      databaseUrl,
      'UPDATE graphile_worker._private_jobs SET run_at = now() WHERE locked_at IS NULL',
      `UPDATE graphile_worker._private_jobs SET locked_at = locked_at - interval '1 minute'
         WHERE locked_at < now() - interval '5 seconds'`,
    );
    return signedUp.every((username) => provider.taken(mailOf(username)).length > 0);
  };
  // A runner that does not end by itself is replaced after 9 seconds, and a restart may wait for 10.
  await until('all mails', allTaken);
  const repeated = signedUp.filter((username) => provider.taken(mailOf(username)).length !== 1);
  t.same(repeated, [], 'one email for each');
});

t.test('a full disk under the embedded database', { skip: cannotMount }, async (t) => {
  const DATA_DIR = smallDisk(t, await temporaryFolder(t), 200);
  await cp(await clusterFolder(t, true), join(DATA_DIR, 'postgres'), { recursive: true });
  const environment = { DATA_DIR, RATE_LIMIT_ENABLED: 'false' };
  const embeddedUrl = async () => (await reachEmbeddedServer(join(DATA_DIR, 'postgres'))).url;
  const service = await startService(environment);
  t.teardown(() => service.end());
  const signedUp: string[] = [];
  const signUpUntilRejected = async (prefix: string) => {
    for (let index = 0; index < 500; index++) {
      if (!(await signUp(t, service, `${prefix}${index}`))) return true;
      signedUp.push(`${prefix}${index}`);
    }
    return false;
  };

  await insist(t, service, 'first');
  signedUp.push('first');
  const fill = await fillDisk(DATA_DIR);
  t.ok(await signUpUntilRejected('full'), 'what cannot be kept is rejected');
  t.equal(await status(service, '/health/live'), 200);
  const readable = async () => (await status(service, '/api/v1/stores/categories/')) === 200;
  await until('what is there can be read', readable);
  await rm(fill);
  await insist(t, service, 'after');
  signedUp.push('after');

  // PostgreSQL ends when it cannot extend the write-ahead log.
  const url = await embeddedUrl();
  const ended = once(service.child, 'close');
  await fillDisk(DATA_DIR);
  const unanswered: unknown[] = [];
  for (let turn = 0; turn < 10 && unanswered.length === 0; turn++) {
    if ((await execute(url, 'SELECT pg_switch_wal()').catch(() => [])).length === 0) break;
    const username = `log${turn}`;
    const accepted = await signUp(t, service, username).catch(() => void unanswered.push(username));
    if (accepted) signedUp.push(username);
  }
  t.same(await ended, [1, null], 'the service ends with a non-zero exit code');
  const message = /^PostgreSQL in .* ended unexpectedly: .*$/m.exec(service.output())?.[0];
  t.match(message, 'No space left on device', 'one line says why');
  t.ok(await allEnd(DATA_DIR), 'no process is left');

  await rm(fill);
  const restarted = await startService(environment);
  t.teardown(() => restarted.end());
  await insist(t, restarted, 'restarted');
  signedUp.push('restarted');
  const usernames = await execute(await embeddedUrl(), 'SELECT username FROM users ORDER BY id');
  const answered = usernames.filter((username) => !unanswered.includes(username));
  t.same(answered, signedUp, 'every acknowledged account, and none that was rejected');
});
