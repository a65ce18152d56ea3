import { once } from 'node:events';
import { type AddressInfo, createServer, type LookupFunction, Socket } from 'node:net';
import t, { type Test } from 'tap';
import {
  guardedFetch,
  isCallable,
  isPublic,
  RefusedAddressError,
} from '../src/infrastructure/guarded-fetch.ts';
import { freePort } from './support/free-port.ts';
import { serve } from './support/serve.ts';
import { atMost } from './support/time.ts';

/** One of each kind that RFC 6890 and its registries have, and their borders. */
const refused = [
  // This host, private networks, shared address space, loopback, link-local with the metadata of clouds.
  ...['0.0.0.0', '0.1.2.3', '10.0.0.1', '10.255.255.255', '172.16.0.1', '172.31.255.255', '192.168.0.1'],
  ...['100.64.0.1', '100.127.255.255', '127.0.0.1', '127.255.255.255', '169.254.0.1', '169.254.169.254'],
  // Protocols, documentation, 6to4 relays, AS112, AMT, benchmarks, multicast, reserved, broadcast.
  ...['192.0.0.1', '192.0.0.170', '192.0.2.1', '198.51.100.1', '203.0.113.1', '192.88.99.1', '192.31.196.1'],
  ...['192.175.48.1', '192.52.193.1', '198.18.0.1', '198.19.255.255', '224.0.0.1', '239.255.255.250'],
  ...['240.0.0.1', '255.255.255.254', '255.255.255.255'],
  // Unspecified, loopback, unique local, link-local, site-local, multicast, discard, documentation, segment routing.
  ...['::', '::1', 'fc00::1', 'fd12:3456:789a::1', 'fdff:ffff::1', 'fe80::1', 'fe80::1%eth0', 'febf::1'],
  ...['fec0::1', 'ff02::1', 'ff0e::1', '100::1', '2001:db8::1', '3fff::1', '5f00::1', '4000::1', 'e000::1'],
  // IPv4 in IPv6: mapped, compatible, translated, NAT64, 6to4, Teredo, of private and of public addresses.
  ...['::ffff:127.0.0.1', '::ffff:a9fe:a9fe', '::ffff:10.0.0.1', '::127.0.0.1', '::7f00:1', '2001::1'],
  ...['64:ff9b::127.0.0.1', '64:ff9b::8.8.8.8', '64:ff9b:1::8.8.8.8', '2002:7f00:1::', '2002:808:808::1'],
  ...['::ffff:0:8.8.8.8', '2001:0:808:808::1', '2001:2::1', '2001:10::1', '2001:20::1', '2001:30::1'],
  '2620:4f:8000::1',
  // No address.
  ...['', 'localhost', '127.1', '0x7f.1', '2130706433', '010.0.0.1', '8.8.8', '8.8.8.8.8', 'g::1'],
];

const publicAddresses = [
  ...['1.1.1.1', '8.8.8.8', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '128.0.0.1'],
  ...['169.253.255.255', '172.15.255.255', '172.32.0.0', '192.167.255.255', '198.17.255.255'],
  '223.255.255.255',
  ...['2606:4700::1111', '2a00:1450:4001::200e', '2404:6800:4004::2003', '::ffff:8.8.8.8'],
];

t.test('only public unicast addresses are called', async (t) => {
  for (const address of refused) t.notOk(isPublic(address), address);
  for (const address of publicAddresses) t.ok(isPublic(address), address);
});

t.test('a URL says by itself that it must not be called', async (t) => {
  const wrong = [
    ...['http://push.example.com/', 'ftp://push.example.com/', 'https://push.example.com:8443/'],
    ...['https://a@push.example.com/', 'https://a:b@push.example.com/', 'https://:b@push.example.com/'],
    ...['https://10.0.0.1/', 'https://[::1]/', 'https://[::ffff:10.0.0.1]/', 'https://169.254.169.254/'],
    // As browsers and `URL` read them, these are 127.0.0.1, 10.0.0.1 and 127.0.0.1.
    ...['https://2130706433/', 'https://0xa.1/', 'https://127.1/', 'https://0177.0.0.1/'],
    'https://１２７.0.0.1/',
  ];
  for (const url of wrong)
    for (const allowsLoopback of [true, false]) {
      const isLoopback = /127|2130706433|0177|::1\]|１２７/.test(url);
      const isCalled = isCallable(new URL(url), { allowsLoopback });
      t.equal(isCalled, allowsLoopback && isLoopback, `${url}, ${allowsLoopback}`);
    }
  for (const url of ['https://push.example.com/x?y', 'https://push.example.com:443/', 'https://8.8.8.8/'])
    t.ok(isCallable(new URL(url), { allowsLoopback: false }), url);
  const local = ['http://127.0.0.1:9/', 'http://localhost:9/', 'https://a.localhost/', 'http://[::1]:9/'];
  for (const url of local) {
    t.ok(isCallable(new URL(url), { allowsLoopback: true }), url);
    t.notOk(isCallable(new URL(url), { allowsLoopback: false }), url);
  }
});

t.test('hosts that are not listed are not called, also when what is listed has changed', async (t) => {
  const hosts = ['push.example.com', '*.push.example.net'];
  const isListed = (url: string) => isCallable(new URL(url), { allowsLoopback: false, hosts });
  for (const url of ['https://push.example.com/', 'https://a.b.push.example.net/']) t.ok(isListed(url), url);
  const suffixed = ['push.example.com.', 'push.example.com.evil.example', 'a.push.example.net.evil.example'];
  const others = ['push.example.net', 'a.push.example.com', 'evilpush.example.com', '8.8.8.8'];
  for (const host of [...others, ...suffixed]) t.notOk(isListed(`https://${host}/`), host);
  const call = guardedFetch(new URL('https://example.com/'), { ...request, allowsLoopback: true, hosts });
  await t.rejects(call, RefusedAddressError);
});

const request = { headers: {}, body: Buffer.from('body'), timeout: atMost(2_000) } as const;

t.test('a name is refused when one of its addresses is not public', async (t) => {
  const url = new URL('https://push.example.com/');
  for (const addresses of [['127.0.0.1'], ['8.8.8.8', '10.0.0.1'], ['::ffff:127.0.0.1'], []]) {
    for (const allowsLoopback of [true, false]) {
      const resolve = async () => addresses;
      await t.rejects(guardedFetch(url, { ...request, allowsLoopback, resolve }), RefusedAddressError);
    }
  }
});

/** Replaces connections by what their lookup gives them: one address, or all, of which the first one may not work. */
function watchConnections(t: Test, all: boolean): string[] {
  const addresses: string[] = [];
  const { connect } = Socket.prototype;
  t.teardown(() => (Socket.prototype.connect = connect));
  Socket.prototype.connect = function (this: Socket, given: unknown) {
    const [{ host, lookup }] = [given].flat() as [{ host: string; lookup: LookupFunction }];
    lookup(host, { all }, (error, found) => {
      if (!error) addresses.push(JSON.stringify(found));
      this.destroy(error ?? new Error('not connected'));
    });
    return this;
  };
  return addresses;
}

t.test('a name that stands for another address the second time is called at the first one', async (t) => {
  for (const all of [true, false]) {
    const connections = watchConnections(t, all);
    let resolutions = 0;
    const resolve = async () => [resolutions++ === 0 ? '8.8.8.8' : '127.0.0.1'];
    const url = new URL('https://localtest.example.com/');
    await t.rejects(guardedFetch(url, { ...request, allowsLoopback: true, resolve }), /not connected/);
    t.strictSame(connections, [all ? '[{"address":"8.8.8.8","family":4}]' : '"8.8.8.8"']);
    t.equal(resolutions, 1);
    await t.rejects(guardedFetch(url, { ...request, allowsLoopback: true, resolve }), RefusedAddressError);
    t.equal(connections.length, 1, 'nothing is connected to what is refused');
  }
});

const local = { ...request, allowsLoopback: true };
/** Milliseconds: what is to take longer never ends. */
const shortLimit = 150;

t.test('what is sent, and the answer without its body', async (t) => {
  const url = await serve(t, async ({ method, url, headers }, response) => {
    const { host, ...others } = headers;
    response.writeHead(201, { received: JSON.stringify({ method, url, host, others }) });
    // A body without end.
    const write = () => response.write(Buffer.alloc(65_536)) && setImmediate(write);
    response.on('drain', write);
    write();
  });
  const headers = { 'content-length': 4, ttl: 60 };
  const { status, headers: answered } = await guardedFetch(new URL(`${url}/a?b`), { ...local, headers });
  t.equal(status, 201);
  t.strictSame(JSON.parse(String(answered['received'])), {
    method: 'POST',
    url: '/a?b',
    host: new URL(url).host,
    others: { 'content-length': '4', ttl: '60', connection: 'close' },
  });
});

t.test('a redirect is an answer, and is not followed', async (t) => {
  let calls = 0;
  const target = await serve(t, (_request, response) => response.end(String(calls++)));
  for (const status of [301, 302, 303, 307, 308]) {
    const url = await serve(t, (_request, response) =>
      response.writeHead(status, { location: target }).end(),
    );
    t.match(await guardedFetch(new URL(url), local), { status, headers: { location: target } });
  }
  t.equal(calls, 0);
});

t.test('the time limit is for the name, the connection and the headers of the answer', async (t) => {
  const times = { ...local, timeout: shortLimit };
  const silent = await serve(t, () => undefined);
  const dripping = createServer((socket) => {
    socket.write('HTTP/1.1 200 OK\r\n');
    const timer = setInterval(() => socket.write('a: b\r\n'), shortLimit / 10);
    socket.on('error', () => undefined).on('close', () => clearInterval(timer));
  }).listen(0, '127.0.0.1');
  t.teardown(() => dripping.close());
  await once(dripping, 'listening');
  const { port } = dripping.address() as AddressInfo;
  for (const url of [silent, `http://127.0.0.1:${port}/`])
    await t.rejects(guardedFetch(new URL(url), times), { name: /TimeoutError|AbortError/ }, url);
  const resolve = (_name: string, signal: AbortSignal) => once(signal, 'abort').then(() => ['8.8.8.8']);
  await t.rejects(guardedFetch(new URL('https://push.example.com/'), { ...times, resolve }));
});

t.test('headers without end are an error', async (t) => {
  const url = await serve(t, ({ socket }) => {
    const write = () =>
      !socket.destroyed && socket.write(`a: ${'b'.repeat(1_000)}\r\n`) && setImmediate(write);
    socket.write('HTTP/1.1 200 OK\r\n');
    write();
  });
  await t.rejects(guardedFetch(new URL(url), local), { code: 'HPE_HEADER_OVERFLOW' });
});

t.test('the name of the URL is that of the TLS handshake, whose certificate must be right', async (t) => {
  const hello: string[] = [];
  const server = createServer((socket) => {
    socket
      .on('error', () => undefined)
      .once('data', (data) => {
        hello.push(data.toString('latin1'));
        socket.destroy();
      });
  }).listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await t.rejects(guardedFetch(new URL(`https://push.localhost:${port}/`), local));
  t.match(hello, [/push\.localhost/]);
});

t.test('an error names the host at most', async (t) => {
  const port = await freePort();
  const secret = 'a-secret-of-the-endpoint';
  const error = await guardedFetch(new URL(`http://127.0.0.1:${port}/${secret}`), local).catch(String);
  t.match(error, /ECONNREFUSED/);
  t.notMatch(error, secret);
});
