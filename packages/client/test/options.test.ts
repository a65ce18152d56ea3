import { memoryStorage, type ObservedResponse } from '@dure/client';
import t from 'tap';
import { replace } from '../../../test/support/timers.ts';
import { until } from '../../../test/support/until.ts';
import { caught, createClient, createPair, createWire, signedIn, startService } from './clients.ts';

const service = await startService(t);
const { baseUrl } = service;

t.test('an app observes each attempt, adds headers and logs', async (t) => {
  const { wire, storage } = await signedIn(service);
  const seen: ObservedResponse[] = [];
  const lines: string[] = [];
  const dure = createClient({
    baseUrl,
    fetch: wire.fetch,
    storage,
    headers: { 'X-Request-Id': 'of-the-client' },
    onRequest: ({ headers }) => headers.set('traceparent', 'from-the-app'),
    onResponse: (response) => seen.push(response),
    logger: { debug: (line: string) => lines.push(line), warn: (line: string) => lines.push(line) },
  });
  await dure.posts.list({ q: '꽃' });
  t.match(seen, [{ operation: 'listPosts', method: 'GET', status: 200, requestId: 'of-the-client' }]);
  t.match(lines, [/^listPosts 200 in \d+ ms of-the-client$/], 'without the query');
  await dure.posts.list({}, { headers: { 'X-Request-Id': 'of-the-call' } });
  t.equal(seen[1]?.requestId, 'of-the-call');
  const { headers } = wire.sent[0] ?? {};
  t.equal(headers?.get('traceparent'), 'from-the-app');
  t.match(headers?.get('x-client-info'), /^dure-js\/\d+\.\d+\.\d+$/, 'for the log of the service');
});

t.test('a page reads without a preflight what needs no token', async (t) => {
  const { dure, wire } = await signedIn(service);
  replace(t, globalThis, { location: { origin: 'https://shop.example' } });
  dure.setLanguage('en');
  await dure.auth.getCurrentUser();
  await dure.auth.logOut();
  await dure.stores.listCategories();
  const [withToken, withBody, plain] = wire.sent.map(({ headers }) => [...headers.keys()]);
  t.ok(withToken?.includes('x-client-info') && withBody?.includes('x-client-info'));
  t.same(plain, ['accept', 'accept-language'], 'what browsers send to other origins without asking');
});

t.test('a hook that throws rejects a call that has succeeded with its own error, once', async (t) => {
  const wire = createWire();
  const failure = new Error('the hook');
  let calls = 0;
  const onResponse = () => {
    calls += 1;
    throw failure;
  };
  const dure = createClient({ baseUrl, fetch: wire.fetch, onResponse });
  t.equal(await caught(dure.stores.listCategories()), failure);
  t.equal(calls, 1);
  t.equal(wire.sent.length, 1);
});

t.test('with `poll`, notifications arrive without a stream', async (t) => {
  const wire = createWire();
  const { receiver, notify } = await createPair(service);
  const dure = createClient({
    baseUrl,
    fetch: wire.fetch,
    storage: receiver.storage,
    transport: 'poll',
    streamTimes: { poll: 50 },
  });
  const seen: string[] = [];
  const stop = dure.notifications.subscribe({ after: 0, onNotification: ({ kind }) => seen.push(kind) });
  await notify(2);
  await until('the notifications', () => seen.length === 2);
  stop();
  t.same(wire.to('/api/v1/notifications/stream/'), []);
});

t.test('React Native: files without a Blob, signals without methods', async (t) => {
  const bodies: unknown[] = [];
  const fetch = async (_url: string, { body }: RequestInit) => {
    bodies.push(body);
    return Response.json({ message: '', data: {} });
  };
  const dure = createClient({ baseUrl, fetch, storage: memoryStorage() });
  const image = { uri: 'file:///photo.jpg', name: 'photo.jpg', type: 'image/jpeg' };
  const appended: unknown[] = [];
  const { append } = FormData.prototype;
  t.teardown(() => Object.assign(FormData.prototype, { append }));
  Object.assign(FormData.prototype, { append: (...entry: unknown[]) => appended.push(entry) });
  await dure.images.upload({ image });
  t.same(appended, [['image', image]]);
  t.ok(bodies[0] instanceof FormData);
  const signal = Object.assign(new EventTarget(), { aborted: true, onabort: null, reason: undefined });
  const withoutMethods = Object.assign(signal, { throwIfAborted: () => t.fail('is missing there') });
  t.match(await caught(dure.posts.list({}, { signal: withoutMethods })), { name: 'AbortError' });
});
