import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { reasonOf } from './queue.ts';
import { type RunnerOptions, type StartedRunner, settlesWithin, startRunner } from './worker-runner.ts';

export type { MailPayload } from './queue.ts';
export type { ComposedMail, MailComposers } from './send-mail.ts';

export interface Worker {
  /** Takes no more jobs, lets the running ones finish for some seconds, and frees what is not done by then. */
  stop(): Promise<void>;
}

/** In milliseconds; the runner's limits for its own end add up to a little less. */
const stopLimit = 9_000;
const restartDelay = { shortest: 500, longest: 10_000 };

/**
 * Sends the queued mails and cleans the database up until it is stopped, through any failure of the database: when
 * that is away at the start, the work begins once it is there.
 */
export async function startWorker(options: RunnerOptions): Promise<Worker> {
  const logger = options.logger.child({ part: 'worker' });
  const stopping = new AbortController();
  const first = await tryToStart({ ...options, logger });
  const ended = supervise(first, { ...options, logger }, stopping.signal);
  return {
    async stop() {
      stopping.abort();
      if (!(await settlesWithin(stopLimit, ended))) logger.warn('The worker did not stop in time');
    },
  };
}

/** Runs one runner after the other: one that breaks is left behind as a whole, with its connections. */
async function supervise(
  first: StartedRunner | undefined,
  options: RunnerOptions,
  signal: AbortSignal,
): Promise<void> {
  const stopped = once(signal, 'abort').then(() => undefined);
  let runner = first;
  let delay = restartDelay.shortest;
  while (!signal.aborted) {
    if (runner !== undefined) {
      const startedAt = Date.now();
      const reason = await Promise.race([runner.broken, stopped]);
      if (reason !== undefined) options.logger.warn({ reason }, 'The worker broke and starts again');
      await runner.close();
      if (Date.now() - startedAt > restartDelay.longest) delay = restartDelay.shortest;
    }
    await sleep(delay, undefined, { signal }).catch(() => undefined);
    delay = Math.min(delay * 2, restartDelay.longest);
    runner = signal.aborted ? undefined : await tryToStart(options);
  }
  await runner?.close();
}

async function tryToStart(options: RunnerOptions): Promise<StartedRunner | undefined> {
  try {
    const runner = await startRunner(options);
    options.logger.info('The worker is running');
    return runner;
  } catch (error) {
    options.logger.warn({ reason: reasonOf(error) }, 'The worker could not start and will try again');
    return undefined;
  }
}
