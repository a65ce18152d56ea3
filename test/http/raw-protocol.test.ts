import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { createTestApp, createUser, password } from '../support/app.ts';
import { listen, type RawConnection, rawCall, rawConnection, refused } from './http-support.ts';

const app = await createTestApp({ WORKER_ENABLED: 'false' });
t.teardown(app.close);
const { server } = app.app;
const usualCheck = Reflect.get(server, 'connectionsCheckingInterval');
// How often Node looks for connections whose time is up; it is read once, when the server starts to listen.
Reflect.set(server, 'connectionsCheckingInterval', 50);
const port = await listen(app.app);
const countConnections = promisify(server.getConnections.bind(server));
const { token } = await createUser(app, { name: '김두레' });

const host = 'Host: x\r\n';
const signedIn = `Authorization: Bearer ${token}\r\n`;
const json = 'Content-Type: application/json\r\n';
const chunked = 'Transfer-Encoding: chunked\r\n';
const get = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\n${host}${headers}\r\n`;
const me = (headers = '') => get('/auth/me/', `${signedIn}${headers}`);
const logIn = (headers: string, body = '') =>
  `POST /auth/login/ HTTP/1.1\r\n${host}${json}${headers}\r\n${body}`;
const sized = (body: string) => logIn(`Content-Length: ${body.length}\r\n`, body);
const live = get('/health/live');
const wrongLogIn = sized(JSON.stringify({ username: 'nobody', password }));
/** Nobody may be able to hide this in another request. */
const rename = (name: string) =>
  `PATCH /auth/me/ HTTP/1.1\r\n${host}${signedIn}${json}Content-Length: ${name.length + 11}\r\n\r\n{"name":"${name}"}`;
const hidden = rename('smuggled');

const bystander = await rawConnection(port);
t.teardown(() => bystander.socket.destroy());

/**
 * A test of what a client does wrong. Meanwhile and afterwards somebody else gets his answers on a connection of his own, no
 * connection stays, nobody is renamed, and the log holds no error: it is the client's.
 */
function attack(title: string, run: (t: Test) => Promise<void>): void {
  t.test(title, async (t) => {
    const before = await countConnections();
    const logged = app.logs.length;
    let over = false;
    const attacked = run(t).finally(() => {
      over = true;
    });
    const others = askUntil(t, () => over);
    await Promise.all([attacked, others]);
    for (let waited = 0; (await countConnections()) !== before && waited < 5_000; waited += 20)
      await sleep(20);
    t.equal(await countConnections(), before, 'no connection stays');
    const errors = app.logs.slice(logged).filter((line) => JSON.parse(line).level >= 50);
    t.strictSame(errors, [], 'no error is logged');
  });
}

async function askUntil(t: Test, isOver: () => boolean): Promise<void> {
  for (let last = false; !last; await sleep(5)) {
    last = isOver();
    bystander.send(live);
    const health = await bystander.answer();
    bystander.send(me());
    const user = await bystander.answer();
    if (health.status === 200 && user.body?.data.name === '김두레') continue;
    t.fail(`somebody else gets ${health.text} and ${user.text}`);
    return;
  }
}

/** Asserts that each of these is refused in the envelope, and its connection closed. */
async function allRefused(t: Test, requests: string[], status = 400, code = 'malformed_request') {
  for (const request of requests) {
    const answer = await rawCall(port, request).catch((error: Error) => ({
      ...{ status: 0, headers: {}, body: null, text: error.message, closed: false },
    }));
    t.comment(JSON.stringify(request.slice(0, 160)));
    refused(t, answer, status, code);
    t.ok(answer.closed, JSON.stringify(request.slice(0, 160)));
  }
}

/** The answer after `100 Continue`, if there is one. */
async function finalAnswer(connection: RawConnection) {
  const answer = await connection.answer();
  return answer.status === 100 ? connection.answer() : answer;
}

/** The statuses of what is answered to all this on one connection, until it is closed or `count` are there. */
async function statuses(data: string, count: number, end = false): Promise<number[]> {
  const connection = await rawConnection(port);
  connection.send(data);
  if (end) connection.socket.end();
  const found: number[] = [];
  while (found.length < count) {
    const answer = await connection.answer().catch(() => undefined);
    if (answer === undefined) break;
    found.push(answer.status);
  }
  connection.socket.destroy();
  return found;
}

attack('a request that does not come to its end in time is request_timeout', async (t) => {
  t.ok(usualCheck <= 2_000, 'Node looks every two seconds');
  const { headersTimeout, requestTimeout } = server;
  t.teardown(() => Object.assign(server, { headersTimeout, requestTimeout }));
  Object.assign(server, { headersTimeout: 600, requestTimeout: 1_200 });
  const cases: [what: string, start: string, drop: string][] = [
    ['nothing at all', '', ''],
    ['only empty lines', '', '\r\n'],
    ['a method without an end', '', 'G'],
    ['a target without an end', 'GET /', 'a'],
    ['a head a byte at a time', 'GET /auth/me/ HTTP/1.1\r\nX-A: ', 'a'],
    ['headers without an end', 'GET /auth/me/ HTTP/1.1\r\n', 'a: b\r\n'],
    ['a head that stops before its last line', live.slice(0, -2), ''],
    ['HTTP/0.9, which has no headers', 'GET /health/live\r\n', ''],
    ['no body', logIn('Content-Length: 20\r\n'), ''],
    ['a body that drips', logIn('Content-Length: 2000\r\n', '{'), ' '],
    ['no body where it is asked for', logIn('Content-Length: 20\r\nExpect: 100-continue\r\n'), ''],
    ['no chunk', logIn(chunked), ''],
    ['half a chunk', logIn(chunked, '5\r\n{'), ''],
    ['a chunk without a size', logIn(chunked), '0'],
    ['chunks that drip', logIn(chunked), '1\r\n \r\n'],
    ['a trailer that drips', logIn(chunked, '2\r\n{}\r\n0\r\n'), 'a: b\r\n'],
  ];
  await Promise.all(
    cases.map(async ([what, start, drop]) => {
      const connection = await rawConnection(port);
      connection.send(start);
      const dripping = setInterval(() => drop && connection.socket.writable && connection.send(drop), 40);
      const answer = await finalAnswer(connection).finally(() => clearInterval(dripping));
      t.equal(answer.closed, true, what);
      refused(t, answer, 408, 'request_timeout');
    }),
  );
  const second = await rawConnection(port);
  second.send(`${live}GET /auth`);
  t.equal((await second.answer()).status, 200, 'the request before it has its answer');
  refused(t, await second.answer(), 408, 'request_timeout');
  const early = await rawConnection(port);
  early.send(`PATCH /auth/me/ HTTP/1.1\r\n${host}${json}Content-Length: 20\r\n\r\n`);
  refused(t, await early.answer(), 401, 'not_authenticated');
  if (!early.socket.closed) await once(early.socket, 'close');
});

attack('a head above 16 KB is headers_too_large, one below is read', async (t) => {
  const requests = [
    ...[20_000, 100_000, 1_000_000].flatMap((size) => [
      me(`X-Large: ${'a'.repeat(size)}\r\n`),
      get(`/auth/${'a'.repeat(size)}`),
      get(`/auth/me/?a=${'%41'.repeat(size / 3)}`),
    ]),
    me(`${'a'.repeat(20_000)}: b\r\n`),
    me('X-A: b\r\n'.repeat(5_000)),
    `GET /${'a'.repeat(100_000)}`,
    logIn(chunked, `2\r\n{}\r\n0\r\nX-Trailer: ${'a'.repeat(100_000)}\r\n\r\n`),
  ];
  await allRefused(t, requests, 431, 'headers_too_large');
  t.strictSame(await statuses(me(`X-A: ${'a'.repeat(10_000)}\r\n`).repeat(2), 2), [200, 200]);
  t.strictSame(await statuses(get(`/auth/${'a'.repeat(10_240)}`).repeat(2), 2), [404, 404]);
});

attack('no header is passed over because there are many', async (t) => {
  const [status] = await statuses(get('/auth/me/', `${'a:\r\n'.repeat(2_500)}${signedIn}`), 1);
  t.ok(status === 200 || status === 431, `${status}`);
});

attack(
  'two readings of where a request ends are one refusal, and no request in between is done',
  async (t) => {
    const length = `Content-Length: ${hidden.length}\r\n`;
    const chunks = `0\r\n\r\n${hidden}`;
    const whole = `${hidden.length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n`;
    await allRefused(t, [
      logIn(`Content-Length: 5\r\n${chunked}`, chunks),
      logIn(`${chunked}Content-Length: 5\r\n`, chunks),
      logIn(`${chunked}Content-Length: 4\r\n`, whole),
      logIn(`Content-Length: 0\r\n${length}`, hidden),
      logIn(`${length}Content-Length: 0\r\n`, hidden),
      logIn(`${length}${length}`, hidden),
      ...[
        `0, ${hidden.length}`,
        '-1',
        '+0',
        '0x0',
        '0 0',
        '0.0',
        '1e0',
        '0;',
        '',
        '18446744073709551616',
      ].map((value) => logIn(`Content-Length: ${value}\r\n`, hidden)),
      ...[
        'chunked, identity',
        'identity',
        'xchunked',
        'chunkedx',
        'chunked;q=1',
        '"chunked"',
        'chun ked',
      ].map((value) => logIn(`Transfer-Encoding: ${value}\r\n`, chunks)),
      ...['chunked\t', '\vchunked', 'chunked\0', 'chunked, chunked', 'chunked,', 'gzip', ''].map((value) =>
        logIn(`Transfer-Encoding: ${value}\r\n`, chunks),
      ),
      logIn(`${length}Transfer-Encoding: identity\r\n`, hidden),
      logIn(`${chunked}Transfer-Encoding: identity\r\n`, chunks),
      logIn('Transfer-Encoding : chunked\r\n', chunks),
      logIn('Transfer-Encoding:\r\n chunked\r\n', chunks),
      logIn('Content-Length : 0\r\n', hidden),
      logIn('Content-Length:\r\n 0\r\n', hidden),
      logIn('X-A: b\nTransfer-Encoding: chunked\r\n', chunks),
      logIn('X-A: b\rTransfer-Encoding: chunked\r\n', chunks),
      ...[
        'zz',
        '-0',
        '+0',
        '0x0',
        ' 0',
        '0 ',
        '',
        '0\n',
        '0;\n',
        'fffffffffffffffff0',
        `0;${'a'.repeat(99_999)}`,
      ].map((size) => logIn(chunked, `${size}\r\n\r\n${hidden}`)),
      logIn(chunked, `2\r\n{}0\r\n\r\n${hidden}`),
      logIn(chunked, `2\n{}\r\n0\r\n\r\n${hidden}`),
      logIn(chunked, `0\n\n${hidden}`),
      logIn(chunked, `0\r\nContent-Length: 5\r\n\r\n${hidden}`),
      me(`Transfer-Encoding: xchunked\r\n`) + hidden,
    ]);
    // Whoever answers a request line without a body must read past it all the same.
    for (const body of [
      `${length}\r\n${hidden}`,
      `${chunked}\r\n${whole}`,
      `\tX\r\n${length}\r\n${hidden}`,
    ].slice(0, 2)) {
      t.strictSame(await statuses(`${me().slice(0, -2)}${body}${live}`, 2), [200, 200]);
    }
    for (const value of ['chunked ', ' \t chunked', 'CHUNKED', 'identity, chunked'])
      t.strictSame(
        await statuses(logIn(`Transfer-Encoding: ${value}\r\n`, `2\r\n{}\r\n0\r\n\r\n${live}`), 2),
        [400, 200],
      );
  },
);

attack('what the grammar of a head does not know is malformed_request', async (t) => {
  const controls = ['\0', '\x01', '\b', '\v', '\f', '\r', '\x1b', '\x7f'];
  await allRefused(t, [
    ...controls.flatMap((one) => [me(`X-A: a${one}b\r\n`), me(`X${one}A: b\r\n`), get(`/health${one}/live`)]),
    ...['X A: b', 'X-A : b', 'X-A\t: b', ': b', 'nothing', 'X(A): b', 'X-A: b\n'].map((line) =>
      me(`${line}\r\n`),
    ),
    live.replaceAll('\r\n', '\n'),
    live.replace('\r\n', '\n'),
    live.replace(/\r\n$/, '\n'),
    live.replaceAll('\r\n', '\r'),
    me('X-A: b\r\n c\r\n'),
    me('X-A: b\r\n\tc\r\n'),
    'GET /health/live HTTP/1.1\r\n Host: x\r\n\r\n',
    'get /health/live HTTP/1.1\r\nHost: x\r\n\r\n',
    'GET x:80 HTTP/1.1\r\nHost: x:80\r\n\r\n',
  ]);
  t.strictSame(await statuses(me('X-A: a\tb\r\n'), 1), [200], 'a tab is one of its spaces');
});

attack('a request has one Host, and it is the name of one', async (t) => {
  await allRefused(t, [
    me(host),
    me('Host: y\r\n'),
    me('HOST: x\r\n'),
    `GET /auth/me/ HTTP/1.1\r\n${signedIn}\r\n`,
    `GET /auth/me/ HTTP/1.0\r\n${host}${host}${signedIn}\r\n`,
    `GET http://x/auth/me/ HTTP/1.1\r\n${host}${host}${signedIn}\r\n`,
    ...['a b', 'x/y', 'user@x', 'x, y', 'x:port', '<x>'].map((name) => live.replace('x', name)),
  ]);
  const names = [
    'x',
    'x:3000',
    '127.0.0.1:80',
    '[::1]:3000',
    'xn--9n2bp8q.example',
    'a_b.example.',
    'x:',
    '',
  ];
  for (const name of names) t.strictSame(await statuses(live.replace('x', name), 1), [200], name);
  const other = 'http://other.example/auth/me/';
  t.strictSame(await statuses(get(other, signedIn).repeat(2), 2), [200, 200], 'an absolute target');
});

attack('other protocols and versions are malformed_request, HTTP/1.0 is answered', async (t) => {
  await allRefused(t, [
    'GET /health/live\r\n\r\n',
    ...['HTTP/0.9', 'HTTP/1.2', 'HTTP/2.0', 'HTTP/3.0', 'HTTP/01.1', 'http/1.1', 'HTTPS/1.1', 'HTTP/1'].map(
      (version) => live.replace('HTTP/1.1', version),
    ),
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0',
    '\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03',
    'SSH-2.0-OpenSSH_9.6\r\n',
    'EHLO example.com\r\n',
  ]);
  t.strictSame(await statuses('GET /health/live HTTP/1.0\r\n\r\n', 2), [200], 'and its connection closed');
  const tunnel = `CONNECT other.example:443 HTTP/1.1\r\nHost: other.example:443\r\n\r\n${hidden}`;
  t.strictSame(await statuses(tunnel, 1), [], 'nobody is connected through');
});

attack('upgrades are not offered, and expectations met or passed over', async (t) => {
  for (const protocol of ['h2c', 'websocket', 'TLS/1.0']) {
    const connection = await rawConnection(port);
    for (const request of [me(`Connection: Upgrade\r\nUpgrade: ${protocol}\r\n`), live]) {
      connection.send(request);
      t.equal((await connection.answer()).status, 200, protocol);
    }
    connection.socket.destroy();
  }
  const expect = 'Expect: 100-continue\r\n';
  t.strictSame(await statuses(logIn(`${expect}Content-Length: 2\r\n`, '{}') + live, 3), [100, 400, 200]);
  t.strictSame(await statuses(logIn(`${expect}Content-Length: 200000\r\n`), 3), [100, 413]);
  t.strictSame(await statuses(logIn('Expect: 200-ok\r\nContent-Length: 2\r\n', '{}') + live, 2), [400, 200]);
});

attack('requests in a row are answered in their order', async (t) => {
  const connection = await rawConnection(port);
  const requests = Array.from({ length: 60 }, (_, index) => [live, wrongLogIn, me()][index % 3] ?? live);
  connection.send(
    requests.map((one, index) => one.replace(host, `${host}X-Request-Id: ${index}\r\n`)).join(''),
  );
  for (const [index] of requests.entries()) {
    const { status, headers } = await connection.answer();
    t.strictSame([status, headers['x-request-id']], [[200, 401, 200][index % 3], `${index}`]);
  }
  connection.socket.destroy();
});

attack('a bad request does not harm the ones before it, and those behind it are not done', async (t) => {
  const cases: [what: string, data: string, expected: number[]][] = [
    ['what is no request', `GARBAGE\r\n\r\n${hidden}`, [400]],
    ['a head that is too large', `${me(`X-A: ${'a'.repeat(20_000)}\r\n`)}${hidden}`, [431]],
    ['two lengths', logIn('Content-Length: 0\r\nContent-Length: 5\r\n', hidden), [400]],
    ['a broken chunk', `${logIn(chunked, 'zz\r\n')}${hidden}`, [400]],
    ['no Host', `GET /auth/me/ HTTP/1.1\r\n${signedIn}\r\n`, [400]],
  ];
  for (const [what, data, expected] of cases) {
    for (const first of [[me()], [wrongLogIn], [live, me(), wrongLogIn, live]]) {
      const good = first.map((one) => (one === wrongLogIn ? 401 : 200));
      t.strictSame(await statuses(first.join('') + data, 9), [...good, ...expected], what);
    }
  }
  const last = me('Connection: close\r\n');
  t.equal((await statuses(last + hidden, 9))[0], 200, 'nothing follows the last request');
  t.equal((await statuses(`${wrongLogIn}{}`, 9))[0], 401, 'nor a body that is over');
});

attack('a client that has said all gets its answers; one that stops in the middle is refused', async (t) => {
  t.strictSame(await statuses(me(), 2, true), [200]);
  t.strictSame(await statuses(wrongLogIn, 2, true), [401]);
  t.strictSame(await statuses(me() + wrongLogIn + live, 4, true), [200, 401, 200]);
  t.strictSame(await statuses('', 1, true), [], 'nothing needs no answer');
  const halves = [
    'GET /health/li',
    live.slice(0, -2),
    logIn('Content-Length: 20\r\n', '{'),
    logIn(chunked, '5\r\n{'),
  ];
  for (const half of halves) {
    t.strictSame(await statuses(half, 2, true), [400]);
    t.strictSame(await statuses(me() + half, 3, true), [200, 400], 'but not the request before it');
  }
});

attack('connections that are reset, wherever they are', async () => {
  const cases: [data: string, isAnswering: boolean][] = [
    ['', false],
    ['GET /auth/m', false],
    [logIn('Content-Length: 20\r\n', '{'), false],
    [logIn(chunked, '5\r\n{'), false],
    [me(), false],
    [wrongLogIn, false],
    [get('/openapi.json').repeat(20), true],
    [get('/api/v1/notifications/stream/', signedIn), true],
  ];
  for (const [data, isAnswering] of cases) {
    const resets = Array.from({ length: 50 }, async (_, index) => {
      const { socket, send } = await rawConnection(port);
      send(data);
      // Some at once, and some when the server has seen what was sent.
      if (isAnswering) await once(socket, 'data');
      else await sleep(index % 10);
      socket.resetAndDestroy();
    });
    await Promise.all(resets);
  }
});

attack('hundreds of connections that say nothing', async (t) => {
  const { headersTimeout } = server;
  t.teardown(() => Object.assign(server, { headersTimeout }));
  const before = await countConnections();
  const idle = await Promise.all(Array.from({ length: 400 }, () => rawConnection(port)));
  t.equal(await countConnections(), before + idle.length);
  server.headersTimeout = 500;
  for (const answer of await Promise.all(idle.map((one) => one.answer()))) t.equal(answer.status, 408);
});

t.test('whoever has the right to can do what nobody could hide', async (t) => {
  t.equal((await rawCall(port, hidden)).body.data.name, 'smuggled');
});
