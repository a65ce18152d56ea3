import t, { type Test } from 'tap';
import { createTestApp, createUser, type TestResponse } from '../support/app.ts';
import { rejected } from '../support/assertions.ts';
import { production } from '../support/service.ts';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Asserts the headers that every response has. */
function secured(t: Test, { headers }: TestResponse): void {
  t.equal(headers['x-content-type-options'], 'nosniff');
  t.equal(headers['referrer-policy'], 'no-referrer');
  for (const directive of ['default-src', 'frame-ancestors', 'base-uri', 'form-action']) {
    t.match(headers['content-security-policy'], new RegExp(`${directive} '(none|self)'`));
  }
  t.match(headers['cross-origin-resource-policy'], /^(same|cross)-origin$/);
  t.notMatch(headers['content-security-policy'], /unsafe-eval|script-src[^;]*unsafe-inline/);
  t.equal(headers['x-frame-options'], 'DENY');
  t.equal(headers['x-powered-by'], undefined);
  t.equal(headers.server, undefined);
  t.notOk(Object.keys(headers).some((name) => name.startsWith('ratelimit-')));
}

const app = await createTestApp();
const { call } = app;
const { token } = await createUser(app);

t.test('a valid X-Request-Id is echoed, any other replaced', async (t) => {
  const ask = async (id?: string) => {
    const headers = id === undefined ? {} : { 'x-request-id': id };
    return String((await call('GET', '/auth/me/', { headers })).headers['x-request-id']);
  };
  for (const id of ['a', 'A-1_b.2', '0', 'x'.repeat(64), '00000000-0000-0000-0000-000000000000'])
    t.equal(await ask(id), id);
  const wrong = ['', ' ', 'a b', 'a,b', 'a/b', '<script>', 'é', 'a\tb', '"a"', 'a;b', '$(id)'];
  for (const id of [...wrong, 'x'.repeat(65)]) t.match(await ask(id), uuid, id);
  t.match(await ask(), uuid);
  t.not(await ask(), await ask());
  const logged = app.logs.map((line) => JSON.parse(line)).filter(({ reqId }) => reqId === 'A-1_b.2');
  t.ok(logged.length > 0, 'and the log has it');
});

t.test('/auth/ is no-store, /api/ is private, no-cache', async (t) => {
  const cachingOf = async (path: string, method = 'GET', options = {}) =>
    (await call(method, path, options)).headers['cache-control'];
  for (const path of '/auth/me/ /auth/me /auth/nothing/ /%61uth/me/ /auth/login/ /auth/me/?a=1'.split(' '))
    t.equal(await cachingOf(path), 'no-store', path);
  t.equal(await cachingOf('/auth/me/', 'GET', { token }), 'no-store');
  t.equal(await cachingOf('/auth/login/', 'POST', { body: {} }), 'no-store');
  for (const path of ['/api/v1/nothing/', '/api/', '/api/v1/stores/me/', '/api/v1/stores/me'])
    t.equal(await cachingOf(path), 'private, no-cache', path);
});

t.test('every response has the security headers', async (t) => {
  const paths = ['/', '/health/live', '/health/ready', '/metrics', '/openapi.json', '/docs/', '/docs'];
  for (const path of [...paths, '/auth/me/', '/auth/nothing/']) secured(t, await call('GET', path));
  secured(t, await call('GET', '/auth/me/', { token }));
  secured(t, await call('POST', '/auth/login/', { body: {} }));
  const malformed = { body: '{', headers: { 'content-type': 'application/json' } };
  secured(t, await call('POST', '/auth/login/', malformed));
  secured(t, await call('PUT', '/auth/login/'));
});

t.test('the policy of the documentation allows its own scripts only', async (t) => {
  const policy = String((await call('GET', '/docs/')).headers['content-security-policy']);
  t.match(policy, /script-src 'self'(;|$)/);
  t.match(policy, /connect-src 'self'(;|$)/);
});

t.test('a path that is not of the API is found with and without its last slash', async (t) => {
  const paths = ['/health/live', '/.well-known/jwks.json', '/openapi.json', '/metrics', '/docs'];
  for (const path of paths.flatMap((one) => [one, `${one}/`]))
    t.equal((await call('GET', path)).status, 200, path);
});

t.test('in production there is HSTS, and no documentation and no mailbox', async (t) => {
  const inProduction = await app.startInstance(production);
  for (const path of ['/auth/me/', '/health/live', '/nothing', '/openapi.json']) {
    const response = await inProduction.call('GET', path);
    t.match(response.headers['strict-transport-security'], /max-age=(?:[3-9]\d{7}|\d{9,})/);
    secured(t, response);
  }
  for (const path of ['/docs/', '/dev/mailbox/'])
    rejected(t, await inProduction.call('GET', path), 404, 'not_found');
});

t.test('Swagger UI in production has no demo login', async (t) => {
  const inProduction = await app.startInstance({ ...production, DOCS_ENABLED: 'true' });
  const page = await inProduction.call('GET', '/docs/');
  t.match(page, { status: 200, text: '/theme/readability.js' });
  t.notMatch(page.text, 'demo');
  const script = '/docs/static/theme/demo-login.js';
  t.match(await call('GET', script), { status: 200, text: 'demo' });
  t.equal((await inProduction.call('GET', script)).status, 404);
});
