import { EventEmitter, once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import type { LogFunctionFactory, Runner, Task, WorkerEvents } from 'graphile-worker';
import type pg from 'pg';
import type { cleanUp } from '../database/clean-up.ts';
import type { Tx } from '../database/client.ts';
import { openPool } from '../database/connection.ts';
import { reasonOf } from '../database/errors.ts';
import { keepRunning } from '../database/keep-running.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { cleanUpTask, recoverJobs, staleLock } from './jobs.ts';

/** Jobs that have a number of workers for themselves. */
export interface Lane {
  tasks: Record<string, Task>;
  concurrency: number;
  /** Flags of jobs that are not to be taken at the moment. No worker of the lane takes a job before it has them. */
  forbiddenFlags?(pool: pg.Pool, signal: AbortSignal): string[] | null | Promise<null>;
  /** Its payloads have no secret, so that they may be logged when a job fails. */
  logsPayload?: boolean;
  /** Keeps its jobs that have no attempt left, which are deleted otherwise. */
  keepExhausted?(): Promise<void>;
  /** Milliseconds after which a worker looks for jobs that nothing told it of: those that were added for a later time. */
  pollInterval?: number;
  crontab?: string;
}

interface WorkerOptions {
  database: Tx;
  /** Must not go through a transaction pooler, because the worker listens. */
  connectionString: string;
  metrics: Metrics;
  logger: FastifyBaseLogger;
  /** Jobs of domains, by their task, which share their workers with the clean-up. */
  tasks: Record<string, Task>;
  /** When jobs of domains run by themselves: https://worker.graphile.org/docs/cron */
  crontab?: string;
  /** Jobs that wait for the servers of others: apart from those and from each other. */
  lanes: Lane[];
  /** Deletes expired rows. Runs every five minutes on one of the instances, and again at once while it is not complete. */
  cleanUp(): ReturnType<typeof cleanUp>;
  times?: Partial<typeof defaultTimes>;
  /** How many times longer than in production the database may take. */
  limitFactor?: number | undefined;
}

/** In milliseconds: until the worker of a locked job counts as dead, between two runs of `recoverJobs`. */
const defaultTimes = { staleLock, recovery: 5_000 };
/** With jitter, half of it at least: each restart is a line of the log. */
const restartDelay = { min: 2_000, max: 10_000 };
const stopLimit = 9_000;
/** Milliseconds in which the database gives a connection, and in which a statement ends. */
const databaseLimit = 5_000;

export type Worker = ReturnType<typeof startWorker>;

/** Runs jobs and the clean-up. It starts in the background and survives outages of the database, also at the start. */
export function startWorker(options: WorkerOptions) {
  const { database, connectionString, metrics, limitFactor = 1 } = options;
  const logger = options.logger.child({ part: 'worker' });
  const times = { ...defaultTimes, ...options.times };
  const stopping = new AbortController();
  const { signal } = stopping;
  // The clean-up is last: its schedule fails at once where the database takes no writes, while the other lanes would still start.
  const lanes = [...options.lanes, backgroundLane({ ...options, logger })];
  const runs = metrics.addCounter('queue_job_runs_total', 'Runs of jobs, by task and outcome', {
    task: lanes.flatMap(({ tasks }) => Object.keys(tasks)),
    outcome: ['completed', 'retried', 'failed'],
  });
  const stopped = keepRunning(runUntilStopped, {
    delay: restartDelay,
    signal,
    onEnd: (error) => {
      const reason = error === undefined ? 'the runner ended' : reasonOf(error);
      logger.warn({ reason }, 'worker failed, restarting');
    },
  });
  const recovery = setInterval(
    () => void recoverJobs({ database, lanes, logger, lockAge: times.staleLock }),
    times.recovery,
  );

  /** @throws Error when the database cannot be reached */
  async function runUntilStopped(): Promise<void> {
    const limit = databaseLimit * limitFactor;
    const pool = openPool({
      connectionString,
      application_name: 'dure-worker',
      connectionTimeoutMillis: limit,
      query_timeout: limit,
      statement_timeout: limit,
      keepAliveInitialDelayMillis: 10_000,
      // One of each lane for LISTEN, and three that all workers share, because they need one for moments only.
      max: lanes.length + 3,
    });
    pool.on('connect', releaseOnce);
    const runners: Runner[] = [];
    let cause: unknown;
    const stop = () => {
      for (const runner of runners) runner.stop().catch(() => undefined);
    };
    try {
      for (const lane of lanes) {
        const runner = await startRunner(pool, lane);
        runners.push(runner);
        // It may fail before it is waited for.
        runner.promise.catch(() => undefined);
        // A runner whose first query failed never recovers, and it reuses connections that stopped responding.
        runner.events.on('worker:getJob:error', ({ error }) => {
          cause ??= error;
          stop();
        });
      }
      logger.info('worker started');
      if (signal.aborted) stop();
      signal.addEventListener('abort', stop);
      await Promise.all(runners.map(({ promise }) => promise.finally(stop)));
      // The same for all workers.
      if (cause !== undefined) throw cause;
    } finally {
      signal.removeEventListener('abort', stop);
      stop();
      // Not awaited: a connection that stopped responding must not delay the restart.
      void pool.end();
    }
  }

  async function startRunner(
    pgPool: pg.Pool,
    { tasks, forbiddenFlags, logsPayload, keepExhausted: _, ...lane }: Lane,
  ): Promise<Runner> {
    // Loaded in the background, so that the start does not wait for it.
    const { Logger, run } = await import('graphile-worker');
    const events: WorkerEvents = new EventEmitter();
    // When such an error ends a worker, graphile-worker writes it to the console. The runner ends the others, too, and it is logged once.
    events.on('worker:create', ({ worker }) => (worker.promise = worker.promise.catch(() => undefined)));
    events.on('job:success', ({ job }) => runs.inc({ task: job.task_identifier, outcome: 'completed' }));
    events.on('job:error', ({ job, error }) => {
      const { id, task_identifier: task, attempts, max_attempts: maxAttempts } = job;
      const payload = logsPayload ? job.payload : undefined;
      runs.inc({ task, outcome: attempts < maxAttempts ? 'retried' : 'failed' });
      logger.warn({ job: id, task, payload, attempts, maxAttempts, reason: reasonOf(error) }, 'job failed');
    });
    const runner = await run({
      // Else it would look for a file.
      ...(lane.crontab === undefined && { parsedCronItems: [] }),
      ...lane,
      ...(forbiddenFlags && { forbiddenFlags: () => forbiddenFlags(pgPool, signal) }),
      pgPool,
      events,
      noHandleSignals: true,
      logger: new Logger(bridgeTo(logger)),
      taskList: tasks,
      // In batches, an outcome that cannot be written ends the runner; otherwise it is an unhandled rejection.
      preset: { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
    });
    return { ...runner, promise: ended(runner) };
  }

  return {
    /** Takes no more jobs, lets running ones finish for 5 seconds and releases the rest. Takes 9 seconds at most. */
    async stop(): Promise<void> {
      clearInterval(recovery);
      stopping.abort();
      await Promise.race([stopped, sleep(stopLimit, undefined, { ref: false })]);
    },
  };
}

/**
 * Waits until a runner ended, or had the time to: graphile-worker may count wrongly how many outcomes are left to write, and then
 * never ends by itself (https://github.com/graphile/worker/issues/636).
 */
async function ended({ promise, events }: Runner): Promise<void> {
  const stopped = once(events, 'pool:gracefulShutdown');
  await Promise.race([promise, stopped.then(() => sleep(stopLimit, undefined, { ref: false }))]);
}

/** graphile-worker releases a connection twice that breaks while the runner stops; pg throws then, which would end the process. */
function releaseOnce(client: pg.PoolClient): void {
  let release: pg.PoolClient['release'] = () => undefined;
  // The pool sets another function each time it lends the connection.
  Object.defineProperty(client, 'release', {
    get: () => release,
    set(giveBack: pg.PoolClient['release']) {
      let isReleased = false;
      release = (error) => {
        if (isReleased) return;
        isReleased = true;
        giveBack(error);
      };
    },
  });
}

/** The clean-up, and the jobs of domains. */
function backgroundLane({ cleanUp, logger, tasks, crontab = '' }: WorkerOptions): Lane {
  return {
    concurrency: 2,
    tasks: {
      [cleanUpTask]: async (_payload, { addJob }) => {
        const { deleted, isComplete } = await cleanUp();
        logger.debug({ deleted }, 'expired rows deleted');
        // Behind the jobs that wait.
        if (!isComplete) await addJob(cleanUpTask, {}, { jobKey: cleanUpTask });
      },
      ...tasks,
    },
    // The job key replaces a run that is still waiting.
    crontab: `*/5 * * * * ${cleanUpTask} ?jobKey=${cleanUpTask}\n${crontab}`,
  };
}

/** Failed jobs are logged on `job:error`. graphile-worker's metadata contains whole jobs and is dropped. */
function bridgeTo(logger: FastifyBaseLogger): LogFunctionFactory {
  return () => (level, message, meta) => {
    // The workers share their connections on purpose.
    const isIntended = meta?.['failure'] === true || message.includes('maxPoolSize');
    const isProblem = (level === 'error' || level === 'warning') && !isIntended;
    logger[isProblem ? 'warn' : 'debug'](`graphile-worker: ${message.split('\n', 1)[0]}`);
  };
}
