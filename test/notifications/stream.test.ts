import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import t from 'tap';
import { createImageUrls } from '../../src/domains/images/index.ts';
import { createStreamHub, type HubOptions } from '../../src/domains/notifications/stream/stream.ts';
import { savedSearchesIn } from '../saved-searches/searching.ts';
import { createTestApp, createUser } from '../support/app.ts';
import { invalid } from '../support/assertions.ts';
import { gate, inParallel } from '../support/concurrency.ts';
import { createTestDatabase } from '../support/database.ts';
import { notificationsOf } from '../support/partner-requests.ts';
import { createPost, openShop } from '../support/stores.ts';
import { atMost } from '../support/time.ts';
import { holdTimers } from '../support/timers.ts';
import { until } from '../support/until.ts';
import { notificationsIn } from './notified.ts';
import {
  createListeningApp,
  createNotifier,
  createPair,
  openStream,
  requestStream,
  storedIds,
  streamPath,
} from './streams.ts';

const { url: databaseUrl } = await createTestApp();
const withoutWorker = { WORKER_ENABLED: 'false' };
const here = await createListeningApp(withoutWorker, { databaseUrl });
const there = await createListeningApp(withoutWorker, { databaseUrl });

/** Milliseconds between two looks of an instance for what nothing told it of. */
const poll = 2_500;

t.test('a notification reaches a client of another instance at once, not at the next look', async (t) => {
  holdTimers(t, poll);
  // Other instances on the database of the file look by timers that are not held.
  const databaseUrl = await createTestDatabase();
  const here = await createListeningApp(withoutWorker, { databaseUrl });
  const there = await createListeningApp(withoutWorker, { databaseUrl });
  const { receiver, notify } = await createPair(here);
  const stream = await openStream(t, there, receiver.token);
  await stream.until(() => stream.events.length === 1);
  t.match(stream.events[0], { event: 'unread_count', data: { unread_count: 0 } });
  await notify();
  await stream.until(() => stream.events.length === 3);
  const [, notification, count] = stream.events;
  const { items } = await notificationsOf(here, receiver);
  t.match(notification, { event: 'notification', id: String(items[0].id) });
  t.strictSame(notification?.data, items[0], 'exactly as it is listed');
  t.match(count, { event: 'unread_count', id: undefined, data: { unread_count: 1 } });
});

t.test('a match of a saved search is streamed as it is listed', async (t) => {
  const { receiver, notify } = await createPair(here);
  await savedSearchesIn(here).search(receiver, { q: '같이 여는 장터' });
  const stream = await openStream(t, there, receiver.token);
  await stream.until(() => stream.events.length === 1);
  await createPost(here, (await openShop(here)).token, { title: '같이 여는 장터' });
  await stream.until(() => stream.ids().length === 1);
  await notify();
  await stream.until(() => stream.ids().length === 2);
  const { items } = await notificationsOf(here, receiver);
  const streamed = stream.events.filter(({ event }) => event === 'notification').map(({ data }) => data);
  t.strictSame(streamed, items.toReversed());
  t.match(streamed, [{ kind: 'saved_search_match' }, { kind: 'partner_request_received' }]);
});

t.test('a stream has its own and the common headers, and the language of the request', async (t) => {
  const { receiver, notify } = await createPair(here);
  const own = { 'x-request-id': 'mine', origin: 'https://app.example.com', 'accept-language': 'en-GB' };
  const stream = await openStream(t, here, receiver.token, own);
  const common = {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'private, no-cache',
    'x-accel-buffering': 'no',
    'content-language': 'en',
    'x-request-id': 'mine',
    'x-content-type-options': 'nosniff',
    'content-security-policy': /frame-ancestors 'none'/,
    'access-control-allow-origin': 'https://app.example.com',
    vary: /Accept-Language.*Origin/,
  };
  t.match(Object.fromEntries(stream.headers), common);
  const head = await here.call('HEAD', streamPath, { token: receiver.token });
  t.match(head, { status: 200, text: '', headers: { 'content-type': common['content-type'] } });
  await notify();
  await stream.until(() => stream.ids().length === 1);
  t.match(stream.events[1]?.data.message, / would like to partner with you on your post /);
});

t.test('marking as read on one instance updates the count on the other', async (t) => {
  const { receiver, notify } = await createPair(here);
  await notify(2);
  const stream = await openStream(t, there, receiver.token);
  await stream.until(() => stream.events.length === 1);
  const ids = (await storedIds(here, receiver.id)).slice(0, 1);
  await notificationsIn(here).markRead(receiver, { ids });
  await stream.until(() => stream.events.length === 2);
  t.match(stream.events, [
    { event: 'unread_count', data: { unread_count: 2 } },
    { event: 'unread_count', data: { unread_count: 1 } },
  ]);
});

t.test('a client resumes with all missed notifications, however many, once and in order', async (t) => {
  const { receiver, notify } = await createPair(here);
  const before = await openStream(t, here, receiver.token);
  await notify(2);
  await before.until(() => before.ids().length === 2);
  before.drop();
  await here.pool.query(
    `INSERT INTO notifications (user_id, kind, partner_request_id)
     SELECT user_id, kind, partner_request_id FROM notifications, generate_series(1, 350) WHERE user_id = $1`,
    [receiver.id],
  );
  const lastId = String(before.ids().at(-1));
  const after = await openStream(t, there, receiver.token, { 'last-event-id': lastId });
  await after.until(() => after.ids().length >= 700);
  await notify(2);
  await after.until(() => after.ids().length >= 702 && after.events.at(-1)?.data.unread_count === 4);
  t.strictSame([...before.ids(), ...after.ids()], await storedIds(here, receiver.id));
  t.match(after.events[0], { event: 'unread_count', id: lastId }, 'a break right now would lose nothing');
});

t.test('nothing is lost or repeated while clients connect and several users notify them', async (t) => {
  const { receiver, postId, notify } = await createPair(here);
  await notify(1);
  const [first = 0] = await storedIds(here, receiver.id);
  const notifiers = [notify, ...(await Promise.all([1, 2, 3, 4].map(() => createNotifier(here, postId))))];
  const burst = Promise.all(notifiers.map((one) => one(6, there)));
  const streams = [];
  for (let opened = 0; opened < 6; opened++) {
    const instance = opened % 2 === 0 ? here : there;
    streams.push(await openStream(t, instance, receiver.token, { 'last-event-id': String(first) }));
  }
  await burst;
  const expected = (await storedIds(here, receiver.id)).slice(1);
  t.equal(expected.length, 30);
  for (const stream of streams) {
    await stream.until(() => stream.ids().length >= 30 && stream.events.at(-1)?.data.unread_count === 31);
    t.strictSame(stream.ids(), expected);
    stream.drop();
  }
});

t.test('without a Last-Event-ID, or beyond the newest, a stream starts with the next one', async (t) => {
  const { receiver, notify } = await createPair(here);
  await notify(3);
  for (const headers of [{}, { 'last-event-id': '' }, { 'last-event-id': '99999999999999999999' }]) {
    const stream = await openStream(t, here, receiver.token, headers);
    await notify();
    await stream.until(() => stream.ids().length === 1);
    const [newest, next = 0] = (await storedIds(here, receiver.id)).slice(-2);
    t.equal(stream.events[0]?.id, String(newest), 'a client resumes there, also before its first one');
    t.strictSame(stream.ids(), [next]);
    stream.drop();
  }
});

t.test('a stream sends heartbeats', async (t) => {
  const { receiver } = await createPair(here);
  const timeLimit = atMost(400);
  const options = { databaseUrl, streamTimes: { heartbeat: 100 }, timeLimit };
  const instance = await createListeningApp(withoutWorker, options);
  t.teardown(instance.close);
  const stream = await openStream(t, instance, receiver.token);
  await stream.until(() => stream.comments.length * 100 > timeLimit);
  t.equal(stream.comments[0], 'heartbeat', 'longer than a request may take');
  t.equal(stream.events.length, 1, 'which is no event');
});

t.test('a Last-Event-ID that is no number is rejected', async (t) => {
  const { token } = await createUser(here);
  const headers = { 'last-event-id': 'the last one' };
  invalid(t, await here.call('GET', streamPath, { token, headers }), 'last-event-id');
});

t.test('a metric counts the open streams', async (t) => {
  const { receiver } = await createPair(here);
  const open = async () =>
    /^notification_streams (\d+)$/m.exec((await here.call('GET', '/metrics')).text)?.[1];
  const becomes = (count: string) => until(`${count} open streams`, async () => (await open()) === count);
  const streams = [await openStream(t, here, receiver.token), await openStream(t, here, receiver.token)];
  await becomes('2');
  for (const stream of streams) stream.drop();
  await becomes('0');
  await inParallel(30, async (index) => {
    const connection = requestStream(here, receiver.token);
    await sleep(index);
    connection.destroy();
  });
  // Streams are opened in the order in which they were requested.
  const last = await openStream(t, here, receiver.token);
  await last.until(() => last.events.length === 1);
  last.drop();
  await becomes('0');
});

t.test('streams that are opened at once share a few connections, and too many are rejected', async (t) => {
  let reading = 0;
  const { open: respond, opened } = gate();
  let wake: (payload: string) => void = () => undefined;
  const logger = pino({ enabled: false });
  const read = async <Result>(result: Result) => {
    reading++;
    await opened;
    reading--;
    return result;
  };
  let find: HubOptions['notifications']['find'] = async () => ({ place: 1, rows: [], unreadCount: 0 });
  const hub = createStreamHub({
    notifications: { find: (filter) => find(filter), listAfter: () => read([]), countUnread: async () => 0 },
    imageUrls: createImageUrls(here.config),
    listen: ({ onNotification }) => {
      wake = onNotification;
    },
    findLiveSessions: async (ids) => new Set(ids),
    maxConcurrentReads: 3,
    logger,
  });
  const open = async (userId: number) => {
    const response = new ServerResponse(new IncomingMessage(new Socket()));
    return hub.open({ userId, sessionId: '', language: 'ko', lastEventId: undefined, response, logger });
  };

  // Open streams that read count as no new ones.
  for (let userId = 1_000; userId < 1_400; userId++) await open(userId);
  wake(JSON.stringify(Array.from({ length: 400 }, (_, index) => 1_000 + index)));
  await until('the first ones read', () => reading > 0);
  t.equal(reading, 3);
  // As after a restart.
  find = () => read({ place: 1, rows: [], unreadCount: 0 });
  const opening = Array.from({ length: 300 }, (_, index) => open(index));
  // Another time for each client.
  const headers = { 'retry-after': /^([3-9]|1[0-5])$/ };
  const rejection = { definition: { status: 503 }, options: { headers } };
  t.match(await open(400).catch((error: unknown) => error), rejection);

  respond();
  t.equal((await Promise.all(opening)).length, 300);
  await t.resolves(open(400));
});
