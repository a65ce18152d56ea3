import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { pino } from 'pino';
import t from 'tap';
import { createStreamHub, type HubOptions } from '../../src/domains/notifications/stream/hub.ts';
import { ApiError } from '../../src/http/errors.ts';
import { until } from '../support/until.ts';

t.test(
  'streams that are opened at once share a few connections, and too many of them are rejected',
  async (t) => {
    let reading = 0;
    let answer = () => {};
    const gate = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const logger = pino({ enabled: false });
    const notifications: HubOptions['notifications'] = {
      async find() {
        reading++;
        await gate;
        reading--;
        return { rows: [], unreadCount: 0 };
      },
      listAfter: async () => [],
      countUnread: async () => 0,
    };
    const hub = createStreamHub({
      notifications,
      listener: {
        subscribe: () => undefined,
        onReconnect: () => undefined,
        start: () => undefined,
        close: async () => undefined,
      },
      findLiveSessions: async (ids) => new Set(ids),
      maxConcurrentReads: 3,
      logger,
    });
    const open = async (userId: number) => {
      const response = new ServerResponse(new IncomingMessage(new Socket()));
      return hub.open({ userId, sessionId: '', language: 'ko', lastEventId: undefined, response, logger });
    };

    // As after a restart: three read, 300 wait for them.
    const opening = Array.from({ length: 303 }, (_, index) => open(index));
    await until('the first ones read', () => reading > 0);
    t.equal(reading, 3);
    const refused = await open(400).then(
      () => undefined,
      (error: unknown) => error,
    );
    if (!(refused instanceof ApiError)) throw new Error('the stream was not refused');
    t.equal(refused.definition.status, 503);
    t.match(refused.headers['retry-after'], /^([3-9]|1[0-5])$/, 'another time for each client');

    answer();
    t.equal((await Promise.all(opening)).length, 303);
    await t.resolves(open(400));
  },
);
