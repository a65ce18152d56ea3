import type { FastifyBaseLogger } from 'fastify';

/** A stream that lives as long as its session does. */
interface SessionStream {
  sessionId: string;
  end(reason: string): void;
}

interface SessionWatchOptions {
  /** Which of some sessions have not ended. */
  findLiveSessions(sessionIds: string[]): Promise<Set<string>>;
  openStreams(): SessionStream[];
  logger: FastifyBaseLogger;
}

/** In milliseconds. A stream has to end within 5 s of its session; nobody can be asked for longer than `patience` is as an end. */
const times = { interval: 3_000, patience: 60_000 };

/**
 * Ends the streams of sessions that ended, on whatever instance. All are asked for with one query.
 *
 * @returns stops the watch
 */
export function watchSessions({ findLiveSessions, openStreams, logger }: SessionWatchOptions): () => void {
  let confirmedAt = Date.now();
  let isAsking = false;

  async function check(): Promise<void> {
    const streams = openStreams();
    if (isAsking) return;
    isAsking = true;
    try {
      const live =
        streams.length > 0
          ? await findLiveSessions([...new Set(streams.map(({ sessionId }) => sessionId))])
          : new Set();
      confirmedAt = Date.now();
      for (const stream of streams) if (!live.has(stream.sessionId)) stream.end('its session ended');
    } catch (error) {
      logger.warn({ err: error }, 'the sessions of open streams are not known');
      if (Date.now() - confirmedAt > times.patience) {
        for (const stream of streams) stream.end('its session is not known');
      }
    } finally {
      isAsking = false;
    }
  }

  const timer = setInterval(() => void check(), times.interval).unref();
  return () => clearInterval(timer);
}
