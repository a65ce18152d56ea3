import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { createTestApp, createUser } from '../support/app.ts';
import { refused } from '../support/assertions.ts';
import { inParallel } from '../support/concurrency.ts';
import { listen, rawCall, rawConnection } from '../support/raw-http.ts';

const app = await createTestApp({ WORKER_ENABLED: 'false' });
t.teardown(app.close);
const { server } = app.app;
const usualInterval = Reflect.get(server, 'connectionsCheckingInterval');
// How often Node looks for connections whose time is up; it reads this once, when it begins to listen.
Reflect.set(server, 'connectionsCheckingInterval', 50);
const port = await listen(app.app);
const countConnections = promisify(server.getConnections.bind(server));
const { token } = await createUser(app, { name: '김두레' });

const host = 'Host: x\r\n';
const signedIn = `Authorization: Bearer ${token}\r\n`;
const json = 'Content-Type: application/json\r\n';
const chunked = 'Transfer-Encoding: chunked\r\n';
const continued = 'Expect: 100-continue\r\n';
const get = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\n${host}${headers}\r\n`;
const me = (headers = '') => get('/auth/me/', `${signedIn}${headers}`);
const live = get('/health/live');
const announce = (size: number | string) => `Content-Length: ${size}\r\n`;
const logIn = (headers: string, body = '') =>
  `POST /auth/login/ HTTP/1.1\r\n${host}${json}${headers}\r\n${body}`;
let strangers = 0;
/** A login that costs a hash, and is answered with 401. */
function wrongLogIn(): string {
  const body = `{"username":"nobody${strangers++}","password":"gimbap-and-coffee-7"}`;
  return logIn(announce(body.length), body);
}
/** What nobody may be able to hide in another request. */
const hidden = `PATCH /auth/me/ HTTP/1.1\r\n${host}${signedIn}${json}${announce(19)}\r\n{"name":"smuggled"}`;

const bystander = await rawConnection(port);
t.teardown(() => bystander.socket.destroy());

/**
 * A test of what one client does wrong. Meanwhile and afterwards another one gets its answers on a connection of its own. No
 * connection stays, no hidden request is done, and the log holds no error: it is the client's.
 */
function attack(title: string, run: (t: Test) => Promise<void>): void {
  t.test(title, async (t) => {
    const connections = await countConnections();
    const logged = app.logs.length;
    let over = false;
    await Promise.all([run(t).finally(() => (over = true)), askUntil(t, () => over)]);
    await connected(t, connections);
    const errors = app.logs.slice(logged).filter((line) => JSON.parse(line).level >= 50);
    t.strictSame(errors, [], 'no error is logged');
  });
}

async function askUntil(t: Test, isOver: () => boolean): Promise<void> {
  for (let last = false; !last; await sleep(5)) {
    last = isOver();
    bystander.send(live + me());
    const [health, user] = [await bystander.answer(), await bystander.answer()];
    if (health.status === 200 && user.body?.data.name === '김두레') continue;
    t.fail(`somebody else gets ${health.text} and ${user.text}`);
    return;
  }
}

async function connected(t: Test, count: number): Promise<void> {
  for (let waited = 0; (await countConnections()) !== count && waited < 5_000; waited += 20) await sleep(20);
  t.equal(await countConnections(), count, 'open connections');
}

/** Asserts that each of these is refused in the envelope, and its connection closed. */
async function allRefused(t: Test, requests: string[], status = 400, code = 'malformed_request') {
  for (const request of requests) {
    const about = JSON.stringify(request.slice(0, 250));
    const answer = await rawCall(port, request).catch((error: Error) => error);
    if (answer instanceof Error) {
      t.fail(`${about}: ${answer.message}`);
      continue;
    }
    t.equal(answer.body?.data?.code, code, about);
    refused(t, answer, status, code);
    t.ok(answer.closed, about);
  }
}

/** The statuses of what is answered to all this on one connection, until it is closed or `count` of them are there. */
async function statuses(data: string, count = 9, end = false): Promise<number[]> {
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

/** Gives requests and what they announce less time, until the test is over. */
function shorten(t: Test, headersTimeout: number, requestTimeout: number): void {
  const usual = { headersTimeout: server.headersTimeout, requestTimeout: server.requestTimeout };
  t.teardown(() => Object.assign(server, usual));
  Object.assign(server, { headersTimeout, requestTimeout });
}

attack('a request that does not come to its end in time is request_timeout', async (t) => {
  t.ok(usualInterval <= 2_000, 'time that is up is noticed within two seconds');
  shorten(t, 600, 1_200);
  const cases: [what: string, start: string, drop: string][] = [
    ['nothing at all', '', ''],
    ['only empty lines', '', '\r\n'],
    ['a target without an end', 'GET /', 'a'],
    ['a head a byte at a time', 'GET /auth/me/ HTTP/1.1\r\nX-A: ', 'a'],
    ['headers without an end', 'GET /auth/me/ HTTP/1.1\r\n', 'a: b\r\n'],
    ['a head that stops before its last line', live.slice(0, -2), ''],
    ['HTTP/0.9, which has no headers', 'GET /health/live\r\n', ''],
    ['no body', logIn(announce(20)), ''],
    ['a body that drips', logIn(announce(2_000), '{'), ' '],
    ['no body after it was asked for', logIn(announce(20) + continued), ''],
    ['half a chunk', logIn(chunked, '5\r\n{'), ''],
    ['a chunk whose size has no end', logIn(chunked), '0'],
    ['chunks that drip', logIn(chunked), '1\r\n \r\n'],
    ['a trailer that drips', logIn(chunked, '2\r\n{}\r\n0\r\n'), 'a: b\r\n'],
    ['a second head', `${live}GET /auth`, ''],
  ];
  const takeTooLong = cases.map(async ([what, start, drop]) => {
    const connection = await rawConnection(port);
    connection.send(start);
    const dripping = setInterval(() => connection.socket.writable && connection.send(drop), 40);
    let answer = await connection.answer();
    if (answer.status < 300) answer = await connection.answer();
    clearInterval(dripping);
    t.ok(answer.closed, what);
    refused(t, answer, 408, 'request_timeout');
  });
  await Promise.all(takeTooLong);
  const early = await rawConnection(port);
  early.send(`PATCH /auth/me/ HTTP/1.1\r\n${host}${json}${announce(20)}\r\n`);
  refused(t, await early.answer(), 401, 'not_authenticated');
  if (!early.socket.closed) await once(early.socket, 'close');
});

attack('a head above 16 KB is headers_too_large, one below is read to its end', async (t) => {
  const sizes = [20_000, 100_000, 1_000_000].map((size) => 'a'.repeat(size));
  await allRefused(
    t,
    [
      ...sizes.flatMap((text) => [
        me(`X-A: ${text}\r\n`),
        me(`${text}: b\r\n`),
        get(`/${text}`),
        `GET /${text}`,
      ]),
      get(`/auth/me/?a=${'%41'.repeat(6_000)}`, signedIn),
      me('X-A: b\r\n'.repeat(5_000)),
      logIn(chunked, `2\r\n{}\r\n0\r\nX-A: ${sizes[1]}\r\n\r\n`),
    ],
    431,
    'headers_too_large',
  );
  t.strictSame(await statuses(me(`X-A: ${'a'.repeat(10_240)}\r\n`).repeat(2), 2), [200, 200]);
  t.strictSame(await statuses(get(`/auth/${'a'.repeat(10_240)}`).repeat(2), 2), [404, 404]);
  const [status = 0] = await statuses(get('/auth/me/', `${'a:\r\n'.repeat(2_500)}${signedIn}`), 1);
  t.ok([200, 431].includes(status), `${status}: no header is passed over because there are many`);
});

attack(
  'a request whose end can be read in two ways is refused, and none that it hides is done',
  async (t) => {
    const whole = announce(hidden.length);
    const size = hidden.length.toString(16);
    const lengths = `0, ${hidden.length}|-1|+0|0x0|0 0|0.0|1e0|0;||18446744073709551616`.split('|');
    const codings =
      'chunked, identity|identity, chunked|identity|xchunked|chunkedx|gzip|chunked;q=1|"chunked"|';
    const spaced = ['chun ked', 'chunked\t', '\vchunked', 'chunked\0', 'chunked,', 'chunked, chunked'];
    const chunkSizes = ['zz', '-0', '+0', '0x0', ' 0', '0 ', '', '0\n', '0;\n', `0;${'a'.repeat(99_999)}`];
    const headers = [
      'Transfer-Encoding : chunked',
      'Transfer-Encoding:\r\n chunked',
      'X-A: b\nTransfer-Encoding: chunked',
    ];
    await allRefused(t, [
      ...[announce(5) + chunked, chunked + announce(5)].map((both) => logIn(both, `0\r\n\r\n${hidden}`)),
      logIn(chunked + announce(size.length + 2), `${size}\r\n${hidden}\r\n0\r\n\r\n`),
      ...[announce(0) + whole, whole + announce(0), whole + whole].map((two) => logIn(two, hidden)),
      ...lengths.map((length) => logIn(announce(length), hidden)),
      ...['Content-Length : 0', 'Content-Length:\r\n 0'].map((line) => logIn(`${line}\r\n`, hidden)),
      ...[...codings.split('|'), ...spaced].map((coding) =>
        logIn(`Transfer-Encoding: ${coding}\r\n`, `0\r\n\r\n${hidden}`),
      ),
      logIn(`${whole}Transfer-Encoding: identity\r\n`, hidden),
      logIn(`${chunked}Transfer-Encoding: identity\r\n`, `0\r\n\r\n${hidden}`),
      ...headers.map((line) => logIn(`${line}\r\n`, `0\r\n\r\n${hidden}`)),
      ...[...chunkSizes, 'fffffffffffffffff0'].map((first) => logIn(chunked, `${first}\r\n\r\n${hidden}`)),
      ...['2\r\n{}0\r\n\r\n', '2\n{}\r\n0\r\n\r\n', '0\n\n', `0\r\n${announce(5)}\r\n`].map((body) =>
        logIn(chunked, body + hidden),
      ),
      me('Transfer-Encoding: xchunked\r\n') + hidden,
      `CONNECT x:443 HTTP/1.1\r\nHost: x:443\r\n\r\n${hidden}`,
    ]);
    // A body that nobody reads is no request either.
    t.strictSame(await statuses(me(whole) + hidden + live, 2), [200, 200]);
    t.strictSame(await statuses(`${me(chunked)}${size}\r\n${hidden}\r\n0\r\n\r\n${live}`, 2), [200, 200]);
    for (const coding of ['chunked ', ' \t chunked', 'CHUNKED']) {
      const request = logIn(`Transfer-Encoding: ${coding}\r\n`, '2;a=b\r\n{}\r\n0\r\nX-A: b\r\n\r\n');
      t.strictSame(await statuses(request + live, 2), [400, 200], coding);
    }
  },
);

attack('what the grammar of a head does not know is malformed_request', async (t) => {
  const controls = ['\0', '\x01', '\b', '\v', '\f', '\r', '\n', '\x1b', '\x7f'];
  const lines = [
    'X A: b',
    'X-A : b',
    'X-A\t: b',
    ': b',
    'nothing',
    'X(A): b',
    'X-A: b\r\n c',
    'X-A: b\r\n\tc',
  ];
  const versions = ['HTTP/0.9', 'HTTP/1.2', 'HTTP/2.0', 'HTTP/3.0', 'HTTP/01.1', 'http/1.1', 'HTTPS/1.1'];
  await allRefused(t, [
    ...controls.flatMap((one) => [me(`X-A: a${one}b\r\n`), me(`X${one}A: b\r\n`), get(`/health${one}/live`)]),
    ...lines.map((line) => me(`${line}\r\n`)),
    ...['\n', '\r'].map((end) => live.replaceAll('\r\n', end)),
    live.replace('\r\n', '\n'),
    live.replace(/\r\n$/, '\n'),
    'GET /health/live HTTP/1.1\r\n Host: x\r\n\r\n',
    ...versions.map((version) => live.replace('HTTP/1.1', version)),
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0',
    'SSH-2.0-OpenSSH_9.6\r\n',
    'get /health/live HTTP/1.1\r\nHost: x\r\n\r\n',
    'GET x:80 HTTP/1.1\r\nHost: x:80\r\n\r\n',
  ]);
  t.strictSame(await statuses(me('X-A: a\tb\r\n'), 1), [200], 'a tab is one of its spaces');
  t.strictSame(await statuses('GET /health/live HTTP/1.0\r\n\r\n', 2), [200], 'HTTP/1.0 is answered once');
});

attack('a request has one Host, and that is one', async (t) => {
  await allRefused(t, [
    ...['Host: y\r\n', 'HOST: x\r\n', `X-A: b\r\n${host}`].map((second) => me(second)),
    `GET /auth/me/ HTTP/1.1\r\n${signedIn}\r\n`,
    get('http://x/auth/me/', host),
    ...['a b', 'x/y', 'user@x', 'x, y', 'x:port', '<x>'].map((name) => live.replace('x', name)),
  ]);
  const other = get('http://other.example/auth/me/', signedIn);
  t.strictSame(await statuses(other.repeat(2), 2), [200, 200], 'an absolute target may name another');
});

attack('no upgrade is offered, and expectations are met or passed over', async (t) => {
  for (const protocol of ['h2c', 'websocket', 'TLS/1.0']) {
    const connection = await rawConnection(port);
    for (const request of [me(`Connection: Upgrade\r\nUpgrade: ${protocol}\r\n`), live]) {
      connection.send(request);
      t.equal((await connection.answer()).status, 200, protocol);
    }
    connection.socket.destroy();
  }
  t.strictSame(await statuses(logIn(continued + announce(2), '{}') + live, 3), [100, 400, 200]);
  t.strictSame(await statuses(logIn(continued + announce(200_000))), [100, 413]);
  t.strictSame(await statuses(logIn(`Expect: 200-ok\r\n${announce(2)}`, '{}') + live, 2), [400, 200]);
});

attack('requests in a row are answered in their order', async (t) => {
  const connection = await rawConnection(port);
  const requests = Array.from({ length: 60 }, (_, index) => (index % 2 === 0 ? wrongLogIn() : live));
  connection.send(requests.map((one, at) => one.replace(host, `${host}X-Request-Id: ${at}\r\n`)).join(''));
  for (const at of requests.keys()) {
    const { status, headers } = await connection.answer();
    t.strictSame([status, headers['x-request-id']], [at % 2 === 0 ? 401 : 200, `${at}`]);
  }
  connection.socket.destroy();
});

attack('a bad request does not harm those before it, and none after it is done', async (t) => {
  const cases: [what: string, data: string, status: number][] = [
    ['what is no request', 'GARBAGE\r\n\r\n', 400],
    ['a head that is too large', me(`X-A: ${'a'.repeat(20_000)}\r\n`), 431],
    ['two lengths', logIn(announce(0) + announce(5)), 400],
    ['a broken chunk', logIn(chunked, 'zz\r\n'), 400],
    ['no Host', `GET /auth/me/ HTTP/1.1\r\n${signedIn}\r\n`, 400],
    ['a body that is too large', logIn(announce(200_000)), 413],
  ];
  for (const [what, data, status] of cases) {
    t.strictSame(await statuses(me() + data + hidden), [200, status], what);
    t.strictSame(await statuses(live + wrongLogIn() + me() + data + hidden), [200, 401, 200, status], what);
  }
  t.equal((await statuses(me('Connection: close\r\n') + hidden))[0], 200, 'nothing follows the last request');
  t.equal((await statuses(`${wrongLogIn()}{}`))[0], 401, 'nor a body that is over');
});

attack('who closes his side has left, and who stops in the middle is refused', async (t) => {
  for (const data of ['', me(), wrongLogIn(), me() + wrongLogIn() + live]) {
    const { socket, send } = await rawConnection(port);
    send(data);
    socket.end();
    const closed = await Promise.race([once(socket, 'close').then(() => true), sleep(5_000, false)]);
    t.ok(closed, 'no connection is kept for whom nobody can tell from who is gone');
  }
  for (const half of ['GET /hea', live.slice(0, -2), logIn(announce(20), '{'), logIn(chunked, '5\r\n{')]) {
    t.strictSame(await statuses(half, 2, true), [400]);
    t.strictSame(await statuses(me() + half, 3, true), [200, 400], 'but not the request before it');
  }
});

attack('connections that are reset, wherever they are', async () => {
  const stream = get('/api/v1/notifications/stream/', signedIn);
  const halves = ['', 'GET /auth/m', logIn(announce(20), '{'), logIn(chunked, '5\r\n{'), me(), wrongLogIn()];
  for (const data of [...halves, get('/openapi.json').repeat(20), stream]) {
    const resets = Array.from({ length: 50 }, async (_, index) => {
      const { socket, send } = await rawConnection(port);
      send(data);
      // Some at once, some when the server has seen what was sent, and some in the middle of the answer.
      if (data.startsWith('GET /o') || data === stream) await once(socket, 'data');
      else await sleep(index % 10);
      socket.resetAndDestroy();
    });
    await Promise.all(resets);
  }
});

attack('hundreds of connections that say nothing are closed in time', async (t) => {
  const before = await countConnections();
  const idle = await inParallel(400, () => rawConnection(port));
  await connected(t, before + idle.length);
  shorten(t, 500, 1_000);
  for (const answer of await Promise.all(idle.map((one) => one.answer()))) t.equal(answer.status, 408);
});

t.test('what nobody could hide is done for who asks for it', async (t) => {
  t.equal((await rawCall(port, hidden)).body.data.name, 'smuggled');
});
