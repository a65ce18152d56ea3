import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { createTestApp, createUser, password } from '../support/app.ts';
import { invalid, refused } from '../support/assertions.ts';
import { listen, rawCall, rawConnection } from '../support/raw-http.ts';

/** In bytes. */
const bodyLimit = 128 * 1024;
const json = { 'content-type': 'application/json' };
const required = ['username', 'password'];

t.test('paths and methods', async (t) => {
  const app = await createTestApp();
  t.teardown(app.close);
  const { call } = app;

  t.test('an unknown path is not_found, whatever is sent to it', async (t) => {
    for (const path of [
      '/',
      '/auth/',
      '/auth/nothing/',
      '/api/v1/',
      '/api/v2/stores/',
      '/auth/me/nothing/',
    ]) {
      for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS']) {
        refused(t, await call(method, path), 404, 'not_found');
      }
    }
    const bodies: [string, Record<string, string>][] = [
      ['{', json],
      ['x=1', { 'content-type': 'application/x-www-form-urlencoded' }],
      ['no type', {}],
      [`"${'x'.repeat(bodyLimit)}"`, json],
    ];
    for (const [body, headers] of bodies) {
      refused(t, await call('POST', '/auth/nothing/', { body, headers }), 404, 'not_found');
    }
    refused(t, await call('GET', '/AUTH/ME/'), 404, 'not_found');
    refused(t, await call('GET', '//auth/me/'), 404, 'not_found');
  });

  t.test('the message is Korean without Accept-Language and English for who prefers it', async (t) => {
    t.match((await call('GET', '/auth/nothing/')).body.message, /[가-힣]/);
    const english = await call('GET', '/auth/nothing/', { headers: { 'accept-language': 'en' } });
    t.equal(english.body.message, 'There is nothing at this path.');
  });

  t.test('a known path with another method is method_not_allowed, with Allow', async (t) => {
    const cases: [string, string, string][] = [
      ['PUT', '/auth/me/', 'GET, HEAD, PATCH, DELETE'],
      ['POST', '/auth/me', 'GET, HEAD, PATCH, DELETE'],
      ['OPTIONS', '/auth/me/', 'GET, HEAD, PATCH, DELETE'],
      ['GET', '/auth/login/', 'POST'],
      ['GET', '/auth/login', 'POST'],
      ['GET', '/auth/login/?next=/auth/me/', 'POST'],
      ['DELETE', '/auth/token/refresh/', 'POST'],
      ['GET', '/auth/sessions/3f1ab0e2-5b1f-4e0e-9a59-0d4a1b2c3d4e/', 'DELETE'],
      ['POST', '/auth/reset-password-validate/', 'GET, HEAD'],
      ['POST', '/health/live', 'GET, HEAD'],
      ['POST', '/metrics', 'GET, HEAD'],
      ['DELETE', '/openapi.yaml', 'GET, HEAD'],
    ];
    for (const [method, path, allow] of cases) {
      const answer = await call(method, path);
      refused(t, answer, 405, 'method_not_allowed');
      t.equal(answer.headers.allow, allow, `${method} ${path}`);
    }
    const withBody = await call('PUT', '/auth/login/', { body: '{', headers: json });
    refused(t, withBody, 405, 'method_not_allowed');
  });

  t.test('HEAD answers as GET does, without a body', async (t) => {
    const head = await call('HEAD', '/health/live');
    t.equal(head.status, 200);
    t.equal(head.text, '');
    const wrong = await call('HEAD', '/auth/login/');
    t.equal(wrong.status, 405);
    t.equal(wrong.headers.allow, 'POST');
    t.equal(wrong.text, '');
    t.equal((await call('HEAD', '/auth/me/')).status, 401);
    t.equal((await call('HEAD', '/auth/nothing/')).status, 404);
  });

  t.test('what cannot be a path is answered like any other path', async (t) => {
    const { token } = await createUser(app);
    for (const path of ['/auth/%zz/', '/%', '/auth/%ff%fe/', '/auth/%c0%af/']) {
      const answer = await call('GET', path, { headers: { 'accept-language': 'en' } });
      refused(t, answer, 404, 'not_found');
      t.equal(answer.headers['content-language'], 'en');
      t.ok(answer.headers['content-security-policy']);
    }
    for (const id of ['%ff', '%', 'a'.repeat(300), 'a'.repeat(7000), '%00', '0', '-1']) {
      const path = `/auth/sessions/${id}/`;
      refused(t, await call('DELETE', path), 401, 'not_authenticated');
      refused(t, await call('DELETE', path, { token }), 404, 'session_not_found');
    }
  });
});

t.test('bodies', async (t) => {
  const app = await createTestApp();
  t.teardown(app.close);
  const { call } = app;
  const logIn = (body: string | Buffer | undefined, headers: Record<string, string> = json) =>
    call('POST', '/auth/login/', { body, headers });

  t.test('JSON in UTF-8 is read under every spelling of its name', async (t) => {
    const types = [
      'application/json',
      'application/json; charset=utf-8',
      'application/json;charset=UTF-8',
      'APPLICATION/JSON; charset="utf-8"',
      'application/json ; charset=utf8',
      'application/json; version=1',
    ];
    for (const type of types) invalid(t, await logIn('{}', { 'content-type': type }), ...required);
  });

  t.test('every other media type is unsupported_media_type', async (t) => {
    const types = [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/octet-stream',
      'application/problem+json',
      'application/vnd.api+json',
      'application/json5',
      'application/jsonx',
      'text/json',
      'json',
      '*/*',
      'application/json, text/plain',
      'application/json; charset=utf-16',
      'application/json; charset=iso-8859-1',
      'application/json; charset="euc-kr"',
    ];
    const body = JSON.stringify({ username: 'nobody', password });
    for (const type of types)
      refused(t, await logIn(body, { 'content-type': type }), 415, 'unsupported_media_type');
    refused(t, await logIn(body, {}), 415, 'unsupported_media_type');
    refused(t, await logIn(body, { 'content-type': '' }), 415, 'unsupported_media_type');
  });

  t.test('what is not JSON is malformed_json', async (t) => {
    const bodies = [
      '{',
      '}',
      '{"username":}',
      '{"username":"a",}',
      "{'username':'a'}",
      '{username:"a"}',
      '{"username":"a"} {}',
      'undefined',
      'NaN',
      '[1,2',
      '"open',
      '{"username":"a\nb"}',
      '\u0000',
      ' ',
      '// comment\n{}',
    ];
    for (const body of bodies) refused(t, await logIn(body), 400, 'malformed_json');
  });

  t.test('what is not UTF-8 is malformed_json', async (t) => {
    const bodies = [
      Buffer.from('{"username":"caf\u00e9"}', 'latin1'),
      Buffer.from('{"username":"a"}', 'utf16le'),
      Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]),
      Buffer.from([0x22, 0xc0, 0xaf, 0x22]),
      Buffer.concat([Buffer.from('{"username":"'), Buffer.from('한').subarray(0, 2), Buffer.from('"}')]),
    ];
    for (const body of bodies) refused(t, await logIn(body), 400, 'malformed_json');
  });

  t.test('no body, an empty one and an empty object name every missing field', async (t) => {
    invalid(t, await logIn(undefined, {}), ...required);
    invalid(t, await logIn(undefined, json), ...required);
    invalid(t, await logIn('', json), ...required);
    invalid(t, await logIn('{}', json), ...required);
  });

  t.test('prototypes cannot be reached', async (t) => {
    const bodies = [
      '{"__proto__":{"isAdmin":true}}',
      '{"username":"a","password":{"__proto__":{"isAdmin":true}}}',
      '{"\\u005f_proto__":{"isAdmin":true}}',
      '{"constructor":{"prototype":{"isAdmin":true}}}',
    ];
    for (const body of bodies) refused(t, await logIn(body), 400, 'malformed_json');
    t.notOk(Object.hasOwn(Object.prototype, 'isAdmin'));
    const unknown = '{"username":"abcd","password":"x","constructor":1,"prototype":2,"toString":3}';
    invalid(t, await logIn(unknown), 'constructor', 'prototype', 'toString');
  });

  t.test('nesting deeper than any schema is malformed_json, at once', async (t) => {
    const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
    invalid(t, await logIn(nested(10)), 'body');
    for (const depth of [20, 1000, 60_000]) {
      const started = performance.now();
      refused(t, await logIn(nested(depth)), 400, 'malformed_json');
      t.ok(performance.now() - started < 500);
    }
    refused(t, await logIn('{"a":'.repeat(20_000)), 400, 'malformed_json');
  });

  t.test('a body above the limit is payload_too_large, one at the limit is read', async (t) => {
    const body = (size: number) => `{"username":"${'a'.repeat(size - 15)}"}`;
    const large = await logIn(body(bodyLimit));
    t.equal(Buffer.byteLength(body(bodyLimit)), bodyLimit);
    invalid(t, large, ...required);
    refused(t, await logIn(body(bodyLimit + 1)), 413, 'payload_too_large');
  });

  t.test('a limit holds for bodies in chunks and for announced ones', async (t) => {
    const port = await listen(app.app);
    const head = 'POST /auth/login/ HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';
    const chunk = `${(64 * 1024).toString(16)}\r\n${' '.repeat(64 * 1024)}\r\n`;
    const chunked = await rawCall(port, `${head}Transfer-Encoding: chunked\r\n\r\n${chunk.repeat(3)}`);
    refused(t, chunked, 413, 'payload_too_large');
    const announced = await rawCall(port, `${head}Content-Length: ${1024 ** 3}\r\n\r\n{`);
    refused(t, announced, 413, 'payload_too_large');
    const small = await rawCall(port, `${head}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`);
    invalid(t, small, ...required);
  });

  t.test('operations without a body still refuse what is no JSON', async (t) => {
    const { token } = await createUser(app);
    const end = (body: string, headers: Record<string, string>) =>
      call('DELETE', '/auth/sessions/', { token, body, headers });
    refused(t, await end('{', json), 400, 'malformed_json');
    refused(t, await end('x', { 'content-type': 'text/plain' }), 415, 'unsupported_media_type');
    t.equal((await end('', json)).status, 200);
    t.equal((await call('DELETE', '/auth/sessions/', { token })).status, 200);
  });
});

t.test('what is not HTTP', async (t) => {
  const app = await createTestApp();
  t.teardown(app.close);
  const port = await listen(app.app);

  const refusedRequest = async (t: Test, data: string, status: number, code: string) => {
    const answer = await rawCall(port, data);
    refused(t, answer, status, code);
    t.match(answer.body.message, /[가-힣]/);
    t.equal(answer.headers.connection, 'close');
    t.ok(answer.closed);
    t.ok(answer.headers.date);
    t.equal(answer.headers['x-content-type-options'], 'nosniff');
    t.equal(answer.headers['cache-control'], 'no-store');
  };

  t.test('a head that cannot be read is malformed_request', async (t) => {
    const chunked = 'POST /auth/login/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n';
    const requests = [
      'GARBAGE\r\n\r\n',
      'GET /auth/me/ HTTP/9.9\r\n\r\n',
      'GET /auth/me/ HTTP/1.1\r\nHost: x\r\nBad Header: 1\r\n\r\n',
      'GET /auth/me/ HTTP/1.1\r\nHost: x\r\nX-A: a\u0000b\r\n\r\n',
      'GET /auth/ me/ HTTP/1.1\r\nHost: x\r\n\r\n',
      'POST /auth/login/ HTTP/1.1\r\nHost: x\r\nContent-Length: nine\r\n\r\n',
      'POST /auth/login/ HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}',
      `${chunked}Content-Length: 2\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
      `${chunked}Content-Type: application/json\r\n\r\nzz\r\n`,
      'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
      'GET /health/live\r\n\r\n',
      'GET /health/live HTTP/1.1\r\nHost: x\r\nhost: y\r\n\r\n',
      'GET /health/live HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n',
      'GET /health/live HTTP/1.0\r\nHost: x\r\nHost: x\r\n\r\n',
      'GET /health/live HTTP/1.1\r\n\r\n',
      'GET /health/live HTTP/1.1\r\nHost: x/y\r\n\r\n',
      'GET /health/live HTTP/1.1\r\nHost: x y\r\n\r\n',
      'POST /auth/login/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
      'CONNECT x:80 HTTP/1.1\r\nHost: x:80\r\n\r\n',
      '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003',
    ];
    for (const request of requests) await refusedRequest(t, request, 400, 'malformed_request');
  });

  t.test('every kind of host is one', async (t) => {
    for (const host of ['x', 'api.example.com:8443', '[::1]:3000', 'xn--2z2bo0a.kr', '127.0.0.1', '']) {
      const head = `GET /health/live HTTP/1.1\r\nHost: ${host}\r\nConnection: close`;
      t.equal((await rawCall(port, `${head}\r\n\r\n`)).status, 200, host);
    }
    const old = await rawCall(port, 'GET /health/live HTTP/1.0\r\n\r\n');
    t.equal(old.status, 200, 'HTTP/1.0 may leave it out');
  });

  t.test('headers above 16 KB are headers_too_large', async (t) => {
    const request = `GET /auth/me/ HTTP/1.1\r\nHost: x\r\nX-Large: ${'a'.repeat(20_000)}\r\n\r\n`;
    await refusedRequest(t, request, 431, 'headers_too_large');
    const path = `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`;
    await refusedRequest(t, path, 431, 'headers_too_large');
  });

  t.test('a request that takes too long is request_timeout', async (t) => {
    t.equal(app.app.server.headersTimeout, 10_000);
    t.equal(app.app.server.requestTimeout, 30_000);
    const accepted = once(app.app.server, 'connection');
    const connection = await rawConnection(port);
    connection.send('POST /auth/login/ HTTP/1.1\r\nHost: x\r\n');
    const [socket] = await accepted;
    // What Node says when the time is up; ten seconds of waiting would show no more.
    const error = Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
    app.app.server.emit('clientError', error, socket);
    const answer = await connection.answer();
    refused(t, answer, 408, 'request_timeout');
    t.ok(answer.closed);
  });

  t.test('the request before it on the same connection gets its own answer', async (t) => {
    const connection = await rawConnection(port);
    connection.send('GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n');
    t.equal((await connection.answer()).status, 200);
    connection.send('GARBAGE\r\n\r\n');
    refused(t, await connection.answer(), 400, 'malformed_request');
  });

  t.test('who goes away in the middle of a body is no failure of the service', async (t) => {
    const connection = await rawConnection(port);
    const linesBefore = app.logs.length;
    const type = 'Content-Type: application/json';
    connection.send(
      `POST /auth/login/ HTTP/1.1\r\nHost: x\r\n${type}\r\nContent-Length: 99\r\n\r\n{"username":`,
    );
    await once(app.app.server, 'request');
    connection.socket.resetAndDestroy();
    const newLines = () => app.logs.slice(linesBefore).map((line) => JSON.parse(line));
    for (let waited = 0; newLines().length === 0 && waited < 5_000; waited += 20) await sleep(20);
    t.match(newLines()[0], { level: 30, code: 'malformed_request' });
    t.strictSame(
      newLines().filter(({ level }) => level > 30),
      [],
    );
  });

  t.test('absolute targets, asterisks and unknown expectations are ordinary requests', async (t) => {
    const end = 'HTTP/1.1\r\nHost: x\r\nConnection: close\r\n';
    const absolute = await rawCall(port, `GET http://x.example/auth/me/ ${end}\r\n`);
    refused(t, absolute, 401, 'not_authenticated');
    t.equal(absolute.headers['cache-control'], 'no-store');
    refused(t, await rawCall(port, `OPTIONS * ${end}\r\n`), 404, 'not_found');
    refused(t, await rawCall(port, `PURGE /auth/me/ ${end}\r\n`), 405, 'method_not_allowed');
    const expecting = await rawCall(port, `GET /auth/me/ ${end}Expect: something\r\n\r\n`);
    refused(t, expecting, 401, 'not_authenticated');
  });
});

t.test('the log of an unexpected error holds nothing of the row that it was about', async (t) => {
  const app = await createTestApp();
  t.teardown(app.close);
  const { token } = await createUser(app, { email: 'canary@example.com' });
  await app.pool.query("ALTER TABLE users ADD CHECK (name <> 'canary-name' AND language <> 'en') NOT VALID");
  const headers = { 'accept-language': 'en' };
  const account = { username: 'canary', email: 'canary-2@example.com', name: 'somebody', password };
  const answers = [
    await app.call('POST', '/auth/signup/', { body: account, headers }),
    await app.call('PATCH', '/auth/me/', { token, body: { name: 'canary-name' } }),
  ];
  for (const answer of answers) refused(t, answer, 500, 'internal_error');
  const log = app.logs.join('');
  t.match(log, 'users_check', 'what went wrong is there');
  t.notMatch(log, /canary|argon2id\$/);
});

t.test('an unexpected error is internal_error, with the request id and nothing of the inside', async (t) => {
  const app = await createTestApp();
  t.teardown(app.close);
  const { token, refresh } = await createUser(app);
  await app.pool.query('ALTER TABLE users RENAME TO lost_users');
  const answers = [
    await app.call('GET', '/auth/me/', { token, headers: { 'x-request-id': 'find-me-1' } }),
    await app.call('POST', '/auth/login/', { body: { username: 'nobody', password } }),
    await app.call('POST', '/auth/token/refresh/', { body: { refresh } }),
  ];
  for (const answer of answers) refused(t, answer, 500, 'internal_error');
  t.equal(answers[0]?.headers['x-request-id'], 'find-me-1');
  const line = app.logs
    .map((log) => JSON.parse(log))
    .find(({ reqId, level }) => reqId === 'find-me-1' && level >= 50);
  t.match(line?.err?.message, /users/, 'the log says what happened');
});
