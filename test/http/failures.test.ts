import { once } from 'node:events';
import t, { type Test } from 'tap';
import { type Answer, createTestApp, createUser, password } from '../support/app.ts';
import { refused } from '../support/assertions.ts';
import { listen, rawCall, rawConnection } from '../support/raw-http.ts';
import { production } from '../support/service.ts';
import { until } from '../support/until.ts';

/** The headers of an answer that do not depend on the request. */
const securityHeadersOf = ({ headers }: Answer) =>
  Object.fromEntries(
    Object.entries(headers).filter(([name]) =>
      /^(x-(?!request-id|ratelimit)|cross-origin-|content-security-|referrer-|origin-agent-|strict-transport-)/.test(
        name,
      ),
    ),
  );

t.test('what is not HTTP', async (t) => {
  const app = await createTestApp();
  t.teardown(app.close);
  const port = await listen(app.app);
  const securityHeaders = securityHeadersOf(await app.call('GET', '/auth/nothing/'));

  const refusedRequest = async (t: Test, data: string, status: number, code: string) => {
    const answer = await rawCall(port, data);
    refused(t, answer, status, code);
    t.match(answer.body.message, /[가-힣]/);
    t.equal(answer.headers.connection, 'close');
    t.ok(answer.closed);
    t.ok(answer.headers.date);
    t.equal(answer.headers['cache-control'], 'no-store');
    t.match(answer.headers, securityHeaders);
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
      '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003',
    ];
    for (const request of requests) await refusedRequest(t, request, 400, 'malformed_request');
  });

  t.test('a request without Host is refused, but not in HTTP/1.0', async (t) => {
    const connection = await rawConnection(port);
    connection.send('GET /health/live HTTP/1.1\r\n\r\n');
    const [data] = await once(connection.socket, 'data');
    t.match(String(data), /^HTTP\/1\.1 400 /);
    connection.socket.destroy();
    t.equal((await rawCall(port, 'GET /health/live HTTP/1.0\r\n\r\n')).status, 200);
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
    // The error that Node emits after the timeout; waiting ten seconds would show the same.
    const error = Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
    app.app.server.emit('clientError', error, socket);
    const answer = await connection.answer();
    refused(t, answer, 408, 'request_timeout');
    t.ok(answer.closed);
  });

  t.test('the request before a malformed one on the same connection gets its own answer', async (t) => {
    const connection = await rawConnection(port);
    connection.send('GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n');
    t.equal((await connection.answer()).status, 200);
    connection.send('GARBAGE\r\n\r\n');
    refused(t, await connection.answer(), 400, 'malformed_request');
  });

  t.test('a client that disconnects in the middle of a body causes no error', async (t) => {
    const connection = await rawConnection(port);
    const linesBefore = app.logs.length;
    const type = 'Content-Type: application/json';
    connection.send(
      `POST /auth/login/ HTTP/1.1\r\nHost: x\r\n${type}\r\nContent-Length: 99\r\n\r\n{"username":`,
    );
    await once(app.app.server, 'request');
    connection.socket.resetAndDestroy();
    const newLines = () => app.logs.slice(linesBefore).map((line) => JSON.parse(line));
    await until('a line in the log', () => newLines().some(({ code }) => code === 'malformed_request'), 5);
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

t.test('what is not HTTP has the security headers and the CORS headers of other answers', async (t) => {
  const origins = ['https://app.example.com', 'https://admin.example.com'];
  const configured: Record<string, Record<string, string>> = {
    none: { CORS_ORIGINS: ',' },
    one: { CORS_ORIGINS: 'https://app.example.com' },
    several: { CORS_ORIGINS: origins.join() },
    production: {
      ...production,
      DATABASE_URL: 'postgresql://db.example.com/dure',
      CORS_ORIGINS: 'https://app.example.com',
    },
  };
  for (const [name, environment] of Object.entries(configured)) {
    const app = await createTestApp({ ...environment, WORKER_ENABLED: 'false' });
    t.teardown(app.close);
    const port = await listen(app.app);
    const corsOf = ({ headers }: Answer) =>
      Object.fromEntries(Object.entries(headers).filter(([header]) => header.startsWith('access-control-')));
    const origin = 'https://app.example.com';
    const expected = await app.call('GET', '/auth/nothing/', { headers: { origin } });
    const send = (line: string, large = '') =>
      rawCall(port, `GET /auth/me/ HTTP/1.1\r\nHost: x\r\n${line}\r\n${large}Bad Header: 1\r\n\r\n`);
    for (const large of ['', `X-Large: ${'a'.repeat(20_000)}\r\n`]) {
      const answer = await send(`Origin: ${origin}`, large);
      t.equal(answer.status, large === '' ? 400 : 431);
      t.strictSame(securityHeadersOf(answer), securityHeadersOf(expected), `${name}: security headers`);
      t.strictSame(corsOf(answer), corsOf(expected), `${name}: CORS headers`);
    }
    const ofStrangers = [
      await send('Origin: https://evil.example.com'),
      await send('Origin: https://app.example.com.evil.com'),
      await send('X-Origin: https://admin.example.com'),
    ];
    for (const stranger of ofStrangers) {
      const allowed = stranger.headers['access-control-allow-origin'];
      t.ok(allowed === undefined || (name !== 'several' && allowed === origin), `${name}: never a stranger`);
    }
    const hasTransport = 'strict-transport-security' in securityHeadersOf(expected);
    t.equal(hasTransport, name === 'production');
  }
});

t.test('the log of an unexpected error has no values of the row', async (t) => {
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

t.test('an unexpected error is internal_error with the request id, and shows no internals', async (t) => {
  const app = await createTestApp();
  t.teardown(app.close);
  const { token, refresh } = await createUser(app);
  await app.pool.query('ALTER TABLE users RENAME TO lost_users');
  const answers = [
    await app.call('GET', '/auth/me/', { token, headers: { 'x-request-id': 'find-me-1' } }),
    await app.call('POST', '/auth/login/', { body: { username: 'unknown', password } }),
    await app.call('POST', '/auth/token/refresh/', { body: { refresh } }),
  ];
  for (const answer of answers) refused(t, answer, 500, 'internal_error');
  t.equal(answers[0]?.headers['x-request-id'], 'find-me-1');
  const line = app.logs
    .map((log) => JSON.parse(log))
    .find(({ reqId, level }) => reqId === 'find-me-1' && level >= 50);
  t.match(line?.err?.message, /users/, 'the log says what happened');
});
