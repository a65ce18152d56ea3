import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import pg from 'pg';
import { endIfReadOnly } from './client.ts';
import { keepRunning } from './keep-running.ts';

export type Listener = ReturnType<typeof createListener>;

interface ListenerOptions {
  /** Needs a session of its own: `LISTEN` does not work through a transaction pooler. */
  connectionString: string;
  logger: FastifyBaseLogger;
  times?: Partial<typeof defaultTimes>;
}

/** In milliseconds. A connection that died silently is detected after `check` and `response` together. */
const defaultTimes = { connect: 5_000, check: 10_000, response: 5_000, end: 1_000 };

const reconnectDelay = { min: 100, max: 5_000 };

/** Receives what any instance sends with `NOTIFY`, on one connection that is replaced when it is lost. */
export function createListener({ connectionString, logger, times }: ListenerOptions) {
  const { connect, check, response, end } = { ...defaultTimes, ...times };
  const handlers = new Map<string, ((payload: string) => void)[]>();
  const reconnectHandlers: (() => void)[] = [];
  const closing = new AbortController();
  const { signal } = closing;
  let running: Promise<void> | undefined;
  let cancel = () => {};

  /** @throws when the connection is lost or cannot be made */
  async function listenOnce(): Promise<void> {
    const client = new pg.Client({
      connectionString,
      application_name: 'dure-listener',
      connectionTimeoutMillis: connect,
      query_timeout: response,
      keepAlive: true,
      keepAliveInitialDelayMillis: check,
    });
    const lost = new Promise<never>((_resolve, reject) => {
      client.on('error', reject);
      client.on('end', () => reject(new Error('the connection ended')));
      cancel = () => reject(signal.reason);
    });
    client.on('notification', ({ channel, payload = '' }) => {
      for (const handler of handlers.get(channel) ?? []) run(() => handler(payload));
    });
    try {
      await Promise.race([lost, listenOn(client)]);
    } finally {
      await Promise.race([client.end(), sleep(end, undefined, { ref: false })]);
    }
  }

  async function listenOn(client: pg.Client): Promise<never> {
    await client.connect();
    await client.query(endIfReadOnly);
    for (const channel of handlers.keys()) await client.query(`LISTEN ${client.escapeIdentifier(channel)}`);
    logger.info('listening to the database');
    reconnectHandlers.forEach(run);
    // A connection can die without an error, so it is checked.
    for (;;) {
      await sleep(check, undefined, { signal, ref: false });
      await client.query(endIfReadOnly);
    }
  }

  function run(handler: () => void): void {
    try {
      handler();
    } catch (error) {
      logger.error({ err: error }, 'handling a database notification failed');
    }
  }

  return {
    /** Calls a handler with the payload of every notification on a channel. Subscribe before the start. */
    subscribe(channel: string, handler: (payload: string) => void): void {
      if (running !== undefined) throw new Error('subscribe before the listener starts');
      handlers.set(channel, [...(handlers.get(channel) ?? []), handler]);
    },
    /** Calls a handler after every connect, the first included. Notifications sent before are lost, so read the tables then. */
    onReconnect(handler: () => void): void {
      reconnectHandlers.push(handler);
    },
    /** Connects, and reconnects until the listener is closed. */
    start(): void {
      running ??= keepRunning(listenOnce, {
        delay: reconnectDelay,
        signal,
        onEnd: (error) => logger.warn({ err: error }, 'listening to the database failed, will retry'),
      });
    },
    async close(): Promise<void> {
      closing.abort();
      cancel();
      await running;
    },
  };
}
