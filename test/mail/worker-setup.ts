import Fastify, { type FastifyBaseLogger } from 'fastify';
import type { Test } from 'tap';
import { authKinds } from '../../src/domains/auth/index.ts';
import type { Database } from '../../src/infrastructure/database/client.ts';
import { createOutbox } from '../../src/infrastructure/jobs/outbox.ts';
import { startWorker } from '../../src/infrastructure/jobs/worker.ts';
import { writeMail } from '../../src/infrastructure/mail/content.ts';
import { createMailQueue, type MailPayload, mailJobs } from '../../src/infrastructure/mail/queue.ts';
import { createMailLane, type MailComposers } from '../../src/infrastructure/mail/sending.ts';
import type { OutgoingMail } from '../../src/infrastructure/mail/transport.ts';
import { createMetrics } from '../../src/infrastructure/telemetry/metrics.ts';
import { createTestDatabase, openTestDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';

export const code = '731942';
export const token = 'Zk3vQmT0aYt9HsLwBqXc';
export const composers: MailComposers = {
  code: async ({ id }) => ({
    to: `user${id}@example.com`,
    mail: writeMail(authKinds.verification_code, 'en', {
      code,
      url: 'https://dure.example/verify-email',
      minutes: 10,
    }),
  }),
  link: async () => ({
    to: 'mina@example.com',
    mail: writeMail(authKinds.reset_link, 'ko', {
      name: '미나',
      url: `https://dure.example/reset-password?uid=41&token=${token}`,
      minutes: 60,
    }),
  }),
  obsolete: async () => null,
};

/** An outbox of emails, and their queue. */
export function createQueue(database: Database, log: FastifyBaseLogger) {
  const outbox = createOutbox(database, log, [mailJobs(authKinds)]);
  return { outbox, queue: createMailQueue({ kinds: authKinds, outbox }) };
}

type LaneOptions = Parameters<typeof createMailLane>[0];
type WorkerOptions = Parameters<typeof startWorker>[0];
type Needed = Pick<LaneOptions, 'database' | 'logger' | 'transport'> &
  Pick<WorkerOptions, 'connectionString'>;

/** Starts a worker of emails that have no topic, and of other lanes. */
export function startMailWorker(options: Needed & Partial<LaneOptions & WorkerOptions>) {
  const all = {
    composers,
    checkMail: async () => ({}),
    metrics: createMetrics(),
    tracing: undefined,
    tasks: {},
    cleanUp: async () => ({ deleted: {}, isComplete: true }),
    ...options,
  };
  return startWorker({ ...all, lanes: [createMailLane(all), ...(options.lanes ?? [])] });
}

/** Options of the worker, and how the provider takes an email. */
type StartOptions = Partial<LaneOptions & WorkerOptions> & {
  send?(mail: OutgoingMail): Promise<void> | void;
};

/** A database with its queue, and workers that stop with the test. */
export async function setUp(t: Test) {
  const url = await createTestDatabase();
  const database = openTestDatabase(t, url, 4);
  const logLines: Record<string, unknown>[] = [];
  const stream = { write: (line: string) => logLines.push(JSON.parse(line)) };
  const { log } = Fastify({ logger: { level: 'debug', stream } });
  const { outbox, queue } = createQueue(database, log);
  outbox.start();
  t.teardown(() => outbox.stop());
  t.teardown(() => {
    if (!t.passing()) t.comment(logLines);
  });

  const waiting = async () => (await database.pool.query('SELECT FROM outbox')).rows;
  const jobs = async () => (await database.pool.query('SELECT * FROM graphile_worker._private_jobs')).rows;
  return {
    url,
    database,
    queue,
    logLines,
    errors: () => logLines.filter(({ level }) => level === 50),
    /** Enqueues an email in a transaction. Then it is a job, or has been one. */
    async add(kind: string, payload: MailPayload = { id: 1 }) {
      await database.transaction((tx) => queue.add(tx, kind, payload));
      await until('the outbox is empty', async () => (await waiting()).length === 0);
    },
    jobs,
    attemptFailed: () => until('a failed attempt', async () => (await jobs())[0]?.last_error !== null),
    queueIsEmpty: () =>
      until('the queue is empty', async () => (await waiting()).length + (await jobs()).length === 0),
    failedMails: async () =>
      (await database.pool.query('SELECT kind, payload, reason, attempts FROM failed_mails ORDER BY kind'))
        .rows,
    /** Makes waiting jobs due now, with the given number of attempts behind them. */
    makeDue: (attempts?: number) =>
      database.pool.query(
        'UPDATE graphile_worker._private_jobs SET run_at = now(), attempts = coalesce($1, attempts) WHERE locked_at IS NULL',
        [attempts],
      ),
    start(options: StartOptions = {}) {
      const sent: OutgoingMail[] = [];
      const worker = startMailWorker({
        connectionString: url,
        ...options,
        database,
        times: { recovery: 500, ...options.times },
        logger: log,
        transport: {
          async send(mail) {
            sent.push(mail);
            await options.send?.(mail);
          },
        },
      });
      t.teardown(() => worker.stop());
      return { sent, stop: () => worker.stop() };
    },
  };
}

/** A provider that does not respond. */
export const hang = () => new Promise<void>(() => undefined);

/** Milliseconds between two looks of a worker for jobs that nothing told it of: the default of graphile-worker. */
const poll = 2_000;

/**
 * Sends four emails while workers do not poll: each is notified. Each of the two workers may have begun to wait for a last poll,
 * which may find one.
 */
export async function sendsAtOnce(t: Test, sent: unknown[], add: (kind: string) => Promise<void>) {
  let isPolling = false;
  const start = globalThis.setTimeout;
  // Workers of tests that run at the same time poll again afterwards.
  const restore = t.intercept(globalThis, 'setTimeout', {
    value(run: () => void, delay?: number, ...args: []) {
      if (delay !== poll) return start(run, delay, ...args);
      const timer = start(() => (isPolling ? run() : timer.refresh()), delay);
      return timer;
    },
  });
  try {
    for (let mail = 0; mail < 4; mail++) {
      const before = sent.length;
      await add('code');
      await until('the email is sent', () => sent.length > before);
    }
  } finally {
    isPolling = true;
    restore();
  }
}
