import {
  ApiError,
  isApiError,
  NetworkError,
  type ObservedResponse,
  TimeoutError,
  UnexpectedResponseError,
} from '@dure/client';
import t from 'tap';
import { password } from '../../../test/support/app.ts';
import { freePort } from '../../../test/support/free-port.ts';
import { pause } from '../../../test/support/time.ts';
import { replace } from '../../../test/support/timers.ts';
import { until } from '../../../test/support/until.ts';
import { badGateway, caught, createClient, createWire, startService } from './clients.ts';

const { baseUrl } = await startService(t);

t.test('an app that loads the client as ESM and as CommonJS knows the errors of both', async (t) => {
  const url = new URL('errors.js?second', import.meta.resolve('@dure/client')).href;
  const second: Pick<typeof import('@dure/client'), 'ApiError'> = await import(url);
  const data = { detail: '', code: 'not_found' as const };
  const error = new second.ApiError('getPost', {
    ...data,
    status: 404,
    data,
    fields: {},
    errors: [],
    requestId: undefined,
    retryAfter: undefined,
  });
  t.ok(isApiError(error));
  t.ok(isApiError(error, 'getPost'));
  t.notOk(isApiError(error, 'listPosts'));
  t.notOk(isApiError(new Error('another')));
  t.notOk(isApiError({ name: 'ApiError' }));
});

t.test('an error has its code, texts and fields', async (t) => {
  const dure = createClient({ baseUrl });
  const error = await caught(
    dure.auth.signUp({ username: 'x', password, name: '', email: 'absent@example.com' }),
  );
  if (!isApiError(error, 'signUp') || error.code !== 'validation_error') return void t.fail(String(error));
  t.match(error, { status: 400, operation: 'signUp', requestId: /^\S+$/, retryAfter: undefined });
  t.same(Object.keys(error.fields).sort(), ['name', 'username']);
  t.equal(error.errors.find(({ field }) => field === 'username')?.code, 'too_short');
  t.equal(error.detail, error.data.detail);
  t.equal(error.message, `signUp validation_error: ${error.detail}`);
  t.notOk(isApiError(error, 'logIn'), 'of another operation');
  t.ok(error instanceof ApiError && error instanceof Error);
  const withoutToken = await caught(dure.stores.getMyPage());
  t.ok(isApiError(withoutToken, 'getMyPage') && withoutToken.code === 'not_authenticated');
});

t.test('no network, no response in time, and an abort are different errors', async (t) => {
  const seen: ObservedResponse[] = [];
  const address = `http://127.0.0.1:${await freePort()}`;
  const unreachable = createClient({ baseUrl: address, retries: 5, onResponse: (one) => seen.push(one) });
  const rejected = await caught(unreachable.posts.list({ q: '꽃' }, { retries: 0 }));
  t.ok(rejected instanceof NetworkError && rejected.cause instanceof Error);
  const text = `listPosts: no response from ${address}/api/v1/posts/: `;
  t.match(rejected, { message: `${text}connect ECONNREFUSED` });
  t.notMatch(rejected, { message: /CORS/ });
  t.match(seen, [{ status: undefined, error: { name: 'NetworkError' } }], 'one attempt');
  t.notOk(rejected instanceof TimeoutError);
  // As a service that hangs: the connection is there, the response is not.
  let sent = 0;
  const hang = (_url: string, { signal }: RequestInit) =>
    new Promise<never>((_, reject) => {
      sent += 1;
      signal?.addEventListener('abort', () => reject(signal.reason));
    });
  const hanging = createClient({ baseUrl, fetch: hang, retries: 0 });
  const late = await caught(hanging.stores.listCategories({}, { timeout: pause }));
  t.ok(late instanceof TimeoutError && late instanceof NetworkError);

  const reason = new Error('the page was left');
  const stopping = new AbortController();
  const aborted = caught(hanging.stores.listCategories({}, { signal: stopping.signal }));
  await until('the request', () => sent === 2);
  stopping.abort(reason);
  t.equal(await aborted, reason);
  const leaving = new AbortController();
  const early = caught(hanging.stores.listCategories({}, { signal: leaving.signal }));
  leaving.abort(reason);
  t.equal(await early, reason, 'while it is prepared');
  t.equal(
    await caught(hanging.stores.listCategories({}, { signal: leaving.signal })),
    reason,
    'before it begins',
  );
  t.equal(sent, 2);
});

t.test('a page of another origin gets the hint that a browser does not give', async (t) => {
  const wire = createWire();
  wire.before = () => Promise.reject(new TypeError('Failed to fetch'));
  const dure = createClient({ baseUrl, fetch: wire.fetch, retries: 0 });
  const hintFor = async (origin: string) => {
    replace(t, globalThis, { location: { origin } });
    return caught(dure.posts.list());
  };
  t.match(await hintFor('https://shop.example'), {
    message: /fetch, or .* allow https:\/\/shop.example \(CORS/,
  });
  t.match(await hintFor(baseUrl), { message: /: Failed to fetch$/ });
});

t.test('a response that is none of the API is an error that shows it', async (t) => {
  const wire = createWire();
  const dure = createClient({ baseUrl, fetch: wire.fetch, retries: 0 });
  for (const [response, status, body] of [
    [badGateway(), 502, '<html>Bad Gateway</html>'],
    [new Response('<html>Wi-Fi login</html>'), 200, '<html>Wi-Fi login</html>'],
    [Response.json({ hello: 'world' }), 200, '{"hello":"world"}'],
    [Response.json({ status: 'unavailable' }, { status: 503 }), 503, '{"status":"unavailable"}'],
  ] as const) {
    wire.before = () => response;
    const error = await caught(status === 503 ? dure.system.getReadiness() : dure.stores.listCategories());
    t.ok(error instanceof UnexpectedResponseError);
    t.match(error, { status, body });
  }
  wire.before = () => badGateway(502, { 'x-request-id': 'of-the-proxy' });
  t.match(await caught(dure.posts.list({ q: '비밀' })), {
    operation: 'listPosts',
    url: `${baseUrl}/api/v1/posts/`,
    requestId: 'of-the-proxy',
    message: `listPosts: the response of ${baseUrl}/api/v1/posts/ is none of the API (status 502, request of-the-proxy)`,
  });
});
