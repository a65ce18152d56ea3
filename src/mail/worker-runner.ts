import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import { Logger, parseCronItems, run, type Task, type WorkerEvents } from 'graphile-worker';
import pg from 'pg';
import { cleanUp } from '../database/clean-up.ts';
import type { Database } from '../database/client.ts';
import { keepExhaustedMails, reasonOf, sendMailTask } from './queue.ts';
import { createSendMail, type SendMailOptions } from './send-mail.ts';
import { openWorkerLocks, type WorkerLocks } from './worker-locks.ts';

/** What one runner of jobs works with. */
export interface RunnerOptions extends SendMailOptions {
  /** Must lead to a session of its own, for LISTEN and session locks: not through a pooler in transaction mode. */
  connectionString: string;
  database: Database;
}

/** graphile-worker at work, with connections of its own. */
export interface StartedRunner {
  /** Resolves with the reason when it cannot go on. */
  broken: Promise<string>;
  /** Ends it within some seconds, whatever the jobs and the database do. */
  close(): Promise<void>;
}

declare global {
  namespace GraphileConfig {
    interface Plugins {
      'dure-worker-locks': true;
    }
  }
}

/** In milliseconds. */
const limits = { connect: 5_000, query: 5_000, finish: 5_000, free: 2_000, disconnect: 1_000 };
const checkInterval = 10_000;
/** A runner that cannot ask for jobs so often in a row sits on a connection that is dead without saying so. */
const mostFailures = 4;
const concurrency = 2;

/** @throws Error when the database is away; nothing is left open then */
export async function startRunner(options: RunnerOptions): Promise<StartedRunner> {
  const connection = {
    connectionString: options.connectionString,
    application_name: 'dure-worker',
    connectionTimeoutMillis: limits.connect,
    query_timeout: limits.query,
    statement_timeout: limits.query,
    keepAlive: true,
  };
  const locks = await openWorkerLocks(connection);
  // One of the connections listens.
  const pool = new pg.Pool({ ...connection, max: concurrency + 1 });
  // Whoever uses a connection that breaks gets the error anyway; without listeners it would end the process.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  const disconnect = () => settlesWithin(limits.disconnect, Promise.all([pool.end(), locks.release()]));
  try {
    const running = await runJobs(pool, locks, options);
    return { broken: running.broken, close: () => running.stop().finally(disconnect) };
  } catch (error) {
    await disconnect();
    throw error;
  }
}

async function runJobs(pgPool: pg.Pool, locks: WorkerLocks, options: RunnerOptions) {
  const events: WorkerEvents = new EventEmitter();
  const deaf = cannotAskForJobs(events);
  let free = (_reason: string): unknown => undefined;
  events.on('pool:create', ({ workerPool }) => {
    free = (reason) => workerPool.forcefulShutdown(reason);
  });
  const stopping = new AbortController();
  const runner = await run({
    pgPool,
    events,
    concurrency,
    noHandleSignals: true,
    logger: bridgeLogger(options.logger, stopping.signal),
    taskList: { [sendMailTask]: createSendMail(options), clean_up: createCleanUp(options) },
    // The key keeps one job at most, however long nobody was there to do it.
    parsedCronItems: parseCronItems([
      { task: 'clean_up', match: '*/5 * * * *', options: { jobKey: 'clean_up' } },
    ]),
    preset: {
      plugins: [
        {
          name: 'dure-worker-locks',
          // Waited for before the first job is taken.
          worker: { hooks: { startWorker: (_context, { worker }) => locks.hold(worker.workerPool.id) } },
        },
      ],
      // Unless batched, a job whose end cannot be written is a rejection that nobody handles, and ends the process.
      worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 },
    },
  });
  const ended = runner.promise.then(() => 'graphile-worker ended', reasonOf);
  void checkRegularly(locks, options, stopping.signal);

  return {
    broken: Promise.race([locks.lost, ended, deaf]),
    async stop() {
      stopping.abort();
      const finished = Promise.allSettled([runner.stop(), ended]);
      if (await settlesWithin(limits.finish, finished)) return;
      await settlesWithin(limits.free, Promise.resolve(free('the worker was stopped')));
    },
  };
}

/** Resolves with the reason. */
function cannotAskForJobs(events: WorkerEvents): Promise<string> {
  return new Promise((resolve) => {
    let failures = 0;
    events.on('worker:getJob:error', ({ error }) => {
      failures += 1;
      if (failures >= mostFailures) resolve(reasonOf(error));
    });
    const succeed = () => {
      failures = 0;
    };
    events.on('worker:getJob:empty', succeed).on('job:start', succeed);
  });
}

/** Looks at once and then every few seconds for jobs that no runner takes up by itself. */
async function checkRegularly(
  locks: WorkerLocks,
  { database, logger }: RunnerOptions,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const pools = await locks.freeAbandonedJobs();
      if (pools > 0) logger.warn({ pools }, 'Took over the jobs of workers that are gone');
      for (const mail of await keepExhaustedMails(database)) {
        logger.error(mail, 'A mail was given up after its last try');
      }
    } catch (error) {
      if (!signal.aborted) logger.warn({ reason: reasonOf(error) }, 'The check of the queue failed');
    }
    await sleep(checkInterval, undefined, { signal }).catch(() => undefined);
  }
}

function createCleanUp({ database, logger }: RunnerOptions): Task {
  return async () => {
    try {
      logger.debug({ deleted: await cleanUp(database) }, 'Deleted what has expired');
    } catch (error) {
      logger.warn({ reason: reasonOf(error) }, 'The clean-up failed, the next one goes on');
    }
  };
}

/**
 * graphile-worker's errors are warnings here, because the worker gets over them, and nothing to tell once it is being
 * stopped. Its data hold whole jobs, and stay out.
 */
function bridgeLogger(logger: FastifyBaseLogger, stopping: AbortSignal): Logger {
  return new Logger(() => (level, message, meta) => {
    const line = `graphile-worker: ${message.split('\n', 1)[0]}`;
    const bad = level === 'error' || level === 'warning';
    // Of a failed job its task tells.
    if (bad && meta?.failure !== true && !stopping.aborted) logger.warn(line);
    else logger.debug(line);
  });
}

/** @returns whether the work came to its end, in success or failure, before the limit in milliseconds */
export async function settlesWithin(limit: number, work: Promise<unknown>): Promise<boolean> {
  const timer = new AbortController();
  const settled = work.then(
    () => true,
    () => true,
  );
  try {
    return await Promise.race([settled, sleep(limit, false, { signal: timer.signal })]);
  } finally {
    timer.abort();
  }
}
