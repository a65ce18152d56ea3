import t, { type Test } from 'tap';
import { type CallOptions, createTestApp, createUser, logIn } from '../support/app.ts';

const { startInstance } = await createTestApp();
const app = await startInstance({ TRUST_PROXY: 'loopback, 10.0.0.0/8, 2001:db8:ffff::1' });

t.test('X-Forwarded-For from an untrusted peer is warned about once, naming TRUST_PROXY', async (t) => {
  const call = (remoteAddress: string, headers: Record<string, string>) =>
    app.call('GET', '/health/live', { remoteAddress, headers });
  const warnings = () => app.logs.map((line) => JSON.parse(line)).filter(({ level }) => level >= 40);
  for (const forwardedFor of ['203.0.113.1', '203.0.113.1, 10.4.4.4', ',, ,'])
    await call('10.1.2.3', { 'x-forwarded-for': forwardedFor });
  await call('198.51.100.1', {});
  t.strictSame(warnings(), []);
  for (const peer of ['198.51.100.1', '198.51.100.2']) await call(peer, { 'x-forwarded-for': '203.0.113.1' });
  t.match(warnings(), [{ level: 40, peer: '198.51.100.1', msg: /TRUST_PROXY/ }]);
  t.equal(warnings().length, 1);
});

/** The address of a session that is opened through a proxy, which sends the given `X-Forwarded-For`. */
async function addressThroughProxy(t: Test, forwardedFor: string, remoteAddress = '10.1.2.3') {
  const viaProxy = (method: string, path: string, options: CallOptions = {}) =>
    app.call(method, path, { ...options, remoteAddress, headers: { 'x-forwarded-for': forwardedFor } });
  const user = await createUser(app);
  const firstLine = app.logs.length;
  const { token } = await logIn({ call: viaProxy }, user);
  const lines = app.logs.slice(firstLine).map((line) => JSON.parse(line));
  const logged = lines.flatMap(({ address = [] }) => address);
  const sessions = await app.call('GET', '/auth/sessions/', { token });
  const { ip } = sessions.body.data.items.find(({ is_current }: { is_current: boolean }) => is_current);
  t.strictSame(logged, [ip, ip], 'the audit line and the line of the request have the same address');
  return ip;
}

t.test('sessions and log lines have the address of the client without its port', async (t) => {
  const cases: Record<string, string> = {
    '203.0.113.8': '203.0.113.8',
    '203.0.113.8:1234': '203.0.113.8',
    '[2001:db8::1]:5': '2001:db8::1',
    '[2001:db8::1]': '2001:db8::1',
    '2001:db8::1': '2001:db8::1',
    '[::1]:5': '::1',
    'fe80::1%eth0': 'fe80::1',
    '192.0.2.1, 203.0.113.8:1234 , 10.4.4.4:80,\t10.4.4.5': '203.0.113.8',
    '203.0.113.8, [2001:db8:ffff::1]:443': '203.0.113.8',
    [`203.0.113.8${', 10.4.4.4'.repeat(15)}`]: '203.0.113.8',
    // A list that is longer than any chain of proxies is not followed to its end.
    [`203.0.113.8${', 10.4.4.4'.repeat(1_000)}`]: '10.4.4.4',
    // The last proxy that is known.
    'unknown, 10.4.4.4:80': '10.4.4.4',
  };
  for (const [forwardedFor, address] of Object.entries(cases))
    t.equal(await addressThroughProxy(t, forwardedFor), address, forwardedFor);
  const throughMapped = await addressThroughProxy(t, '203.0.113.8', '::ffff:10.1.2.3');
  t.equal(throughMapped, '203.0.113.8', 'a mapped proxy');
});

t.test('what is no address gives way to the address of the proxy', async (t) => {
  const garbage = [
    ...[' ', 'unknown', '203.0.113.8:', '203.0.113.8:123456', '[203.0.113.8', '2001:db8::1]:5', '<script>'],
    ...[',,,', '[]:1', '1.2.3.4:x', '_a', '999.1.1.1', 'x'.repeat(200), '203.0.113.9, unknown'],
  ];
  for (const text of garbage) t.equal(await addressThroughProxy(t, text), '10.1.2.3', text);
});
