import type { Notification } from '@dure/client';
import t from 'tap';
import { streamPath } from '../../../../test/notifications/streams.ts';
import { createTcpProxy } from '../../../../test/support/tcp-proxy.ts';
import { atMost } from '../../../../test/support/time.ts';
import { until } from '../../../../test/support/until.ts';
import { badGateway, createPair, createWire, spoilAccess } from '../clients.ts';
import { quick, record, startLive, storedIds } from './live.ts';

const countPath = '/api/v1/notifications/unread-count/';
const { service, openOther } = await startLive(t);

t.test('events may come in pieces of a byte', async (t) => {
  const { receiver, notify } = await createPair(service);
  const { live } = await openOther(t, receiver, {
    async fetch(url, init) {
      const { status, headers, body } = await fetch(url, init);
      return new Response(body && inBytes(body), { status, headers });
    },
  });
  await notify(2);
  await until('both', () => live.seen.length === 2);
  const { items } = await receiver.dure.notifications.list();
  const texts = (list: Notification[]) => list.map(({ id, message }) => `${id} ${message}`);
  t.same(texts(live.seen).reverse(), texts(items));
});

/** A body whose characters and lines are torn apart. */
function inBytes(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  return body.pipeThrough(
    new TransformStream({
      transform(chunk, controller) {
        for (let at = 0; at < chunk.length; at++) controller.enqueue(chunk.subarray(at, at + 1));
      },
    }),
  );
}

t.test('a dropped connection is resumed without loss and without repetition', async (t) => {
  const proxy = await createTcpProxy(t, service.baseUrl);
  const { receiver, notify } = await createPair(service);
  const { live } = await openOther(t, receiver, { baseUrl: proxy.url, streamTimes: quick });
  await notify(2);
  await until('two notifications', () => live.ids.length === 2);
  for (const round of [1, 2]) {
    await proxy.cut();
    await notify(3);
    t.equal(live.ids.length, 2 + (round - 1) * 3);
    await proxy.restore();
    await until('the missed ones', () => live.ids.length >= 2 + round * 3);
  }
  await notify();
  await until('one more', () => live.ids.length >= 9);
  t.same(live.ids, await storedIds(receiver));
});

t.test('a connection that falls silent is replaced', async (t) => {
  const proxy = await createTcpProxy(t, service.baseUrl);
  const { receiver, notify } = await createPair(service);
  const streamTimes = { ...quick, silence: 1_000 };
  const { live } = await openOther(t, receiver, { baseUrl: proxy.url, streamTimes });
  proxy.stall();
  await notify();
  await until('the notification', () => live.ids.length === 1);
  t.same(live.statuses.slice(0, 4), ['connecting', 'open', 'connecting', 'open']);
});

for (const [name, response] of [
  ['a proxy that rejects streams', () => badGateway()],
  ['a proxy that buffers streams', bufferedStream],
] as const) {
  t.test(`${name}: polling, and a stream again later`, async (t) => {
    const streamTimes = { ...quick, firstEvent: 1_000 };
    const { receiver, notify } = await createPair(service, { streamTimes });
    const { wire } = receiver;
    const statuses: number[] = [];
    wire.before = ({ path }) => (path === streamPath ? response() : undefined);
    wire.after = ({ path }, { status }) => path === countPath && statuses.push(status);
    const live = record(t, receiver.dure);
    const attempts: number[] = [];
    const onStatus = (status: string) => status === 'polling' && attempts.push(wire.to(streamPath).length);
    t.teardown(receiver.dure.notifications.subscribe({ onStatus }));
    await until('polling', () => live.statuses.includes('polling'));
    t.equal(attempts[0], quick.errors + 1);
    await until('a poll that nothing changed, which costs no body', () => statuses.includes(304));
    await notify(2);
    await until('the notifications', () => live.ids.length === 2 && live.counts.at(-1) === 2);
    wire.before = () => undefined;
    await until('a stream', () => live.statuses.at(-1) === 'open');
    await notify();
    await until('one more', () => live.ids.length === 3);
    t.same(live.ids, await storedIds(receiver));
  });
}

/** A response whose headers come, and whose events stay in the proxy. */
function bufferedStream(): Response {
  return new Response(new ReadableStream(), { headers: { 'content-type': 'text/event-stream' } });
}

t.test('after a restart of the service the stream comes back, not minutes of polls', async (t) => {
  const proxy = await createTcpProxy(t, service.baseUrl);
  const { receiver, notify } = await createPair(service);
  const wire = createWire();
  const streamTimes = { ...quick, pollFor: atMost(600_000) };
  const { live } = await openOther(t, receiver, { baseUrl: proxy.url, fetch: wire.fetch, streamTimes });
  const streams = () => wire.to(streamPath).length;
  await proxy.cut();
  await notify();
  const before = wire.sent.length;
  await until('more attempts than make a client poll', () => wire.sent.length > before + quick.errors + 1);
  await proxy.restore();
  await until('a stream', () => live.statuses.at(-1) === 'open');
  await until('what was missed', () => live.ids.length > 0);
  t.same(live.ids, await storedIds(receiver));
  // The service comes back just before the client asks whether it is there.
  wire.before = ({ path }) => (path === streamPath && streams() <= quick.errors ? badGateway() : undefined);
  wire.sent.length = 0;
  await proxy.cut();
  await proxy.restore();
  await until('one more attempt', () => streams() > quick.errors);
  await until('a stream', () => live.statuses.at(-1) === 'open');
  t.notOk(live.statuses.includes('polling'));
});

t.test('an access token that the stream rejects is renewed', async (t) => {
  const { receiver, notify } = await createPair(service, { streamTimes: quick });
  await spoilAccess(receiver);
  const live = record(t, receiver.dure);
  await until('a stream', () => live.statuses.includes('open'));
  await notify();
  await until('a notification', () => live.ids.length === 1);
  t.equal(receiver.wire.to('/auth/token/refresh/').length, 1);
});

t.test('stopping ends the connection', async (t) => {
  const { receiver } = await createPair(service);
  let signal: AbortSignal | null | undefined;
  const { live } = await openOther(t, receiver, {
    fetch(url, init) {
      signal = init.signal;
      return fetch(url, init);
    },
  });
  t.equal(signal?.aborted, false);
  live.stop();
  live.stop();
  t.equal(signal?.aborted, true);
});
