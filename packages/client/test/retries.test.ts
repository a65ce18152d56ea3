import { isApiError, items, newIdempotencyKey, pages, UnexpectedResponseError } from '@dure/client';
import t, { type Test } from 'tap';
import { replace } from '../../../test/support/timers.ts';
import { until } from '../../../test/support/until.ts';
import { badGateway, caught, createClient, createWire, images, openShop, startService } from './clients.ts';

const service = await startService(t);
const { baseUrl } = service;

/** A network that fails so many times, by `fail`, before it works. */
function failing(times: number, fail: () => Response | undefined) {
  const wire = createWire();
  wire.before = () => (wire.sent.length <= times ? fail() : undefined);
  return wire;
}

function lostNetwork(): never {
  throw new TypeError('fetch failed');
}

/** The timers that are set during the test, and those that end, in milliseconds. */
function recordWaits(t: Test) {
  const waits: number[] = [];
  const ended: number[] = [];
  const { setTimeout } = globalThis;
  const record = (run: () => void, wait = 0) => {
    waits.push(wait);
    return setTimeout(() => {
      ended.push(wait);
      run();
    }, wait);
  };
  replace(t, globalThis, { setTimeout: Object.assign(record, setTimeout) });
  return { waits, ended };
}

t.test('a GET is repeated twice', async (t) => {
  const failures = [lostNetwork, () => badGateway(502), () => badGateway(503), () => badGateway(504)];
  const recovering = failures.map(async (fail) => {
    const wire = failing(2, fail);
    const dure = createClient({ baseUrl, fetch: wire.fetch });
    t.ok((await dure.stores.listCategories()).items.length > 0);
    t.equal(wire.sent.length, 3);
  });
  const down = failing(9, () => badGateway(502));
  const error = await caught(createClient({ baseUrl, fetch: down.fetch }).stores.listCategories());
  t.ok(error instanceof UnexpectedResponseError);
  t.equal(down.sent.length, 3);
  const once = failing(9, () => badGateway(502));
  await caught(createClient({ baseUrl, fetch: once.fetch, retries: 0 }).stores.listCategories());
  t.equal(once.sent.length, 1);
  await Promise.all(recovering);
});

t.test('a POST whose answer was lost is repeated with its key and creates one post', async (t) => {
  const { dure, wire } = await openShop(service, '두레 카페');
  let lost = 0;
  wire.after = () => {
    if (lost++ < 2) lostNetwork();
  };
  const post = await dure.posts.create({ title: '한 번만', content: '내용', images });
  t.equal(wire.to('/api/v1/posts/').length, 3);
  const keys = new Set(wire.sent.map(({ headers }) => headers.get('idempotency-key')));
  t.equal(keys.size, 1);
  t.match([...keys][0], /^[\x21-\x7e]{20,255}$/);
  const { items: posts } = await dure.posts.list({ mine: true });
  t.match(posts, [{ id: post.id }]);
  t.equal(posts.length, 1);
  await dure.posts.create({ title: '한 번만', content: '내용', images });
  t.notOk(keys.has(wire.sent.at(-1)?.headers.get('idempotency-key') ?? ''), 'each call has a key of its own');
  const own = { idempotencyKey: newIdempotencyKey() };
  const first = await dure.posts.create({ title: '초안', content: '내용', images }, own);
  const again = await dure.request('createPost', { title: '초안', content: '내용', images }, own);
  t.equal(again.data.id, first.id);
  t.equal(again.headers.get('idempotency-replayed'), 'true');
});

t.test('a key is random, with `crypto` and in React Native, which has none', async (t) => {
  t.match(newIdempotencyKey(), /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
  replace(t, globalThis, { crypto: undefined });
  t.match(newIdempotencyKey(), /^[\da-z]+(-[\da-z]+){2}$/);
  t.not(newIdempotencyKey(), newIdempotencyKey());
});

t.test('a call that may not be repeated is sent once', async (t) => {
  const { dure, wire } = await openShop(service, '골목 책방');
  wire.before = lostNetwork;
  await caught(dure.stores.updateOwn({ name: '새 이름' }));
  await caught(dure.notifications.markRead({ up_to_id: 1 }));
  await caught(dure.posts.delete({ post_id: 1 }));
  await caught(dure.auth.sendVerificationCode({ email: 'once@example.com' }));
  t.equal(wire.sent.map(({ method }) => method).join(), 'PATCH,POST,DELETE,POST');
  t.ok(wire.sent.every(({ headers }) => !headers.has('idempotency-key')));
});

t.test('after rate_limited, a GET waits as long as the server says', async (t) => {
  const limited = await startService(t, { RATE_LIMIT_ENABLED: 'true' });
  const wire = createWire();
  const dure = createClient({ baseUrl: limited.baseUrl, fetch: wire.fetch });
  // Beyond the 30 in a minute of the service itself, whose Retry-After is too long to wait for.
  const call = () => caught(dure.auth.validatePasswordReset({ uid: 'unknown', token: 'unknown' }));
  const errors = await Promise.all(Array.from({ length: 31 }, call));
  const [rejected, ...others] = errors.filter((error) => isApiError(error) && error.status === 429);
  t.same(others, []);
  if (!isApiError(rejected, 'validatePasswordReset') || rejected.code !== 'rate_limited')
    return void t.fail();
  t.ok(rejected.retryAfter !== undefined && rejected.retryAfter > 10, `Retry-After: ${rejected.retryAfter}`);
  t.equal(rejected.data.retry_after, rejected.retryAfter);
  t.equal(wire.sent.length, 31);

  const shortly = createWire();
  shortly.before = () => {
    if (shortly.sent.length > 1) return undefined;
    const data = { detail: '', code: 'rate_limited', retry_after: 1 };
    return Response.json(
      { success: false, message: '', data },
      { status: 429, headers: { 'retry-after': '1' } },
    );
  };
  const { waits } = recordWaits(t);
  await createClient({ baseUrl, fetch: shortly.fetch }).stores.listCategories();
  t.equal(shortly.sent.length, 2);
  const isJittered = (wait: number) => wait >= 1_000 && wait < 1_500;
  t.ok(waits.some(isJittered), 'at least the second, with jitter');
});

t.test('a quota is not waited for, and a long Retry-After neither', async (t) => {
  const { dure, wire } = await openShop(service, '골목 꽃집');
  const data = { detail: '', code: 'quota_exceeded', retry_after: 1 };
  wire.before = () =>
    Response.json({ success: false, message: '', data }, { status: 429, headers: { 'retry-after': '1' } });
  const error = await caught(dure.posts.create({ title: '제목', content: '내용', images }));
  t.ok(isApiError(error, 'createPost') && error.code === 'quota_exceeded' && error.retryAfter === 1);
  t.equal(wire.sent.length, 1);
  wire.before = () => badGateway(503, { 'retry-after': '600' });
  await caught(dure.stores.getMyPage());
  t.equal(wire.sent.length, 2);
});

t.test('an abort ends the wait for a repetition', async (t) => {
  const wire = failing(9, () => badGateway(503, { 'retry-after': '9' }));
  const leaving = new AbortController();
  const dure = createClient({ baseUrl, fetch: wire.fetch });
  const { waits, ended } = recordWaits(t);
  const isLong = (wait: number) => wait >= 9_000 && wait < 9_500;
  const call = caught(dure.stores.listCategories({}, { signal: leaving.signal }));
  await until('the wait', () => waits.some(isLong));
  leaving.abort(new Error('left'));
  t.match(await call, { message: 'left' });
  t.equal(wire.sent.length, 1);
  t.notOk(ended.some(isLong));
});

/** A client whose store has five posts, with its network. */
async function openShopWithPosts() {
  const shop = await openShop(service, '두레 카페');
  for (const title of ['가', '나', '다', '라', '마'])
    await shop.dure.posts.create({ title, content: '내용', images });
  shop.wire.sent.length = 0;
  return shop;
}

t.test('all entries of all pages, in order, read as needed', async (t) => {
  const { dure, wire, store } = await openShopWithPosts();
  const found: string[] = [];
  for await (const post of items(dure.posts.list, { store_id: store.id, limit: 2 })) found.push(post.title);
  t.same(found, ['마', '라', '다', '나', '가']);
  t.equal(wire.sent.length, 3);
  for (const { path } of wire.sent) t.match(path, `store_id=${store.id}`, 'each page has the filter');

  const sizes: number[] = [];
  for await (const page of pages(dure.posts.list, { mine: true, limit: 2 })) sizes.push(page.items.length);
  t.same(sizes, [2, 2, 1]);

  wire.sent.length = 0;
  for await (const post of items(dure.posts.list, { mine: true, limit: 2 })) if (post.title === '라') break;
  t.equal(wire.sent.length, 1);
});

t.test('short and empty pages are not the end, an error is', async (t) => {
  const { dure, wire } = await openShopWithPosts();
  // As a search that found nothing among the rows that one request examines.
  wire.before = async ({ path, headers }) => {
    const response = await fetch(service.baseUrl + path, { headers });
    const body: { data: { items: unknown[] } } = JSON.parse(await response.text());
    if (wire.sent.length === 1) body.data.items = [];
    if (wire.sent.length === 2) body.data.items.pop();
    return Response.json(body);
  };
  const found: string[] = [];
  for await (const post of items(dure.posts.list, { mine: true, limit: 2 })) found.push(post.title);
  t.same(found, ['다', '가']);
  t.equal(wire.sent.length, 3);

  wire.before = () => undefined;
  const iterator = items(dure.posts.list, { cursor: 'broken' });
  t.match(await caught(iterator.next()), { code: 'invalid_cursor' });
  t.same(await iterator.next(), { done: true, value: undefined });
});
