import t from 'tap';
import { createTestApp, type TestResponse } from '../support/app.ts';
import { rejected } from '../support/assertions.ts';
import { production } from '../support/service.ts';

const corsHeadersOf = ({ headers }: TestResponse) =>
  Object.keys(headers).filter((name) => name.startsWith('access-control-'));

t.test('CORS', async (t) => {
  const origins = ['https://app.example.com', 'http://localhost:5173'];
  const app = await createTestApp({ CORS_ORIGINS: origins.join(' , '), WORKER_ENABLED: 'false' });
  t.teardown(app.close);
  const strangers = [
    'https://evil.example.com',
    'https://app.example.com.evil.com',
    'http://app.example.com',
    'https://app.example.com:444',
    'null',
    'https://APP.example.com',
  ];

  t.test('an allowed origin may read the response and the headers that clients need', async (t) => {
    for (const origin of origins) {
      for (const path of ['/auth/me/', '/auth/nothing/']) {
        const { headers } = await app.call('GET', path, { headers: { origin } });
        t.equal(headers['access-control-allow-origin'], origin);
        t.equal(headers['access-control-allow-credentials'], 'true');
        t.equal(headers['cross-origin-resource-policy'], 'cross-origin');
        t.equal(
          headers['access-control-expose-headers'],
          'Allow, Content-Language, ETag, Idempotency-Replayed, Location, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After, X-Request-Id',
        );
        t.equal(headers.vary, 'Accept-Language, Origin');
      }
    }
  });

  t.test('any other origin is not allowed', async (t) => {
    for (const origin of strangers) {
      const response = await app.call('GET', '/auth/me/', { headers: { origin } });
      t.strictSame(corsHeadersOf(response), [], origin);
      t.equal(response.headers.vary, 'Accept-Language, Origin');
      t.equal(response.status, 401);
    }
    t.strictSame(corsHeadersOf(await app.call('GET', '/auth/me/')), []);
  });

  /** The preflight of a browser. */
  const preflight = (origin: string, path = '/auth/me/', { call } = app) =>
    call('OPTIONS', path, {
      headers: {
        origin,
        'access-control-request-method': 'PATCH',
        'access-control-request-headers': 'authorization',
      },
    });

  t.test('a preflight allows the methods and headers of the API', async (t) => {
    for (const path of ['/auth/me/', '/auth/me', '/auth/login/', '/api/v1/posts/1/']) {
      const { status, headers, text } = await preflight(origins[0] ?? '', path);
      t.equal(status, 204);
      t.equal(text, '');
      t.equal(headers['access-control-allow-origin'], origins[0]);
      t.equal(headers['access-control-allow-methods'], 'GET, HEAD, POST, PATCH, DELETE');
      t.equal(
        headers['access-control-allow-headers'],
        'Accept-Language, Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Last-Event-ID, traceparent, tracestate, X-Refresh-Token, X-Request-Id, X-Requested-With',
      );
      t.equal(headers['access-control-allow-credentials'], 'true');
      t.equal(headers['access-control-max-age'], '7200');
      t.equal(headers['x-content-type-options'], 'nosniff');
      t.ok(headers['x-request-id']);
    }
    for (const origin of strangers) {
      const response = await preflight(origin);
      t.equal(response.status, 204);
      t.strictSame(corsHeadersOf(response), [], origin);
    }
  });

  t.test('a preflight of an unknown path is not_found', async (t) => {
    for (const path of ['/auth/nothing/', '/nothing', '/auth/ME/', '*']) {
      const response = await preflight(origins[0] ?? '', path);
      rejected(t, response, 404, 'not_found');
      t.equal(response.headers['access-control-allow-origin'], origins[0]);
    }
  });

  t.test('an OPTIONS that is not a preflight is answered like any method', async (t) => {
    const origin = origins[0] ?? '';
    for (const headers of [{}, { origin }, { 'access-control-request-method': 'GET' }]) {
      const response = await app.call('OPTIONS', '/auth/me/', { headers });
      rejected(t, response, 405, 'method_not_allowed');
      t.equal(response.headers.allow, 'GET, HEAD, PATCH, DELETE');
      t.equal(response.headers['cache-control'], 'no-store');
      rejected(t, await app.call('OPTIONS', '/auth/nothing/', { headers }), 404, 'not_found');
    }
  });

  t.test('every OPTIONS counts for the limits, also a preflight', async (t) => {
    const limited = await createTestApp(
      { CORS_ORIGINS: origins.join(), RATE_LIMIT_ENABLED: 'true', WORKER_ENABLED: 'false' },
      { databaseUrl: app.url },
    );
    t.teardown(limited.close);
    const responses = [
      await preflight(origins[0] ?? '', '/auth/login/', limited),
      await preflight(origins[0] ?? '', '/auth/nothing/', limited),
      await limited.call('OPTIONS', '/auth/me/'),
    ];
    t.strictSame(
      responses.map(({ status, headers }) => [status, headers['ratelimit-remaining']]),
      [
        [204, '299'],
        [404, '298'],
        [405, '297'],
      ],
    );
  });
});

t.test('by default the origin of the frontend is allowed', async (t) => {
  const app = await createTestApp({ FRONTEND_URL: 'http://localhost:5173/shop', WORKER_ENABLED: 'false' });
  t.teardown(app.close);
  const ask = async (origin: string) => (await app.call('GET', '/auth/me/', { headers: { origin } })).headers;
  t.equal((await ask('http://localhost:5173'))['access-control-allow-origin'], 'http://localhost:5173');
  t.equal((await ask('http://localhost:3000'))['access-control-allow-origin'], undefined);
});

t.test('without origins no origin is allowed, and a preflight is method_not_allowed', async (t) => {
  const app = await createTestApp({ CORS_ORIGINS: ',', WORKER_ENABLED: 'false' });
  t.teardown(app.close);
  const headers = { origin: 'https://app.example.com', 'access-control-request-method': 'GET' };
  const response = await app.call('GET', '/auth/me/', { headers });
  t.strictSame(corsHeadersOf(response), []);
  t.equal(response.headers.vary, 'Accept-Language');
  t.equal(response.headers['cross-origin-resource-policy'], 'same-origin');
  rejected(t, await app.call('OPTIONS', '/auth/me/', { headers }), 405, 'method_not_allowed');
});

/** Log lines that name an origin, or tell that no further ones do. */
const originLines = ({ logs }: { logs: string[] }) =>
  logs.map((line) => JSON.parse(line)).filter(({ origin, msg }) => origin || /origins/.test(msg));

t.test('a rejected origin is logged once, with the variable that would allow it', async (t) => {
  const app = await createTestApp({ CORS_ORIGINS: 'http://localhost:5173', WORKER_ENABLED: 'false' });
  t.teardown(app.close);
  const ask = (origin: string, method = 'GET', host = 'localhost:3000') =>
    app.call(method, '/auth/me/', { headers: { origin, host, 'access-control-request-method': 'GET' } });
  await ask('http://localhost:5173');
  // The page of the service itself.
  await ask('http://localhost:3000');
  // No browser sends these.
  for (const origin of ['nonsense', 'https://a.example/path', `https://${'a'.repeat(300)}.example`, '*']) {
    await ask(origin);
  }
  t.strictSame(originLines(app), []);
  for (const method of ['OPTIONS', 'GET', 'OPTIONS']) await ask('http://localhost:8080', method);
  await ask('null');
  await ask('null');
  const lines = originLines(app);
  t.match(lines, [
    { level: 40, origin: 'http://localhost:8080', msg: /^CORS_ORIGINS does not name this origin/ },
    { level: 40, origin: 'null', msg: /CORS_ORIGINS cannot allow it/ },
  ]);
  t.equal(lines.length, 2);
});

t.test(
  'in production no origin is allowed by default, and rejected ones are few lines and no warnings',
  async (t) => {
    const app = await createTestApp({
      ...production,
      DATABASE_URL: 'postgresql://db.example.com/dure',
      WORKER_ENABLED: 'false',
    });
    t.teardown(app.close);
    for (let index = 0; index < 30; index += 1) {
      const response = await app.call('GET', '/auth/me/', {
        headers: { origin: `https://${index}.example` },
      });
      t.strictSame(corsHeadersOf(response), []);
    }
    const lines = originLines(app);
    t.equal(lines.length, 21);
    t.match(lines.at(-1).msg, 'further rejected origins are not logged');
    t.ok(lines.every(({ level }) => level === 30));
  },
);
