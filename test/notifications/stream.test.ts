import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { notificationsOf } from '../support/partner-requests.ts';
import { until } from '../support/until.ts';
import {
  createListeningApp,
  createNotifier,
  createPair,
  openStream,
  storedIds,
  streamPath,
} from './streams.ts';

const environment = { CORS_ORIGINS: 'https://app.example.com' };
const here = await createListeningApp(environment);
const there = await createListeningApp(environment, { databaseUrl: here.url });
t.teardown(async () => {
  await there.close();
  await here.close();
});

t.test('a notification reaches a client of another instance in less than a second', async (t) => {
  const { receiver, notify } = await createPair(here);
  const stream = await openStream(t, there, receiver.token);
  await stream.until(() => stream.events.length === 1);
  t.match(stream.events[0], { event: 'unread_count', data: { unread_count: 0 } });
  await notify();
  const committedAt = Date.now();
  await stream.until(() => stream.events.length === 3);
  const [, notification, count] = stream.events;
  t.ok((notification?.at ?? 0) - committedAt < 1_000);
  const { items } = await notificationsOf(here, receiver);
  t.match(notification, { event: 'notification', id: String(items[0].id) });
  t.strictSame(notification?.data, items[0], 'exactly as it is listed');
  t.match(count, { event: 'unread_count', id: undefined, data: { unread_count: 1 } });
});

t.test('a stream has its own headers and the common ones', async (t) => {
  const { receiver } = await createPair(here);
  const stream = await openStream(t, here, receiver.token, {
    'x-request-id': 'mine',
    origin: 'https://app.example.com',
  });
  t.equal(stream.status, 200);
  t.match(Object.fromEntries(stream.headers), {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'private, no-cache, no-transform',
    'x-accel-buffering': 'no',
    'content-language': 'ko',
    'x-request-id': 'mine',
    'x-content-type-options': 'nosniff',
    'content-security-policy': /frame-ancestors 'none'/,
    'access-control-allow-origin': 'https://app.example.com',
    vary: /Accept-Language.*Origin/,
  });
});

t.test('notifications are in the language of the request', async (t) => {
  const { receiver, notify } = await createPair(here);
  const korean = await openStream(t, here, receiver.token);
  const english = await openStream(t, here, receiver.token, { 'accept-language': 'en-GB' });
  t.equal(english.headers.get('content-language'), 'en');
  await notify();
  await Promise.all([korean, english].map((stream) => stream.until(() => stream.events.length === 3)));
  t.equal(
    english.events[1]?.data.message,
    '두레 베이커리 would like to partner with you on your post “주말 공동 할인”.',
  );
  t.match(korean.events[1]?.data.message, /제휴를 요청했습니다/);
});

t.test('marking as read on one instance updates the count on the other', async (t) => {
  const { receiver, notify } = await createPair(here);
  await notify(2);
  const stream = await openStream(t, there, receiver.token);
  await stream.until(() => stream.events.length === 1);
  const body = { ids: (await storedIds(here, receiver.id)).slice(0, 1) };
  await here.call('POST', '/api/v1/notifications/mark-read/', { token: receiver.token, body });
  await stream.until(() => stream.events.length === 2, 1_000);
  t.match(stream.events, [
    { event: 'unread_count', data: { unread_count: 2 } },
    { event: 'unread_count', data: { unread_count: 1 } },
  ]);
});

t.test('without Last-Event-ID a stream starts with new notifications', async (t) => {
  const { receiver, notify } = await createPair(here);
  await notify(3);
  const stream = await openStream(t, here, receiver.token);
  await notify(1);
  await stream.until(() => stream.ids().length === 1);
  t.strictSame(stream.ids(), (await storedIds(here, receiver.id)).slice(3));
});

t.test('a client resumes with all missed notifications, once and in order', async (t) => {
  const { receiver, notify } = await createPair(here);
  const before = await openStream(t, here, receiver.token);
  await notify(2);
  await before.until(() => before.ids().length === 2);
  before.drop();
  await notify(60);
  const lastId = String(before.ids().at(-1));
  const after = await openStream(t, there, receiver.token, { 'last-event-id': lastId });
  await after.until(() => after.ids().length >= 60);
  await notify(2);
  await after.until(() => after.ids().length >= 62 && after.events.at(-1)?.data.unread_count === 64);
  t.strictSame([...before.ids(), ...after.ids()], await storedIds(here, receiver.id));
  t.match(after.events[0], { event: 'unread_count', id: lastId }, 'a break right now would lose nothing');
});

t.test('nothing is lost or repeated while clients connect', async (t) => {
  const { receiver, notify } = await createPair(here);
  await notify(1);
  const [first = 0] = await storedIds(here, receiver.id);
  const burst = notify(50, there);
  const streams = [];
  for (let opened = 0; opened < 10; opened++) {
    const instance = opened % 2 === 0 ? here : there;
    streams.push(await openStream(t, instance, receiver.token, { 'last-event-id': String(first) }));
  }
  await burst;
  const expected = (await storedIds(here, receiver.id)).slice(1);
  t.equal(expected.length, 50);
  for (const stream of streams) {
    await stream.until(() => stream.ids().length >= 50 && stream.events.at(-1)?.data.unread_count === 51);
    t.strictSame(stream.ids(), expected);
    stream.drop();
  }
});

t.test('concurrent notifications are all delivered within a second', async (t) => {
  const { receiver, postId, notify } = await createPair(here);
  const notifiers = [notify, ...(await Promise.all([1, 2, 3, 4].map(() => createNotifier(here, postId))))];
  const stream = await openStream(t, there, receiver.token);
  for (let round = 1; round <= 10; round++) {
    await Promise.all(notifiers.map((notifyOnce) => notifyOnce()));
    await stream.until(() => stream.ids().length === 5 * round, 1_000);
    await stream.until(() => stream.events.at(-1)?.data.unread_count === 5 * round, 1_000);
  }
  t.strictSame(stream.ids(), await storedIds(here, receiver.id));
});

t.test('a client without a notification resumes where its stream started', async (t) => {
  const { receiver, notify } = await createPair(here);
  await notify(1);
  const before = await openStream(t, here, receiver.token);
  await before.until(() => before.events.length === 1);
  before.drop();
  await notify(2);
  const after = await openStream(t, here, receiver.token, { 'last-event-id': before.events[0]?.id ?? '' });
  await after.until(() => after.ids().length === 2);
  t.strictSame(after.ids(), (await storedIds(here, receiver.id)).slice(1));
});

t.test('a Last-Event-ID beyond the newest counts as the newest', async (t) => {
  const { receiver, notify } = await createPair(here);
  await notify(1);
  for (const lastId of ['', '99999999999999999999']) {
    const stream = await openStream(t, here, receiver.token, { 'last-event-id': lastId });
    await notify(1);
    await stream.until(() => stream.ids().length === 1);
    t.strictSame(stream.ids(), (await storedIds(here, receiver.id)).slice(-1));
    stream.drop();
  }
});

t.test('a stream sends heartbeats', async (t) => {
  const { receiver } = await createPair(here);
  const options = { databaseUrl: here.url, streamTimes: { heartbeat: 100 }, timeLimit: 600 };
  const instance = await createListeningApp({}, options);
  t.teardown(instance.close);
  const stream = await openStream(t, instance, receiver.token);
  await stream.until(() => stream.comments.length >= 8, 4_000);
  t.equal(stream.comments[0], 'heartbeat', 'longer than a request may take');
  t.equal(stream.events.length, 1, 'which is no event');
});

t.test('a rejected stream gets the envelope', async (t) => {
  const { receiver } = await createPair(here);
  const none = await here.call('GET', streamPath);
  t.match(none, { status: 401, body: { success: false, data: { code: 'not_authenticated' } } });
  const invalid = await here.call('GET', streamPath, { token: 'abc' });
  t.match(invalid, { status: 401, body: { data: { code: 'token_not_valid', reason: 'malformed' } } });
  const headers = { 'last-event-id': 'the last one' };
  const unreadable = await here.call('GET', streamPath, { token: receiver.token, headers });
  t.match(unreadable, { status: 400, body: { data: { code: 'validation_error' } } });
  t.strictSame(Object.keys(unreadable.body.data.fields), ['last-event-id']);
});

t.test('HEAD answers with the headers and opens no stream', async (t) => {
  const { receiver } = await createPair(here);
  const head = await here.call('HEAD', streamPath, { token: receiver.token });
  t.equal(head.status, 200);
  t.equal(head.headers['content-type'], 'text/event-stream; charset=utf-8');
  t.equal(head.text, '');
});

t.test('a metric counts the open streams', async (t) => {
  const { receiver } = await createPair(here);
  const open = async () =>
    /^notification_streams (\d+)$/m.exec((await here.call('GET', '/metrics')).text)?.[1];
  const becomes = (count: string) => until(`${count} open streams`, async () => (await open()) === count, 2);
  const streams = [await openStream(t, here, receiver.token), await openStream(t, here, receiver.token)];
  await becomes('2');
  for (const stream of streams) stream.drop();
  await becomes('0');
  const dropped = Array.from({ length: 30 }, async (_, index) => {
    const connection = connect({ port: Number(new URL(here.app.listeningOrigin).port), host: '127.0.0.1' });
    connection.write(
      `GET ${streamPath} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${receiver.token}\r\n\r\n`,
    );
    await sleep(index);
    connection.destroy();
  });
  await Promise.all(dropped);
  await sleep(200);
  await becomes('0');
});
