import type { FastifyBaseLogger } from 'fastify';

interface SessionWatchOptions {
  /** Which of some sessions are live. */
  findLiveSessions(sessionIds: string[]): Promise<Set<string>>;
  openStreams(): { sessionId: string; end(reason: string): void }[];
  logger: FastifyBaseLogger;
}

/** In milliseconds. A stream has to end within 5 s of its session. */
const checkInterval = 3_000;
/** Fail closed: streams end after so many milliseconds without a successful check. */
const maxUnchecked = 60_000;

/**
 * Ends the streams of sessions that have ended on any instance. One query checks all of them.
 *
 * @returns stops the watch
 */
export function watchSessions({ findLiveSessions, openStreams, logger }: SessionWatchOptions): () => void {
  let checkedAt = Date.now();
  let isChecking = false;

  async function check(): Promise<void> {
    const streams = openStreams();
    if (isChecking) return;
    isChecking = true;
    try {
      const sessionIds = [...new Set(streams.map(({ sessionId }) => sessionId))];
      const live = sessionIds.length > 0 ? await findLiveSessions(sessionIds) : new Set();
      checkedAt = Date.now();
      for (const stream of streams) if (!live.has(stream.sessionId)) stream.end('session ended');
    } catch (error) {
      logger.warn({ err: error }, 'sessions of open streams could not be checked');
      if (Date.now() - checkedAt > maxUnchecked) {
        for (const stream of streams) stream.end('session could not be checked');
      }
    } finally {
      isChecking = false;
    }
  }

  const timer = setInterval(() => void check(), checkInterval).unref();
  return () => clearInterval(timer);
}
