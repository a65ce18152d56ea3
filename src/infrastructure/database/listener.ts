import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import pg from 'pg';
import { endIfReadOnly } from './connection.ts';
import { keepRunning } from './keep-running.ts';

/** What is listened to. */
export interface Subscription {
  channel: string;
  /** Gets the payload of every notification on the channel. */
  onNotification(payload: string): void;
  /** Called after every connect, the first included. Notifications sent before are lost, so read the tables then. */
  onConnect(): void;
}

interface ListenerOptions extends Subscription {
  /** Needs a session of its own: `LISTEN` does not work through a transaction pooler. */
  connectionString: string;
  logger: FastifyBaseLogger;
  times?: Partial<typeof defaultTimes>;
}

/** In milliseconds. A connection that died silently is detected after `check` and `response` together. */
const defaultTimes = { connect: 5_000, check: 10_000, response: 5_000, end: 1_000 };

const reconnectDelay = { min: 100, max: 5_000 };

/** Receives what any instance sends with `NOTIFY` on a channel, on one connection that is replaced when it is lost. */
export function startListener(options: ListenerOptions) {
  const { channel, onNotification, onConnect, connectionString, logger } = options;
  const { connect, check, response, end } = { ...defaultTimes, ...options.times };
  const closing = new AbortController();
  const { signal } = closing;
  let cancel = () => {};

  /** @throws when the connection is lost or cannot be made */
  async function listenOnce(): Promise<void> {
    const client = new pg.Client({
      connectionString,
      application_name: 'dure-listener',
      connectionTimeoutMillis: connect,
      query_timeout: response,
    });
    const lost = new Promise<never>((_resolve, reject) => {
      client.on('error', reject);
      client.on('end', () => reject(new Error('the connection ended')));
      cancel = () => reject(signal.reason);
    });
    client.on('notification', ({ payload = '' }) => run(() => onNotification(payload)));
    try {
      await Promise.race([lost, listenOn(client)]);
    } finally {
      await Promise.race([client.end(), sleep(end, undefined, { ref: false })]);
    }
  }

  async function listenOn(client: pg.Client): Promise<never> {
    await client.connect();
    await client.query(endIfReadOnly);
    await client.query(`LISTEN ${client.escapeIdentifier(channel)}`);
    logger.info('listening to the database');
    run(onConnect);
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

  const running = keepRunning(listenOnce, {
    delay: reconnectDelay,
    signal,
    onEnd: (error) => logger.warn({ err: error }, 'listening to the database failed, will retry'),
  });
  return {
    async close(): Promise<void> {
      closing.abort();
      cancel();
      await running;
    },
  };
}

/** Listens to the database while the app listens to clients. @param connectionString see {@link ListenerOptions} */
export function listenWithApp(
  app: FastifyInstance,
  connectionString: string,
  subscription: Subscription,
): void {
  let listener: ReturnType<typeof startListener> | undefined;
  app.addHook('onListen', async () => {
    listener = startListener({ ...subscription, connectionString, logger: app.log });
  });
  app.addHook('onClose', async () => listener?.close());
}
