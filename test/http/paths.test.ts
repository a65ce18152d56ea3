import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import t from 'tap';
import { createTestApp, createUser } from '../support/app.ts';
import { noErrorLogged, rejected } from '../support/assertions.ts';
import { listen, rawCall } from '../support/raw-http.ts';

/** In bytes. */
const bodyLimit = 128 * 1024;
const json = { 'content-type': 'application/json' };

const app = await createTestApp();
const { call } = app;

t.test('an unknown path is not_found for every method and body', async (t) => {
  for (const path of '/nothing /auth/ /auth/nothing/ /api/v1/ /api/v2/stores/ /auth/me/nothing/'.split(' '))
    for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS'])
      rejected(t, await call(method, path), 404, 'not_found');
  const bodies: [string, Record<string, string>][] = [
    ['{', json],
    ['x=1', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['no type', {}],
    [`"${'x'.repeat(bodyLimit)}"`, json],
  ];
  for (const [body, headers] of bodies) {
    rejected(t, await call('POST', '/auth/nothing/', { body, headers }), 404, 'not_found');
  }
});

t.test('the root leads a browser to the documentation, and tells others what this is', async (t) => {
  const browser = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };
  for (const method of ['GET', 'HEAD']) {
    const response = await call(method, '/', { headers: browser });
    const headers = { location: '/docs/', vary: 'Accept-Language, Origin, Accept' };
    t.has(response, { status: 302, headers });
    t.equal((await call(method, '/')).status, 200);
  }
  for (const headers of [{}, { accept: '*/*' }, { accept: 'application/json' }]) {
    const { status, body } = await call('GET', '/', { headers });
    t.equal(status, 200);
    t.match(body, { name: 'Dure', version: /^\d+\.\d+\.\d+/, openapi: '/openapi.yaml', docs: '/docs/' });
  }
  const wrong = await call('POST', '/', { body: {} });
  rejected(t, wrong, 405, 'method_not_allowed');
  t.equal(wrong.headers.allow, 'GET, HEAD');

  const withoutDocs = await app.startInstance({ DOCS_ENABLED: 'false' });
  const { status, headers, body } = await withoutDocs.call('GET', '/', { headers: browser });
  t.equal(status, 200);
  t.equal(headers.location, undefined);
  t.strictSame(Object.keys(body), ['name', 'version', 'openapi']);
});

t.test('a known path with another method is method_not_allowed, with Allow', async (t) => {
  const cases: [string, string, string][] = [
    ['PUT', '/auth/me/', 'GET, HEAD, PATCH, DELETE'],
    ['POST', '/auth/me', 'GET, HEAD, PATCH, DELETE'],
    ['GET', '/auth/login/?next=/auth/me/', 'POST'],
    ['GET', '/auth/sessions/3f1ab0e2-5b1f-4e0e-9a59-0d4a1b2c3d4e/', 'DELETE'],
    // Beside each other: a fixed path has its own methods only.
    ['DELETE', '/api/v1/stores/%6de', 'GET, HEAD, PATCH'],
    ['PATCH', '/api/v1/stores/1/', 'GET, HEAD'],
    ['POST', '/health/live', 'GET, HEAD'],
    ['DELETE', '/openapi.yaml', 'GET, HEAD'],
  ];
  for (const [method, path, allow] of cases) {
    const response = await call(method, path);
    rejected(t, response, 405, 'method_not_allowed');
    t.equal(response.headers.allow, allow, `${method} ${path}`);
  }
  const withBody = await call('PUT', '/auth/login/', { body: '{', headers: json });
  rejected(t, withBody, 405, 'method_not_allowed');
});

t.test('HEAD answers as GET does, without a body', async (t) => {
  for (const [path, status, allow] of [
    ['/health/live', 200, undefined],
    ['/auth/login/', 405, 'POST'],
    ['/auth/me/', 401, undefined],
    ['/auth/nothing/', 404, undefined],
  ] as const) {
    const { headers, text, ...head } = await call('HEAD', path);
    t.strictSame([head.status, headers.allow, text], [status, allow, ''], path);
  }
});

t.test('a path that cannot be decoded gets the response of any unknown path', async (t) => {
  const { token } = await createUser(app);
  for (const path of ['/auth/%zz/', '/%', '/auth/%ff%fe/', '/auth/%c0%af/']) {
    const response = await call('GET', path, { headers: { 'accept-language': 'en' } });
    rejected(t, response, 404, 'not_found');
    t.equal(response.headers['content-language'], 'en');
    t.ok(response.headers['content-security-policy']);
  }
  for (const id of ['%ff', '%'.repeat(2_000)]) {
    const path = `/auth/sessions/${id}/`;
    rejected(t, await call('DELETE', path), 401, 'not_authenticated');
    rejected(t, await call('DELETE', path, { token }), 404, 'session_not_found');
  }
});

t.test('a target above 2,048 bytes is uri_too_long, like any other error', async (t) => {
  const limited = await app.startInstance({ RATE_LIMIT_ENABLED: 'true' });
  const port = await listen(limited.app);
  const longest = `/auth/${'%'.repeat(2_042)}`;
  const get = (target: string) =>
    rawCall(port, `GET ${target} HTTP/1.1\r\nHost: x\r\nAccept-Language: en\r\nConnection: close\r\n\r\n`);
  rejected(t, await get(longest), 404, 'not_found');
  const targets = [
    `${longest}%`,
    `/auth/${'%'.repeat(13_500)}`,
    `/auth/me/?${'a'.repeat(3_000)}`,
    `/health/live?${'a'.repeat(3_000)}`,
    `/${'/'.repeat(3_000)}`,
    `http://${'a'.repeat(3_000)}/auth/me/`,
  ];
  for (const target of targets) {
    const response = await get(target);
    rejected(t, response, 414, 'uri_too_long');
    t.equal(response.headers['content-language'], 'en');
    t.ok(response.headers['content-security-policy']);
  }
  // All but the health check.
  t.equal((await get('/nothing/')).headers['ratelimit-remaining'], String(300 - 1 - targets.length));
  const lines = limited.logs.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request');
  t.equal(lines.filter(({ status }) => status === 414).length, targets.length);
  for (const { path } of lines) t.ok(path.length <= 512);
});

t.test('the log names the SDK of a request, and no other text of its header', async (t) => {
  const firstLine = app.logs.length;
  for (const client of ['dure-js/0.1.0', 'a secret of somebody']) {
    await app.app.inject({ url: '/auth/consents/', headers: { 'x-client-info': client } });
  }
  const lines = app.logs.slice(firstLine).map((line) => JSON.parse(line));
  const clients = lines.filter(({ msg }) => msg === 'request').map(({ client }) => client);
  t.same(clients, ['dure-js/0.1.0', undefined]);
});

t.test('a file that does not exist is not_found, without an error in the log', async (t) => {
  const firstLine = app.logs.length;
  for (const folder of ['/docs/static', '/media/ab']) {
    const names = ['nope.js', 'nope/nope.js', '%2e%2e%2f%2e%2e%2fpackage.json', '/x', 'a%5c..%5cb'];
    for (const name of [...names, '%00', '%zz', '%ff', 'a'.repeat(2_000)]) {
      const path = `${folder}/${name}`;
      rejected(t, await call('GET', path), 404, 'not_found');
      t.equal((await call('HEAD', path)).status, 404, path);
    }
    // On a socket, because the injected URLs of other requests are normalised.
    const port = await listen(app.app);
    for (const path of ['%2e%2e/x', '../../package.json', '%2e%2e/%2e%2e/package.json', 'a/../x', './x']) {
      const request = `GET ${folder}/${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;
      rejected(t, await rawCall(port, request), 404, 'not_found');
    }
  }
  noErrorLogged(t, app.logs.slice(firstLine));
});

t.test('a 304 has no headers of a body', async (t) => {
  const { token } = await createUser(app);
  const paths = ['/docs/static/swagger-ui.css', '/openapi.json', '/api/v1/notifications/unread-count/'];
  for (const path of paths) {
    const first = await call('GET', path, { token });
    t.equal(first.status, 200);
    const { status, headers, text } = await call('GET', path, {
      token,
      headers: { 'if-none-match': `"other", ${first.headers.etag}` },
    });
    t.equal(status, 304);
    t.equal(text, '');
    t.equal(headers.etag, first.headers.etag);
    t.equal(headers['content-type'], undefined, path);
    t.equal(headers['content-length'], undefined, path);
  }
});

t.test('the document and Swagger UI are compressed, and kept by browsers', async (t) => {
  const { text } = await call('GET', '/docs/');
  const files = [...text.matchAll(/"\.(\/static\/[^"]+)"/g)].map(([, path]) => `/docs${path}`);
  const sizes = await Promise.all(files.map(async (path) => (await call('GET', path)).text.length));
  const large = files.filter((_path, index) => Number(sizes[index]) > 10_000);
  t.equal(large.length, 3);
  for (const path of ['/openapi.json', '/openapi.yaml', ...large]) {
    const ask = (encoding: string) => app.app.inject({ url: path, headers: { 'accept-encoding': encoding } });
    const plain = await ask('');
    for (const none of ['', 'identity;q=1, *;q=0', '*;q=0', 'br;q=0']) {
      const { headers, rawPayload } = await ask(none);
      t.equal(headers['content-encoding'], undefined, none);
      t.ok(rawPayload.length > 0 && rawPayload.equals(plain.rawPayload), `${path} for ${none}`);
    }
    for (const [accepted, encoding, decode] of [
      ['gzip, deflate, br', 'br', brotliDecompressSync],
      ['gzip', 'gzip', gunzipSync],
    ] as const) {
      const { headers, rawPayload } = await ask(accepted);
      t.match(headers.etag, /^W\//, 'the same in every encoding');
      t.match(headers, {
        'content-encoding': encoding,
        'cache-control': 'no-cache',
        vary: /Accept-Encoding/,
      });
      t.ok(decode(rawPayload).equals(plain.rawPayload), `${path} as ${encoding}`);
    }
  }
});
