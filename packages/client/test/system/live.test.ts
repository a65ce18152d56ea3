import {
  type ClientOptions,
  memoryStorage,
  type Notification,
  type NotificationListeners,
} from '@dure/client';
import t, { type Test } from 'tap';
import { password } from '../../../../test/support/app.ts';
import { createTcpProxy } from '../../../../test/support/tcp-proxy.ts';
import { atMost } from '../../../../test/support/time.ts';
import { until } from '../../../../test/support/until.ts';
import { badGateway, createClient, createPair, createWire, spoilAccess, startService } from '../clients.ts';

const streamPath = '/api/v1/notifications/stream/';
const listPath = '/api/v1/notifications/mypage/';
const countPath = '/api/v1/notifications/unread-count/';
const quick = {
  firstDelay: 20,
  errors: 3,
  longestDelay: 100,
  poll: 50,
  pollFor: atMost(400),
  firstEvent: atMost(5_000),
};
const service = await startService(t, { QUOTA_REQUESTS_PER_DAY: '0' }, { streamTimes: { heartbeat: 100 } });

type Receiver = Awaited<ReturnType<typeof createPair>>['receiver'];

interface Subscribable {
  notifications: { subscribe(listeners: NotificationListeners): () => void };
}

/** Everything that a subscription reports, until the test ends. */
function record(t: Test, dure: Subscribable, options: Pick<NotificationListeners, 'after'> = {}) {
  const seen: Notification[] = [];
  const ids: number[] = [];
  const counts: number[] = [];
  const statuses: string[] = [];
  const stop = dure.notifications.subscribe({
    ...options,
    onNotification(one) {
      seen.push(one);
      ids.push(one.id);
    },
    onUnreadCount: ({ unread_count }) => counts.push(unread_count),
    onStatus: (status) => statuses.push(status),
  });
  t.teardown(stop);
  return { seen, ids, counts, statuses, stop };
}

/** A pair of shops, and what a subscription of the receiver reports, once its stream is open. */
async function openPair(t: Test, options: Parameters<typeof createPair>[1] = {}) {
  const pair = await createPair(service, { streamTimes: quick, ...options });
  const live = record(t, pair.receiver.dure);
  await until('a stream', () => live.statuses.includes('open'));
  return { ...pair, live };
}

/** The receiver's subscription through another client, once its stream is open. */
async function openOther(t: Test, { storage }: Receiver, options: Partial<ClientOptions>) {
  const dure = createClient({
    baseUrl: service.baseUrl,
    ...options,
    storage: memoryStorage(await storage.load()),
  });
  const live = record(t, dure);
  await until('a stream', () => live.statuses.includes('open'));
  return { dure, live };
}

/** Ids of all notifications, oldest first. */
async function storedIds({ dure }: Receiver): Promise<number[]> {
  const { items } = await dure.notifications.list({ limit: 100 });
  return items.map(({ id }) => id).reverse();
}

t.test('notifications and counts arrive', async (t) => {
  const { receiver, notify } = await createPair(service, { streamTimes: quick });
  const live = record(t, receiver.dure);
  const other = record(t, receiver.dure);
  await until('the first count', () => live.counts.length === 1);
  t.same(live.statuses, ['connecting', 'open']);
  await notify();
  await until('a notification', () => live.ids.length === 1 && live.counts.at(-1) === 1);
  t.match(live.seen, [{ kind: 'partner_request_received', is_read: false }]);
  await receiver.dure.notifications.markRead({ ids: live.ids });
  await until('the count', () => live.counts.at(-1) === 0);
  t.equal(receiver.wire.to(streamPath).length, 1, 'two subscriptions have one stream');
  live.stop();
  await notify();
  await until('the other subscription', () => other.ids.length === 2);
  t.equal(live.ids.length, 1);
});

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

t.test('`after` of a later subscription counts for that one alone', async (t) => {
  const { receiver, notify } = await createPair(service, { streamTimes: quick });
  await notify(3);
  const stored = await storedIds(receiver);
  // Both before there is a connection: neither begins where the other one does.
  const fromNow = record(t, receiver.dure);
  const fromStart = record(t, receiver.dure, { after: 0 });
  await until('what was missed', () => fromStart.ids.length === 3);
  // While there is one, with notifications that arrive while the missed ones are read.
  const late = record(t, receiver.dure, { after: stored[0] });
  await notify(2);
  await until('both everywhere', () =>
    [fromNow, fromStart, late].every(({ ids }, index) => ids.length >= ([2, 5, 4][index] ?? 0)),
  );
  const all = await storedIds(receiver);
  t.same(fromStart.ids, all);
  t.same(late.ids, all.slice(1));
  t.same(fromNow.ids, all.slice(3));
  t.equal(receiver.wire.to(streamPath).length, 1);
});

t.test('a subscription that cannot read what it missed does not hold the others up', async (t) => {
  const { receiver, notify, live } = await openPair(t);
  await notify(2);
  await until('both', () => live.ids.length === 2);
  receiver.wire.before = ({ path }) => (path.startsWith(listPath) ? badGateway(500) : undefined);
  const behind = record(t, receiver.dure, { after: 0 });
  await until('an attempt', () => receiver.wire.to(listPath).length > 0);
  await notify();
  await until('the third', () => live.ids.length === 3);
  t.same(behind.ids, []);
  receiver.wire.before = () => undefined;
  await until('all', () => behind.ids.length === 3);
  t.same(behind.ids, live.ids);
});

t.test('`after` is about the account that was signed in', async (t) => {
  const { receiver, notify } = await createPair(service, { streamTimes: quick });
  const other = await createPair(service);
  await notify();
  await other.notify(2);
  // The first account signs out before its subscription has read anything.
  receiver.wire.before = ({ path }) => (path.startsWith(listPath) ? badGateway(500) : undefined);
  const live = record(t, receiver.dure, { after: 0 });
  await until('an attempt', () => receiver.wire.to(listPath).length > 0);
  await receiver.dure.auth.logOut();
  receiver.wire.before = () => undefined;
  const fromStart = record(t, receiver.dure, { after: 0 });
  await receiver.dure.auth.logIn({ username: other.receiver.username, password });
  await until('those of the other account', () => fromStart.ids.length === 2);
  await other.notify();
  await until('a new one', () => live.ids.length > 0 && fromStart.ids.length === 3);
  const all = await storedIds(other.receiver);
  t.same(fromStart.ids, all);
  t.same(live.ids, all.slice(-1));
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

/** A response whose headers come, and whose events stay in the proxy. */
function bufferedStream(): Response {
  return new Response(new ReadableStream(), { headers: { 'content-type': 'text/event-stream' } });
}

t.test('an access token that the stream rejects is renewed', async (t) => {
  const { receiver, notify } = await createPair(service, { streamTimes: quick });
  await spoilAccess(receiver);
  const live = record(t, receiver.dure);
  await until('a stream', () => live.statuses.includes('open'));
  await notify();
  await until('a notification', () => live.ids.length === 1);
  t.equal(receiver.wire.to('/auth/token/refresh/').length, 1);
});

t.test('a stream ends with the session and begins with the next one, also of another account', async (t) => {
  const { receiver, notify, live } = await openPair(t);
  await receiver.dure.auth.logOut();
  await until('the end', () => live.statuses.at(-1) === 'closed');
  const streams = receiver.wire.to(streamPath).length;
  await notify();
  await receiver.dure.auth.logIn({ username: receiver.username, password });
  await until('a stream', () => live.statuses.at(-1) === 'open');
  t.equal(receiver.wire.to(streamPath).length, streams + 1);
  await until('what was missed', () => live.ids.length === 1);

  const two = await createPair(service);
  await two.notify(2);
  await receiver.dure.auth.logIn({ username: two.receiver.username, password });
  await until('the count of the other account', () => live.counts.at(-1) === 2);
  t.equal(live.ids.length, 1, 'old notifications of the other account are not new');
  await two.notify();
  await until('a notification of the other account', () => live.ids.length === 2);
  t.equal(live.ids[1], (await storedIds(two.receiver)).at(-1));
});

t.test('a session that the server ends closes the stream and signs out', async (t) => {
  const reasons: string[] = [];
  const { receiver, live } = await openPair(t, { onSignedOut: (reason) => reasons.push(reason) });
  const other = createClient({ baseUrl: service.baseUrl });
  await other.auth.logIn({ username: receiver.username, password });
  await other.auth.endOtherSessions();
  await until('the end', () => live.statuses.at(-1) === 'closed');
  t.same(reasons, ['revoked']);
});

t.test('another language begins another stream, which goes on after the last notification', async (t) => {
  const { receiver, notify, live } = await openPair(t, { language: 'ko' });
  await notify();
  await until('a notification', () => live.seen.length === 1);
  receiver.dure.setLanguage('en');
  await notify();
  await until('one more', () => live.seen.length === 2);
  t.match(live.seen, [{ message: /요청했습니다/ }, { message: /withdrew|withdrawn/i }]);
  const [first, second] = receiver.wire.to(streamPath).map(({ headers }) => headers);
  t.equal(first?.get('accept-language'), 'ko');
  t.equal(second?.get('accept-language'), 'en');
  t.equal(second?.get('last-event-id'), String(live.ids[0]));
});

t.test('headers of the app go with the stream, but for those that it needs', async (t) => {
  const headers = { accept: 'application/json', 'accept-language': 'en', 'x-client-info': 'app/1' };
  const { receiver } = await openPair(t, { headers, language: 'ko' });
  const sent = receiver.wire.to(streamPath)[0]?.headers;
  t.equal(sent?.get('accept'), 'text/event-stream');
  t.equal(sent?.get('accept-language'), 'en');
  t.equal(sent?.get('x-client-info'), 'app/1');
});

t.test('an error of a listener ends neither the stream nor other listeners', async (t) => {
  const { receiver, notify } = await createPair(service, { streamTimes: quick });
  const uncaught: unknown[] = [];
  // tap listens, too.
  t.intercept(globalThis, 'queueMicrotask', {
    value: (run: () => void) =>
      void Promise.resolve()
        .then(run)
        .catch((error: unknown) => uncaught.push(error)),
  });
  t.teardown(
    receiver.dure.notifications.subscribe({
      onNotification() {
        throw new Error('of the app');
      },
    }),
  );
  t.teardown(
    receiver.dure.notifications.subscribe({
      async onNotification({ id }) {
        await receiver.dure.notifications.markRead({ ids: [id] });
        throw new Error('of the app, later');
      },
    }),
  );
  const live = record(t, receiver.dure);
  await until('a stream', () => live.statuses.includes('open'));
  await notify(2);
  await until('both', () => live.ids.length === 2 && uncaught.length === 4);
  const messages = uncaught.map((error) => error instanceof Error && error.message);
  t.same(messages.sort(), ['of the app', 'of the app', 'of the app, later', 'of the app, later']);
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
