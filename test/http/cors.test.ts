import t from 'tap';
import { createTestApp } from '../support/app.ts';

t.test('CORS', async (t) => {
  const origins = ['https://app.example.com', 'http://localhost:5173'];
  const app = await createTestApp({ CORS_ORIGINS: origins.join(' , '), WORKER_ENABLED: 'false' });
  t.teardown(app.close);
  const list = (header: unknown) => String(header).toLowerCase().split(/, */);
  const strangers = [
    'https://evil.example.com',
    'https://app.example.com.evil.com',
    'http://app.example.com',
    'https://app.example.com:444',
    'null',
    'https://APP.example.com',
  ];

  t.test('an allowed origin may read the answer and the headers that clients need', async (t) => {
    for (const origin of origins) {
      for (const path of ['/auth/me/', '/auth/nothing/']) {
        const { headers } = await app.call('GET', path, { headers: { origin } });
        t.equal(headers['access-control-allow-origin'], origin);
        t.equal(headers['access-control-allow-credentials'], undefined);
        t.equal(headers['cross-origin-resource-policy'], 'cross-origin');
        const exposed = list(headers['access-control-expose-headers']);
        for (const name of ['retry-after', 'etag', 'x-request-id', 'content-language'])
          t.ok(exposed.includes(name), name);
        for (const name of ['limit', 'remaining', 'reset']) t.ok(exposed.includes(`ratelimit-${name}`), name);
      }
    }
  });

  t.test('any other origin is not allowed', async (t) => {
    for (const origin of strangers) {
      const answer = await app.call('GET', '/auth/me/', { headers: { origin } });
      t.equal(answer.headers['access-control-allow-origin'], undefined, origin);
      t.equal(answer.status, 401);
    }
  });

  t.test('a preflight allows the methods and headers of the API', async (t) => {
    const ask = (origin: string, path = '/auth/me/') =>
      app.call('OPTIONS', path, {
        headers: {
          origin,
          'access-control-request-method': 'PATCH',
          'access-control-request-headers': 'authorization',
        },
      });
    for (const path of ['/auth/me/', '/auth/me', '/auth/login/']) {
      const { status, headers, text } = await ask(origins[0] ?? '', path);
      t.equal(status, 204);
      t.equal(text, '');
      t.equal(headers['access-control-allow-origin'], origins[0]);
      t.strictSame(list(headers['access-control-allow-methods']).sort(), [
        'delete',
        'get',
        'head',
        'patch',
        'post',
      ]);
      const allowed = list(headers['access-control-allow-headers']);
      for (const name of [
        'authorization',
        'content-type',
        'accept-language',
        'idempotency-key',
        'if-none-match',
        'last-event-id',
        'x-request-id',
      ]) {
        t.ok(allowed.includes(name), name);
      }
      t.match(headers['access-control-max-age'], /^[1-9]\d*$/);
    }
    for (const origin of strangers) {
      t.equal((await ask(origin)).headers['access-control-allow-origin'], undefined);
    }
  });

  t.test('an OPTIONS that is not a preflight is answered without a plain-text error', async (t) => {
    for (const headers of [{}, { origin: origins[0] ?? '' }]) {
      const answer = await app.call('OPTIONS', '/auth/me/', { headers });
      t.equal(answer.status, 204);
      t.equal(answer.text, '');
    }
  });

  t.test('404 and 405 are the same with CORS', async (t) => {
    t.equal((await app.call('GET', '/auth/nothing/')).status, 404);
    const wrong = await app.call('PUT', '/auth/me/');
    t.equal(wrong.status, 405);
    t.equal(wrong.headers.allow, 'GET, HEAD, PATCH, DELETE');
  });
});
