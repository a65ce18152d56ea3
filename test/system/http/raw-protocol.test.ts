import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { createTestApp, createUser, logIn } from '../../support/app.ts';
import { noErrorLogged, rejected } from '../../support/assertions.ts';
import { inParallel } from '../../support/concurrency.ts';
import { listen, rawCall, rawConnection } from '../../support/raw-http.ts';
import { pause } from '../../support/time.ts';
import { holdTimers } from '../../support/timers.ts';
import { until } from '../../support/until.ts';

/** Milliseconds between two looks of the service at a body that it reads. */
const checkInterval = 5_000;

const app = await createTestApp({ WORKER_ENABLED: 'false' });
const { server } = app.app;
// Node reads the interval once, when it starts to listen.
Reflect.set(server, 'connectionsCheckingInterval', 50);
const port = await listen(app.app);
const countConnections = promisify(server.getConnections.bind(server));
const user = await createUser(app, { name: '김두레' });
const { token } = user;

const host = 'Host: x\r\n';
const authorization = `Authorization: Bearer ${token}\r\n`;
const json = 'Content-Type: application/json\r\n';
const chunked = 'Transfer-Encoding: chunked\r\n';
const contentLength = (size: number | string) => `Content-Length: ${size}\r\n`;
const get = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\n${host}${headers}\r\n`;
const getMe = (headers = '') => get('/auth/me/', `${authorization}${headers}`);
const getHealth = get('/health/live');
const postLogin = (headers: string, body = '') =>
  `POST /auth/login/ HTTP/1.1\r\n${host}${json}${headers}\r\n${body}`;
/** A request that an attacker tries to smuggle into the body of another one. */
const smuggled = `PATCH /auth/me/ HTTP/1.1\r\n${host}${authorization}${json}${contentLength(19)}\r\n{"name":"smuggled"}`;

const otherClient = await rawConnection(port);
t.teardown(() => otherClient.socket.destroy());
// Otherwise its first head is late once a test shortens the time for one, which began with the connection.
otherClient.send(getHealth);
await otherClient.response();

/**
 * A test of a misbehaving client. Meanwhile another client gets its responses; afterwards no connection is left open, no smuggled
 * request was executed and no error was logged.
 */
function attack(title: string, run: (t: Test) => Promise<void>): void {
  t.test(title, async (t) => {
    const connections = await countConnections();
    const firstLine = app.logs.length;
    let isOver = false;
    const attacking = run(t).finally(() => (isOver = true));
    await Promise.all([attacking, requestUntil(t, () => isOver)]);
    await until('the connections are closed', async () => (await countConnections()) === connections);
    noErrorLogged(t, app.logs.slice(firstLine));
  });
}

async function requestUntil(t: Test, isOver: () => boolean): Promise<void> {
  for (let isLast = false; !isLast; await sleep(pause)) {
    isLast = isOver();
    otherClient.send(getHealth + getMe());
    const [health, user] = [await otherClient.response(), await otherClient.response()];
    if (health.status === 200 && user.body?.data.name === '김두레') continue;
    t.fail(`the other client gets ${health.text} and ${user.text}`);
    return;
  }
}

/** Asserts that each request is rejected in the envelope, with the headers of all responses, and its connection closed. */
async function allRejected(t: Test, requests: string[], status = 400, code = 'malformed_request') {
  for (const request of requests) {
    const response = await rawCall(port, request);
    rejected(t, response, status, code);
    t.match(response.body.message, /[가-힣]/);
    t.match(response.headers, { connection: 'close', date: /GMT$/, 'cache-control': 'no-store' });
    t.ok(response.closed, JSON.stringify(request.slice(0, 250)));
  }
}

/** Shortens the time for a head, in milliseconds, until the test is over. */
function shortenTimeout(t: Test, headersTimeout: number): void {
  const original = server.headersTimeout;
  t.teardown(() => Object.assign(server, { headersTimeout: original }));
  Object.assign(server, { headersTimeout });
}

attack('a request that is not complete in time is request_timeout', async (t) => {
  t.equal(server.headersTimeout, 10_000);
  const look = holdTimers(t, checkInterval);
  const cases: [what: string, start: string, repeated: string][] = [
    ['no data', '', ''],
    ['empty lines', '', '\r\n'],
    ['an endless target', 'GET /', 'a'],
    ['a header byte by byte', 'GET /auth/me/ HTTP/1.1\r\nX-A: ', 'a'],
    ['endless headers', 'GET /auth/me/ HTTP/1.1\r\n', 'a: b\r\n'],
    ['a head without its last line', getHealth.slice(0, -2), ''],
    ['a missing body', postLogin(contentLength(20)), ''],
    ['a slow body', postLogin(contentLength(2_000), '{'), ' '],
    ['half a chunk', postLogin(chunked, '5\r\n{'), ''],
    ['slow chunks', postLogin(chunked), '1\r\n \r\n'],
    ['slow trailers', postLogin(chunked, '2\r\n{}\r\n0\r\n'), 'a: b\r\n'],
  ];
  let [bodies, answered] = [0, 0];
  const count = ({ url }: IncomingMessage) => (bodies += url === '/auth/login/' ? 1 : 0);
  server.on('request', count);
  t.teardown(() => server.off('request', count));
  const answers = cases.map(async ([what, start, repeated]) => {
    const connection = await rawConnection(port);
    connection.send(start);
    const sending = setInterval(() => connection.socket.writable && connection.send(repeated), pause);
    const response = await connection.response();
    clearInterval(sending);
    answered++;
    t.ok(response.closed, what);
    rejected(t, response, 408, 'request_timeout');
  });
  await until('the heads of the bodies', () => bodies === 5);
  shortenTimeout(t, 600);
  await until('the heads that are too late', () => answered === 6);
  for (let seconds = 5; seconds < 30; seconds += 5) look();
  t.equal(answered, 6, 'a body has 30 seconds');
  look();
  await Promise.all(answers);
});

attack('a head above 16 KB is headers_too_large, or uri_too_long', async (t) => {
  const texts = [20_000, 100_000].map((size) => 'a'.repeat(size));
  const requests = texts.flatMap((text) => [getMe(`X-A: ${text}\r\n`), getMe(`${text}: b\r\n`)]);
  await allRejected(t, [...requests, getMe('X-A: b\r\n'.repeat(5_000))], 431, 'headers_too_large');
  const targets = texts.map((text) => get(`/${text}`));
  await allRejected(t, targets, 414, 'uri_too_long');
  t.equal((await rawCall(port, getMe(`X-A: ${'a'.repeat(10_240)}\r\nConnection: close\r\n`))).status, 200);
});

attack('a request with ambiguous framing is rejected, and a smuggled one is not executed', async (t) => {
  const size = smuggled.length;
  const lengths = ['nine', '0, 9', '-1', '+0', '0x0', '0 0', '0.0', '1e0', '0;', '', '18446744073709551616'];
  const codings = ['chunked, identity', 'identity', 'xchunked', 'gzip', '"chunked"', '', 'chunked,'];
  const chunkSizes = ['zz', '-0', '+0', '0x0', ' 0', '', '0\n', '0;\n', 'fffffffffffffffff0'];
  await allRejected(t, [
    ...[contentLength(5) + chunked, chunked + contentLength(5)].map((both) =>
      postLogin(both, `0\r\n\r\n${smuggled}`),
    ),
    ...[contentLength(0) + contentLength(size), contentLength(size).repeat(2)].map((two) =>
      postLogin(two, smuggled),
    ),
    ...lengths.map((length) => postLogin(contentLength(length), smuggled)),
    ...codings.map((coding) => postLogin(`Transfer-Encoding: ${coding}\r\n`, `0\r\n\r\n${smuggled}`)),
    ...chunkSizes.map((first) => postLogin(chunked, `${first}\r\n\r\n${smuggled}`)),
    postLogin('Transfer-Encoding : chunked\r\n', `0\r\n\r\n${smuggled}`),
    postLogin('X-A: b\nTransfer-Encoding: chunked\r\n', `0\r\n\r\n${smuggled}`),
  ]);
});

attack('a head with invalid syntax is malformed_request', async (t) => {
  const controls = ['\0', '\x01', '\b', '\v', '\f', '\r', '\x1b', '\x7f'];
  const lines = ['X A: b', 'X-A : b', ': b', 'nothing', 'X(A): b', 'X-A: b\r\n c'];
  const versions = ['HTTP/1.2', 'HTTP/9.9', 'HTTP/01.1', 'http/1.1', 'HTTPS/1.1'];
  await allRejected(t, [
    ...controls.map((control) => getMe(`X-A: a${control}b\r\n`)),
    ...lines.map((line) => getMe(`${line}\r\n`)),
    ...versions.map((version) => getHealth.replace('HTTP/1.1', version)),
    getHealth.replaceAll('\r\n', '\n'),
    'GARBAGE\r\n\r\n',
    get('/auth/ me/'),
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    'SSH-2.0-OpenSSH_9.6\r\n',
    '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003',
  ]);
});

attack('connections that are reset at any point', async () => {
  const stream = get('/api/v1/notifications/stream/', authorization);
  const wrongLogin = '{"username":"unknown","password":"gimbap-and-coffee-7"}';
  const halves = ['', 'GET /auth/m', postLogin(contentLength(20), '{'), postLogin(chunked, '5\r\n{')];
  const requests = [getMe(), postLogin(contentLength(wrongLogin.length), wrongLogin), stream];
  for (const data of [...halves, ...requests]) {
    await inParallel(20, async (index) => {
      const { socket, send } = await rawConnection(port);
      send(data);
      // Some at once, some after the server has read the data, and streams in the middle of the response.
      if (data === stream) await once(socket, 'data');
      else await sleep(index % 10);
      socket.resetAndDestroy();
    });
  }
});

attack('hundreds of silent connections are closed in time', async (t) => {
  const silent = await inParallel(200, () => rawConnection(port));
  shortenTimeout(t, 500);
  for (const response of await Promise.all(silent.map((one) => one.response())))
    t.equal(response.status, 408);
});

t.test('a request without Host or with two is rejected, but not in HTTP/1.0', async (t) => {
  const connection = await rawConnection(port);
  connection.send('GET /health/live HTTP/1.1\r\n\r\n');
  const [data] = await once(connection.socket, 'data');
  t.match(String(data), /^HTTP\/1\.1 400 /);
  connection.socket.destroy();
  t.equal((await rawCall(port, 'GET /health/live HTTP/1.0\r\n\r\n')).status, 200);
  rejected(t, await rawCall(port, getMe('hOST: y\r\n')), 400, 'malformed_request');
});

t.test('the request before a malformed one on the same connection gets its own response', async (t) => {
  const connection = await rawConnection(port);
  connection.send(getHealth);
  t.equal((await connection.response()).status, 200);
  connection.send('GARBAGE\r\n\r\n');
  rejected(t, await connection.response(), 400, 'malformed_request');
});

t.test('a client that disconnects in the middle of a body causes no error', async (t) => {
  const connection = await rawConnection(port);
  const linesBefore = app.logs.length;
  connection.send(postLogin(contentLength(99), '{"username":'));
  await once(server, 'request');
  connection.socket.resetAndDestroy();
  const newLines = () => app.logs.slice(linesBefore).map((line) => JSON.parse(line));
  await until('a line in the log', () => newLines().some(({ code }) => code === 'malformed_request'));
  t.notOk(newLines().some(({ level }) => level > 30));
});

t.test('absolute targets, asterisks and unknown expectations are ordinary requests', async (t) => {
  const end = `HTTP/1.1\r\n${host}Connection: close\r\n`;
  const absolute = await rawCall(port, `GET http://x.example/auth/me/ ${end}\r\n`);
  rejected(t, absolute, 401, 'not_authenticated');
  t.equal(absolute.headers['cache-control'], 'no-store');
  rejected(t, await rawCall(port, `OPTIONS * ${end}\r\n`), 404, 'not_found');
  rejected(t, await rawCall(port, `PURGE /auth/me/ ${end}\r\n`), 405, 'method_not_allowed');
  const expecting = await rawCall(port, `GET /auth/me/ ${end}Expect: something\r\n\r\n`);
  rejected(t, expecting, 401, 'not_authenticated');
});

t.test('dots in a path are an id like any other, and end no session', async (t) => {
  const { token: other } = await logIn(app, user);
  for (const segment of ['.', '..', '%2e', '%2E%2e', '']) {
    const path = `/auth/sessions/${segment}/`;
    const response = await rawCall(port, `DELETE ${path} HTTP/1.1\r\n${host}${authorization}\r\n`);
    rejected(t, response, 404, 'session_not_found');
  }
  t.equal((await app.call('GET', '/auth/me/', { token: other })).status, 200);
});

t.test('the smuggled request is executed when it is sent openly', async (t) => {
  t.equal((await rawCall(port, smuggled)).body.data.name, 'smuggled');
});
