import t from 'tap';
import { createTestApp, type TestResponse } from '../support/app.ts';
import { rejected } from '../support/assertions.ts';
import { production } from '../support/service.ts';

const { startInstance } = await createTestApp();

const ownOrigin = 'https://app.example.com';
const origins = [ownOrigin, 'http://localhost:5173', 'capacitor://localhost'];
const strangers = [
  ...['https://evil.example.com', 'https://app.example.com.evil.com', 'http://app.example.com', 'null'],
  ...['https://app.example.com:444', 'https://APP.example.com', 'capacitor://app'],
];
const app = await startInstance({ CORS_ORIGINS: origins.join(' , ') });

const corsHeadersOf = ({ headers }: TestResponse) =>
  Object.keys(headers).filter((name) => name.startsWith('access-control-'));

t.test('an allowed origin may read the response and the headers that clients need', async (t) => {
  for (const origin of origins) {
    for (const path of ['/auth/me/', '/auth/nothing/']) {
      t.has((await app.call('GET', path, { headers: { origin } })).headers, {
        'access-control-allow-origin': origin,
        'access-control-allow-credentials': 'true',
        'cross-origin-resource-policy': 'cross-origin',
        'access-control-expose-headers':
          'Allow, Content-Disposition, Content-Language, ETag, Idempotency-Replayed, Location, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After, X-Request-Id',
        vary: 'Accept-Language, Origin',
      });
    }
  }
});

t.test('any other origin is not allowed', async (t) => {
  for (const origin of strangers) {
    const response = await app.call('GET', '/auth/me/', { headers: { origin } });
    t.strictSame(corsHeadersOf(response), [], origin);
    t.has(response, { status: 401, headers: { vary: 'Accept-Language, Origin' } });
  }
  t.strictSame(corsHeadersOf(await app.call('GET', '/auth/me/')), []);
});

/** The preflight of a browser. */
function preflight(origin: string, path = '/auth/me/', { call } = app) {
  const asked = {
    'access-control-request-method': 'PATCH',
    'access-control-request-headers': 'authorization',
  };
  return call('OPTIONS', path, { headers: { origin, ...asked } });
}

t.test('a preflight allows the methods and headers of the API', async (t) => {
  for (const path of ['/auth/me/', '/auth/me', '/auth/login/', '/api/v1/posts/1/']) {
    const response = await preflight(ownOrigin, path);
    t.has(response, {
      status: 204,
      text: '',
      headers: {
        'access-control-allow-origin': ownOrigin,
        'access-control-allow-methods': 'GET, HEAD, POST, PATCH, DELETE',
        'access-control-allow-headers':
          'Accept-Language, Authorization, baggage, Content-Type, Idempotency-Key, If-Match, If-None-Match, Last-Event-ID, sentry-trace, traceparent, tracestate, X-Client-Info, X-Refresh-Token, X-Request-Id, X-Requested-With',
        'access-control-allow-credentials': 'true',
        'access-control-max-age': '7200',
        'x-content-type-options': 'nosniff',
      },
    });
    t.ok(response.headers['x-request-id']);
  }
  for (const origin of strangers) {
    const response = await preflight(origin);
    t.equal(response.status, 204);
    t.strictSame(corsHeadersOf(response), [], origin);
  }
});

t.test('a preflight of an unknown path is not_found', async (t) => {
  for (const path of ['/auth/nothing/', '/nothing', '/auth/ME/', '*']) {
    const response = await preflight(ownOrigin, path);
    rejected(t, response, 404, 'not_found');
    t.equal(response.headers['access-control-allow-origin'], ownOrigin);
  }
});

t.test('an OPTIONS that is not a preflight is answered like any method', async (t) => {
  for (const headers of [{}, { origin: ownOrigin }, { 'access-control-request-method': 'GET' }]) {
    const response = await app.call('OPTIONS', '/auth/me/', { headers });
    rejected(t, response, 405, 'method_not_allowed');
    t.has(response.headers, { allow: 'GET, HEAD, PATCH, DELETE', 'cache-control': 'no-store' });
    rejected(t, await app.call('OPTIONS', '/auth/nothing/', { headers }), 404, 'not_found');
  }
});

t.test('every OPTIONS counts for the limits, also a preflight', async (t) => {
  const limited = await startInstance({ CORS_ORIGINS: origins.join(), RATE_LIMIT_ENABLED: 'true' });
  const responses = [
    await preflight(ownOrigin, '/auth/login/', limited),
    await preflight(ownOrigin, '/auth/nothing/', limited),
    await limited.call('OPTIONS', '/auth/me/'),
  ];
  const counted = responses.map(({ status, headers }) => `${status} ${headers['ratelimit-remaining']}`);
  t.strictSame(counted, ['204 299', '404 298', '405 297']);
});

t.test('without origins no origin is allowed, and a preflight is method_not_allowed', async (t) => {
  const without = await startInstance({ CORS_ORIGINS: ',' });
  const headers = { origin: ownOrigin, 'access-control-request-method': 'GET' };
  const response = await without.call('GET', '/auth/me/', { headers });
  t.strictSame(corsHeadersOf(response), []);
  t.has(response.headers, { vary: 'Accept-Language', 'cross-origin-resource-policy': 'same-origin' });
  rejected(t, await without.call('OPTIONS', '/auth/me/', { headers }), 405, 'method_not_allowed');
});

/** Log lines that name an origin, or tell that no further ones do. */
const originLines = ({ logs }: { logs: string[] }) =>
  logs.map((line) => JSON.parse(line)).filter(({ origin, msg }) => origin || /origins/.test(msg));

t.test('by default the origin of the frontend is allowed, and any other one is logged once', async (t) => {
  const withDefault = await startInstance({ FRONTEND_URL: 'http://localhost:5173/shop' });
  const ask = async (origin: string, method = 'GET') => {
    const headers = { origin, host: 'localhost:3000', 'access-control-request-method': 'GET' };
    return (await withDefault.call(method, '/auth/me/', { headers })).headers['access-control-allow-origin'];
  };
  t.equal(await ask('http://localhost:5173'), 'http://localhost:5173');
  t.equal(await ask('http://localhost:3000'), undefined, 'of the service itself');
  // No browser sends these.
  for (const origin of ['nonsense', 'https://a.example/path', `https://${'a'.repeat(300)}.example`, '*'])
    await ask(origin);
  t.strictSame(originLines(withDefault), []);
  for (const method of ['OPTIONS', 'GET', 'OPTIONS']) await ask('http://localhost:8080', method);
  for (const _ of ['first', 'second']) await ask('null');
  const lines = originLines(withDefault);
  t.match(lines, [
    { level: 40, origin: 'http://localhost:8080', msg: /^CORS_ORIGINS does not name this origin/ },
    { level: 40, origin: 'null', msg: /CORS_ORIGINS cannot allow it/ },
  ]);
  t.equal(lines.length, 2);
});

t.test('in production rejected origins are few lines and no warnings', async (t) => {
  const inProduction = await startInstance(production);
  for (let index = 0; index < 30; index += 1) {
    const headers = { origin: `https://${index}.example` };
    t.strictSame(corsHeadersOf(await inProduction.call('GET', '/auth/me/', { headers })), []);
  }
  const lines = originLines(inProduction);
  t.equal(lines.length, 21);
  t.match(lines.at(-1).msg, 'further rejected origins are not logged');
  t.ok(lines.every(({ level }) => level === 30));
});
