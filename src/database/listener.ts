import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import pg from 'pg';

/** Hears what is told with `NOTIFY` in the database, on any instance. */
export interface Listener {
  /** Calls a handler with the payload of everything told on a channel. Subscribe before the start. */
  subscribe(channel: string, handler: (payload: string) => void): void;
  /**
   * Calls a handler whenever the listener hears again, the first time included. What was told before is lost, so this is when
   * to look at the database itself.
   */
  onReconnect(handler: () => void): void;
  /** Begins to listen, now or as soon as the database is there. */
  start(): void;
  close(): Promise<void>;
}

interface ListenerOptions {
  /** Must lead to a session of its own: `LISTEN` does not work through a pooler in transaction mode. */
  connectionString: string;
  logger: FastifyBaseLogger;
  times?: Partial<typeof defaultTimes>;
}

/** In milliseconds. A connection that died silently is noticed after `check` and `answer` together. */
const defaultTimes = {
  connect: 5_000,
  check: 10_000,
  answer: 5_000,
  end: 1_000,
  shortest: 100,
  longest: 5_000,
};

/** One connection of an instance on which it listens; a lost one is replaced until the listener is closed. */
export function createListener({ connectionString, logger, times }: ListenerOptions): Listener {
  const { connect, check, answer, end, shortest, longest } = { ...defaultTimes, ...times };
  const handlers = new Map<string, ((payload: string) => void)[]>();
  const reconnectHandlers: (() => void)[] = [];
  const closing = new AbortController();
  const { signal } = closing;
  let running: Promise<void> | undefined;
  let abandon = () => {};

  async function listenUntilClosed(): Promise<void> {
    let delay = shortest;
    while (!signal.aborted) {
      const startedAt = Date.now();
      await listen().catch((error: unknown) => {
        if (!signal.aborted) logger.warn({ err: error }, 'the database is not listened to; trying again');
      });
      if (Date.now() - startedAt > longest) delay = shortest;
      // Not all instances at once.
      await sleep(delay * (0.5 + Math.random() / 2), undefined, { signal, ref: false }).catch(
        () => undefined,
      );
      delay = Math.min(delay * 2, longest);
    }
  }

  /** Listens on one connection. @throws when it is lost, or there is none */
  async function listen(): Promise<void> {
    const client = new pg.Client({
      connectionString,
      application_name: 'dure-listener',
      connectionTimeoutMillis: connect,
      query_timeout: answer,
      keepAlive: true,
      keepAliveInitialDelayMillis: check,
    });
    const lost = new Promise<never>((_resolve, reject) => {
      client.on('error', reject);
      client.on('end', () => reject(new Error('the connection ended')));
      abandon = () => reject(signal.reason);
    });
    client.on('notification', ({ channel, payload = '' }) => {
      for (const handler of handlers.get(channel) ?? []) run(() => handler(payload));
    });
    try {
      await Promise.race([lost, hear(client)]);
    } finally {
      await Promise.race([client.end(), sleep(end, undefined, { ref: false })]);
    }
  }

  async function hear(client: pg.Client): Promise<never> {
    await client.connect();
    for (const channel of handlers.keys()) await client.query(`LISTEN ${client.escapeIdentifier(channel)}`);
    logger.info('listening to the database');
    reconnectHandlers.forEach(run);
    // A connection can die without a word.
    for (;;) {
      await sleep(check, undefined, { signal, ref: false });
      await client.query('SELECT 1');
    }
  }

  function run(handler: () => void): void {
    try {
      handler();
    } catch (error) {
      logger.error({ err: error }, 'a notification was not handled');
    }
  }

  return {
    subscribe(channel, handler) {
      if (running !== undefined) throw new Error('subscribe before the listener starts');
      handlers.set(channel, [...(handlers.get(channel) ?? []), handler]);
    },
    onReconnect: (handler) => void reconnectHandlers.push(handler),
    start() {
      running ??= listenUntilClosed();
    },
    async close() {
      closing.abort();
      abandon();
      await running;
    },
  };
}
