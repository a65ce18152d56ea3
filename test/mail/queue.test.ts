import { spawn } from 'node:child_process';
import { connect, createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import Fastify from 'fastify';
import t, { type Test } from 'tap';
import { openDatabase } from '../../src/database/client.ts';
import { createMailQueue, type MailPayload } from '../../src/mail/queue.ts';
import { MailRejectedError, type OutgoingMail } from '../../src/mail/transport.ts';
import { type MailComposers, startWorker } from '../../src/mail/worker.ts';
import { createTestDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';

const code = '731942';
const link = 'https://dure.example/reset-password?uid=41&token=Zk3vQmT0aYt9HsLwBqXc';
const composers: MailComposers = {
  code: async ({ id }) => ({
    to: `user${id}@example.com`,
    language: 'en',
    mail: { kind: 'verification_code', code, minutes: 10 },
  }),
  link: async () => ({
    to: 'mina@example.com',
    language: 'ko',
    mail: { kind: 'reset_link', name: '미나', url: link, minutes: 60 },
  }),
  superseded: async () => null,
};

/** A database, its queue, and workers that end with the test. */
async function setUp(t: Test, connectVia = async (url: string) => url) {
  const { url, drop } = await createTestDatabase();
  t.teardown(drop);
  const database = openDatabase({ url, poolSize: 4, pooled: false, onError: () => undefined });
  t.teardown(() => database.close());
  const lines: Record<string, unknown>[] = [];
  const stream = { write: (line: string) => lines.push(JSON.parse(line)) };
  const workerUrl = await connectVia(url);

  return {
    url,
    database,
    lines,
    add: (kind: string, payload: MailPayload = { id: 1 }) =>
      database.transaction((transaction) => createMailQueue().add(transaction, kind, payload)),
    /** Rows as JSON, so that what is compared is what an operator reads. */
    async query(sql: string): Promise<Record<string, unknown>[]> {
      const { rows } = await database.pool.query<{ row: Record<string, unknown> }>(
        `WITH q AS (${sql}) SELECT to_jsonb(q) AS row FROM q`,
      );
      return rows.map(({ row }) => row);
    },
    jobs: async () => (await database.pool.query('SELECT * FROM graphile_worker._private_jobs')).rows,
    /** Makes a job that waits for its next try due now, with the given number of tries behind it. */
    hurry: (attempts?: number) =>
      database.pool.query(
        'UPDATE graphile_worker._private_jobs SET run_at = now(), attempts = coalesce($1, attempts) WHERE locked_at IS NULL',
        [attempts],
      ),
    async start(send: (mail: OutgoingMail) => Promise<void> | void, composersToUse = composers) {
      const sent: OutgoingMail[] = [];
      const worker = await startWorker({
        connectionString: workerUrl,
        database,
        composers: composersToUse,
        logger: Fastify({ logger: { level: 'debug', stream } }).log,
        transport: {
          async send(mail) {
            sent.push(mail);
            await send(mail);
          },
        },
      });
      t.teardown(() => worker.stop());
      return { sent, stop: () => worker.stop() };
    },
  };
}

const accept = () => undefined;

/** Looking for jobs every two seconds without being notified, eight mails in a row would take eight seconds. */
async function sendsAtOnce(t: Test, sent: unknown[], add: (kind: string) => Promise<void>) {
  const began = Date.now();
  for (let mail = 0; mail < 8; mail++) {
    const before = sent.length;
    await add('code');
    await until('the mail is sent', () => sent.length > before);
  }
  t.ok(Date.now() - began < 6_000, `eight mails within ${Date.now() - began} ms`);
}

/** A promise to hold a provider's answer back. */
function gate() {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** Stands between a worker and PostgreSQL. */
async function createProxy(t: Test, url: string) {
  const target = new URL(url);
  let refusing = false;
  const connections: Socket[][] = [];
  const server = createServer((near) => {
    if (refusing) return near.destroy();
    const far = connect(Number(target.port), target.hostname);
    connections.push([near, far]);
    for (const [one, other] of [[near, far] as const, [far, near] as const]) {
      one.on('data', (data) => other.write(data));
      one.on('close', () => other.destroy());
      one.on('error', () => undefined);
    }
    return undefined;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = () => {
    refusing = true;
    for (const socket of connections.flat()) socket.destroy();
  };
  t.teardown(() => {
    cut();
    server.close();
  });
  const address = server.address();
  const proxied = new URL(url);
  proxied.hostname = '127.0.0.1';
  proxied.port = String(typeof address === 'object' ? address?.port : '');
  return {
    url: proxied.href,
    cut,
    restore: () => {
      refusing = false;
    },
    /** Lets some of the connections stand still, as a network does that loses every packet. */
    freeze: (from: number, to?: number) => {
      for (const [near, far] of connections.slice(from, to)) {
        near?.removeAllListeners('data');
        far?.removeAllListeners('data');
      }
    },
  };
}

async function setUpBehindProxy(t: Test) {
  let proxy: Awaited<ReturnType<typeof createProxy>> | undefined;
  const service = await setUp(t, async (url) => {
    proxy = await createProxy(t, url);
    return proxy.url;
  });
  if (proxy === undefined) throw new Error('there is no proxy');
  return { ...service, proxy };
}

/** Starts test/mail/queue-fixture.ts and reads its lines. */
function startFixture(t: Test, ...args: string[]) {
  const path = fileURLToPath(new URL('queue-fixture.js', import.meta.url));
  const child = spawn(process.execPath, [path, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const kill = () => {
    child.kill('SIGKILL');
    return exited;
  };
  t.teardown(kill);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return { kill, nextLine: async (): Promise<string> => String((await lines.next()).value) };
}

t.jobs = 4;
/** tap writes into these, so that each test needs its own. */
const parallel = () => ({ buffered: true });

t.test('a mail is sent once, soon after its transaction is committed', parallel(), async (t) => {
  const { database, add, jobs, start } = await setUp(t);
  const { sent } = await start(accept);
  await database.transaction(async (transaction) => {
    await createMailQueue().add(transaction, 'code', { id: 7 });
    await sleep(2_500);
    t.equal(sent.length, 0, 'not before the commit');
  });
  await until('the mail is sent', () => sent.length === 1);
  await until('the job is gone', async () => (await jobs()).length === 0);
  t.match(sent, [{ to: 'user7@example.com', text: code, idempotencyKey: /^[0-9a-f-]{36}$/ }]);
  await sendsAtOnce(t, sent, add);
});

t.test('a mail of a transaction that is rolled back is never sent', parallel(), async (t) => {
  const { database, add, jobs, start } = await setUp(t);
  const { sent } = await start(accept);
  const work = database.transaction(async (transaction) => {
    await createMailQueue().add(transaction, 'code', { id: 1 });
    throw new Error('no');
  });
  await t.rejects(work, { message: 'no' });
  await add('code', { id: 2 });
  await until('the next mail is sent', async () => sent.length > 0 && (await jobs()).length === 0);
  t.same(
    sent.map(({ to }) => to),
    ['user2@example.com'],
  );
});

t.test('the job of a mail holds ids only, and each mail has a key of its own', parallel(), async (t) => {
  const { add, jobs } = await setUp(t);
  await add('code', { id: 7, email: 'b2f1' });
  await add('code', { id: 7, email: 'b2f1' });
  const [one, other] = await jobs();
  const { idempotency_key: key, ...rest } = one.payload;
  t.same(rest, { kind: 'code', id: 7, email: 'b2f1' });
  t.not(key, other.payload.idempotency_key);
});

t.test('while the provider is down a mail waits, and is tried again as it was', parallel(), async (t) => {
  const { add, jobs, hurry, start, lines, query } = await setUp(t);
  let down = true;
  const { sent } = await start(({ text }) => {
    if (down) throw new Error(`fetch failed for ${text} and ${code}`);
  });
  await add('code');
  await until('the first try failed', async () => (await jobs())[0]?.last_error !== null);
  const [job] = await jobs();
  t.equal(job.max_attempts, 25);
  const delay = job.run_at.getTime() - Date.now();
  t.ok(delay > 0 && delay < 5_000, `next try in ${delay} ms`);
  t.notMatch(JSON.stringify(await jobs()), code, 'the code is not in the queue');
  const reported = lines.filter(({ level }) => Number(level) >= 40);
  t.match(reported, [{ level: 40, kind: 'code', attempts: 1, reason: /^fetch failed for / }]);
  t.notMatch(JSON.stringify(lines), new RegExp(`${code}|"stack"`), 'neither code nor stack in the log');

  down = false;
  await hurry();
  await until('the job is gone', async () => (await jobs()).length === 0);
  t.equal(sent.length, 2);
  t.same(sent[1], sent[0], 'the same text under the same key');
  t.same(await query('SELECT * FROM failed_mails'), []);
});

t.test('the last of the tries is days away from the first', parallel(), async (t) => {
  const { add, jobs, hurry, start } = await setUp(t);
  await add('code');
  await hurry(20);
  await start(() => {
    throw new Error('fetch failed');
  });
  await until('the try failed', async () => (await jobs())[0]?.last_error !== null);
  const [job] = await jobs();
  const hours = (job.run_at.getTime() - Date.now()) / 3_600_000;
  t.ok(hours > 5 && hours < 7, `next try in ${hours} h`);
});

t.test(
  'a mail that is rejected for good is kept with its reason, and not tried again',
  parallel(),
  async (t) => {
    const { add, jobs, start, lines, query } = await setUp(t);
    const { sent } = await start(({ text, html }) => {
      throw new MailRejectedError(`field "to" of ${text}${html}${code} is not valid`);
    });
    await add('code', { id: 7 });
    await add('link', { id: 8 });
    await until('the jobs are gone', async () => (await jobs()).length === 0);
    t.equal(sent.length, 2);
    const kept = await query('SELECT kind, payload, attempts, reason FROM failed_mails ORDER BY id');
    t.match(
      kept.sort((a, b) => String(a.kind).localeCompare(String(b.kind))),
      [
        { kind: 'code', payload: { id: 7 }, attempts: 1, reason: /^field "to" of / },
        { kind: 'link', payload: { id: 8 }, attempts: 1, reason: /^field "to" of / },
      ],
    );
    t.same(
      kept.map(({ payload }) => Object.keys(Object(payload))),
      [['id'], ['id']],
    );
    for (const secret of [code, 'Zk3vQmT0aYt9HsLwBqXc']) {
      t.notMatch(JSON.stringify([kept, lines]), secret, 'nothing of the mail is kept or logged');
    }
    t.match(
      lines.filter(({ level }) => level === 50),
      [{ attempts: 1 }, { attempts: 1 }],
    );
  },
);

t.test('a mail of an unknown kind is kept', parallel(), async (t) => {
  const { add, jobs, start, query } = await setUp(t);
  const { sent } = await start(accept);
  await add('constructor', { id: 3 });
  await until('the job is gone', async () => (await jobs()).length === 0);
  t.equal(sent.length, 0);
  t.match(await query('SELECT * FROM failed_mails'), [
    { kind: 'constructor', payload: { id: 3 }, reason: 'There is no such kind of mail' },
  ]);
});

t.test('a mail whose tries are used up is kept with the last reason', parallel(), async (t) => {
  const { add, jobs, hurry, start, lines, query } = await setUp(t);
  await add('code', { id: 7 });
  await hurry(24);
  const { sent } = await start(() => {
    throw new Error('fetch failed');
  });
  const failedMails = () => query('SELECT kind, payload, reason, attempts FROM failed_mails');
  await until('it is kept', async () => (await failedMails()).length > 0, 15);
  t.same(await failedMails(), [{ kind: 'code', payload: { id: 7 }, reason: 'fetch failed', attempts: 25 }]);
  t.same(await jobs(), []);
  t.equal(sent.length, 1);
  t.match(
    lines.filter(({ level }) => level === 50),
    [{ kind: 'code', attempts: 25, reason: 'fetch failed' }],
  );
});

t.test('a mail that is out of date is dropped', parallel(), async (t) => {
  const { add, jobs, start, query } = await setUp(t);
  const { sent } = await start(accept);
  await add('superseded');
  await until('the job is gone', async () => (await jobs()).length === 0);
  t.equal(sent.length, 0);
  t.same(await query('SELECT * FROM failed_mails'), []);
});

t.test('a mail that cannot be composed now is composed later', parallel(), async (t) => {
  const { add, jobs, hurry, start } = await setUp(t);
  let tries = 0;
  const { sent } = await start(accept, {
    async code(payload) {
      tries += 1;
      if (tries === 1) throw new Error('Connection terminated unexpectedly');
      return (await composers.code?.(payload)) ?? null;
    },
  });
  await add('code');
  await until('the first try failed', async () => (await jobs())[0]?.last_error !== null);
  await hurry();
  await until('the job is gone', async () => (await jobs()).length === 0);
  t.equal(sent.length, 1);
});

t.test('two workers send each mail once', parallel(), async (t) => {
  const { add, jobs, start } = await setUp(t);
  const workers = [await start(() => sleep(50)), await start(() => sleep(50))];
  await Promise.all(Array.from({ length: 60 }, (_, id) => add('code', { id })));
  await until('the jobs are gone', async () => (await jobs()).length === 0);
  const receivers = workers.flatMap(({ sent }) => sent.map(({ to }) => to));
  t.equal(receivers.length, 60);
  t.equal(new Set(receivers).size, 60);
  for (const { sent } of workers) t.ok(sent.length > 0, `${sent.length} of them`);
});

t.test('killed between commit and send: another worker sends the mail', parallel(), async (t) => {
  const { url, start } = await setUp(t);
  const fixture = startFixture(t, url);
  t.equal(await fixture.nextLine(), 'committed');
  await fixture.kill();
  const { sent } = await start(accept);
  await until('the mail is sent', () => sent.length === 1);
});

t.test('killed during the send: the worker that starts next sends the same mail', parallel(), async (t) => {
  const { url, start, jobs } = await setUp(t);
  const fixture = startFixture(t, url, 'worker');
  await fixture.nextLine();
  const key = await fixture.nextLine();
  await fixture.kill();
  const { sent } = await start(accept);
  await until('the mail is sent', () => sent.length > 0);
  await until('the job is gone', async () => (await jobs()).length === 0);
  t.match(sent, [{ idempotencyKey: key }]);
});

t.test('killed during the send: a running worker takes over, but not before', parallel(), async (t) => {
  const { url, start, jobs } = await setUp(t);
  const fixture = startFixture(t, url, 'worker');
  await fixture.nextLine();
  const key = await fixture.nextLine();
  const { sent } = await start(accept);
  await sleep(12_000);
  t.same(sent, [], 'the mail is left to the worker that is sending it');
  await fixture.kill();
  await until('the mail is sent', () => sent.length > 0, 20);
  await until('the job is gone', async () => (await jobs()).length === 0);
  t.match(sent, [{ idempotencyKey: key }]);
});

t.test('it goes on when all its connections are cut', parallel(), async (t) => {
  const { database, add, jobs, start } = await setUp(t);
  const { opened, open } = gate();
  const { sent } = await start(() => opened);
  await add('code', { id: 1 });
  await until('the send began', () => sent.length === 1);
  const cut = await database.pool.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE application_name = 'dure-worker' AND datname = current_database()`,
  );
  t.ok(cut.rowCount && cut.rowCount >= 3, `${cut.rowCount} connections`);
  open();
  await add('code', { id: 2 });
  await until('the jobs are gone', async () => (await jobs()).length === 0);
  t.same(new Set(sent.map(({ to }) => to)), new Set(['user1@example.com', 'user2@example.com']));
  await sleep(1_500);
  await sendsAtOnce(t, sent, add);
});

t.test('it survives that PostgreSQL goes away during a send', parallel(), async (t) => {
  const { proxy, add, jobs, start } = await setUpBehindProxy(t);
  const { opened, open } = gate();
  const { sent } = await start(() => opened);
  await add('code', { id: 1 });
  await until('the send began', () => sent.length === 1);
  proxy.cut();
  open();
  await sleep(3_000);
  proxy.restore();
  await add('code', { id: 2 });
  await until('the jobs are gone', async () => (await jobs()).length === 0, 25);
  const keys = sent.filter(({ to }) => to === 'user1@example.com').map((mail) => mail.idempotencyKey);
  t.equal(new Set(keys).size, 1, 'whatever was sent again was the same mail');
  t.ok(sent.some(({ to }) => to === 'user2@example.com'));
});

t.test('it starts without PostgreSQL, and works once that is there', parallel(), async (t) => {
  const { proxy, add, start } = await setUpBehindProxy(t);
  proxy.cut();
  const { sent } = await start(accept);
  await add('code');
  await sleep(1_000);
  proxy.restore();
  await until('the mail is sent', () => sent.length === 1, 15);
});

t.test('it gets over connections that stand still without being closed', parallel(), async (t) => {
  const { proxy, add, start } = await setUpBehindProxy(t);
  const { sent } = await start(accept);
  await add('code');
  await until('the first mail is sent', () => sent.length === 1);
  // The first connection holds the locks: it shall not be the one that notices.
  proxy.freeze(1);
  await add('code');
  await until('the second mail is sent', () => sent.length > 1, 30);
});

/** The server processes that hold the locks of workers. */
const lockHolders = `SELECT DISTINCT pid FROM pg_locks
  WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

t.test('it takes its locks again when their connection is cut', parallel(), async (t) => {
  const { query, start } = await setUp(t);
  await start(accept);
  await until('it holds its locks', async () => (await query(lockHolders)).length === 1);
  const before = await query(lockHolders);
  await query(`SELECT pg_terminate_backend(pid) FROM (${lockHolders}) AS holders`);
  await until(
    'it holds them again',
    async () => {
      const holders = await query(lockHolders);
      return holders.length === 1 && holders[0]?.pid !== before[0]?.pid;
    },
    7,
  );
});

t.test('it takes its locks again when their connection stands still', parallel(), async (t) => {
  const { proxy, query, start } = await setUpBehindProxy(t);
  await start(accept);
  await until('it holds its locks', async () => (await query(lockHolders)).length === 1);
  const [before] = await query(lockHolders);
  proxy.freeze(0, 1);
  await until(
    'it holds them again',
    async () => (await query(lockHolders)).some(({ pid }) => pid !== before?.pid),
    25,
  );
});

t.test('stopping lets a running send finish', parallel(), async (t) => {
  const { add, jobs, start } = await setUp(t);
  let finished = false;
  const { sent, stop } = await start(async () => {
    await sleep(2_000);
    finished = true;
  });
  await add('code');
  await until('the send began', () => sent.length === 1);
  await stop();
  t.ok(finished);
  t.same(await jobs(), []);
});

t.test(
  'stopping does not wait for a send that hangs, and leaves its mail to others',
  parallel(),
  async (t) => {
    const { add, jobs, start } = await setUp(t);
    const hanging = await start(() => new Promise(() => undefined));
    await add('code');
    await until('the send began', () => hanging.sent.length === 1);
    const began = Date.now();
    await hanging.stop();
    t.ok(Date.now() - began < 9_000, `stopped after ${Date.now() - began} ms`);
    t.equal((await jobs())[0]?.locked_by, null, 'the job is free at once');
    const { sent } = await start(accept);
    await until('the other worker sends it', () => sent.length === 1, 8);
    t.equal(sent[0]?.idempotencyKey, hanging.sent[0]?.idempotencyKey);
  },
);

t.test('stopping ends soon while PostgreSQL does not answer', parallel(), async (t) => {
  const { proxy, add, start } = await setUpBehindProxy(t);
  const { sent, stop } = await start(() => new Promise(() => undefined));
  await add('code');
  await until('the send began', () => sent.length === 1);
  proxy.freeze(0);
  const began = Date.now();
  await stop();
  t.ok(Date.now() - began < 9_000, `stopped after ${Date.now() - began} ms`);
});

t.test('it cleans the database up on a schedule', parallel(), async (t) => {
  const { database, start, query } = await setUp(t);
  await database.pool.query(`INSERT INTO email_codes (email, id, key_id, expires_at)
    VALUES ('old@example.com', gen_random_uuid(), 'k', now() - interval '1 second')`);
  await start(accept);
  const crontabs = () => query('SELECT identifier FROM graphile_worker._private_known_crontabs');
  await until('the schedule is known', async () => (await crontabs()).length > 0);
  t.same(await crontabs(), [{ identifier: 'clean_up' }]);
  await database.pool.query(`SELECT graphile_worker.add_job('clean_up')`);
  await until('it is deleted', async () => (await query('SELECT * FROM email_codes')).length === 0);
});
