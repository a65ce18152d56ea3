import t, { type Test } from 'tap';
import { createLimitedApp, fromAnywhere, limited, newAddress } from '../../http/limits.ts';
import { openStream } from '../../notifications/streams.ts';
import { type CallOptions, logIn, signUpUser, type TestApp } from '../../support/app.ts';
import { invalid, rejected, tally } from '../../support/assertions.ts';
import { inParallel, lockRows } from '../../support/concurrency.ts';
import { listen } from '../../support/raw-http.ts';
import { atMost } from '../../support/time.ts';
import { replace } from '../../support/timers.ts';

type Call = [method: string, path: string, options: CallOptions];

/** The operations with a counter of their own, and how many requests a minute an address has. */
const groups: [string, string, number][] = [
  ['POST', '/auth/login/', 30],
  ['POST', '/auth/signup/', 20],
  ['POST', '/auth/email-verify/send/', 10],
  ['POST', '/auth/reset-password-request/', 10],
  ['POST', '/auth/find-id/', 10],
  ['POST', '/auth/email-verify/confirm/', 30],
  ['GET', '/auth/reset-password-validate/', 30],
  ['POST', '/auth/reset-password-confirm/', 30],
  ['POST', '/auth/token/refresh/', 60],
];

/** Makes requests one after the other. @returns how many were served before the first rejection */
async function served(app: TestApp, count: number, request: (index: number) => Call) {
  for (let index = 0; index < count; index++) {
    if ((await app.call(...request(index))).status === 429) return index;
  }
  return count;
}

t.test('limits', async (t) => {
  const app = await createLimitedApp();
  // The counters in memory read this clock: no window of a minute ends while it is counted.
  let time = Date.now();
  replace(t, Date, { now: () => time });

  for (const [method, path, limit] of groups) {
    t.test(`${path} is served ${limit} times a minute for one address`, async (t) => {
      const remoteAddress = newAddress();
      const options = { remoteAddress, ...(method === 'POST' ? { body: {} } : {}) };
      const first = await app.call(method, path, options);
      t.equal(first.status, 400);
      t.equal(first.headers['ratelimit-limit'], String(limit));
      t.equal(first.headers['ratelimit-remaining'], String(limit - 1));
      t.match(first.headers['ratelimit-reset'], /^(?:[1-9]|[1-5]\d|60)$/);
      t.equal(first.headers['retry-after'], undefined);
      t.equal(await served(app, limit, () => [method, path, options]), limit - 1);
      limited(t, await app.call(method, path, options));
      limited(t, await app.call(method, path.slice(0, -1), options));
      t.equal((await app.call(method, path, { ...options, remoteAddress: newAddress() })).status, 400);
      for (const [otherMethod, otherPath] of groups.filter((group) => group[1] !== path)) {
        const other = await app.call(otherMethod, otherPath, { remoteAddress });
        t.not(other.status, 429, `${otherPath} counts by itself`);
      }
      t.not((await app.call('GET', '/auth/me/', { remoteAddress })).status, 429);
    });
  }

  t.test('everything else is one counter: 300 a minute for an anonymous client', async (t) => {
    const remoteAddress = newAddress();
    const requests: Call[] = [
      ['GET', '/auth/me/', { remoteAddress }],
      ['GET', '/auth/sessions', { remoteAddress, token: 'not-a-token' }],
      ['PATCH', '/auth/me/', { remoteAddress, body: { name: 1 } }],
      ['GET', '/nothing/', { remoteAddress }],
      ['POST', '/auth/nothing/', { remoteAddress, body: '{' }],
      ['GET', '/auth/login/', { remoteAddress }],
      ['GET', '/openapi.json', { remoteAddress }],
      ['GET', '/auth/%zz/', { remoteAddress }],
      ['POST', '/auth/logout/', { remoteAddress, body: {} }],
      ['POST', '/auth/providers/development/start/', { remoteAddress, body: { purpose: 'login' } }],
      ['POST', '/auth/passkeys/login/start/', { remoteAddress, body: {} }],
      ['HEAD', '/auth/me/', { remoteAddress }],
    ];
    const next = (index: number) => requests[index % requests.length] ?? ['GET', '/', { remoteAddress }];
    t.equal(await served(app, 301, (index) => next(index)), 300);
    for (const [method, path, options] of requests.filter(([one]) => one !== 'HEAD')) {
      limited(t, await app.call(method, path, options));
    }
    const { status, headers } = await app.call('GET', '/auth/me/', { remoteAddress: newAddress() });
    t.equal(status, 401);
    t.equal(headers['ratelimit-limit'], '300');
  });

  t.test('a user has 600 other requests a minute, from all addresses together', async (t) => {
    const { token } = await signUpUser(fromAnywhere(app));
    const other = await signUpUser(fromAnywhere(app));
    const addresses = [newAddress(), newAddress()];
    const paths = ['/auth/nothing/', '/auth/me/', '/nothing/', '/auth/login/'];
    const request = (index: number): Call => {
      // Each fifth one is a change.
      const path = paths[index % 5];
      const options = { token, remoteAddress: addresses[index % 2] ?? '' };
      return path ? ['GET', path, options] : ['POST', '/auth/second-factor/totp/confirm/', options];
    };
    t.equal(await served(app, 601, request), 600);
    const [remoteAddress = ''] = addresses;
    limited(t, await app.call('GET', '/auth/me/', { token, remoteAddress: newAddress() }));
    t.equal((await app.call('GET', '/auth/me/', { token: other.token, remoteAddress })).status, 200);
    const anonymous = await app.call('GET', '/auth/me/', { remoteAddress });
    t.equal(anonymous.status, 401);
    t.equal(anonymous.headers['ratelimit-remaining'], '299');
    const forged = await app.call('GET', '/auth/me/', { token: `${token}x`, remoteAddress });
    t.equal(forged.headers['ratelimit-limit'], '300', 'a forged token has no counter of its own');
  });

  t.test('all users at one address have 3,000 other requests a minute together', async (t) => {
    const users = await inParallel(7, () => signUpUser(fromAnywhere(app)));
    const remoteAddress = newAddress();
    const greedy = users.pop();
    for (let index = 0; index < 610; index++) {
      const { status } = await app.call('GET', '/nothing/', { token: greedy?.token, remoteAddress });
      if (status !== (index < 600 ? 404 : 429)) t.fail(`${index}: ${status}`);
    }
    const tokenOf = (index: number) => users[index % users.length]?.token;
    const request = (index: number): Call => ['GET', '/nothing/', { token: tokenOf(index), remoteAddress }];
    t.equal(await served(app, 2_401, request), 2_400, 'what one user has too many of is not counted');
    const response = await app.call(...request(0));
    limited(t, response);
    t.equal(response.headers['ratelimit-limit'], '3000');
    const elsewhere = { token: tokenOf(0), remoteAddress: newAddress() };
    t.equal((await app.call('GET', '/nothing/', elsewhere)).status, 404);
    t.equal((await app.call('GET', '/nothing/', { remoteAddress })).status, 404, 'others are not counted');
    t.match((await app.call('GET', '/metrics')).text, /^rate_limited_requests_total\{group="address"\} 2$/m);
  });

  t.test('a token whose session has ended counts for the address only', async (t) => {
    const user = await signUpUser(fromAnywhere(app));
    const ended = await logIn(fromAnywhere(app), user);
    await app.call('POST', '/auth/logout/', { token: ended.token, body: {}, remoteAddress: newAddress() });
    const remoteAddress = newAddress();
    const left = async (token: string, method: string, path: string, address = remoteAddress) => {
      const { headers } = await app.call(method, path, { token, remoteAddress: address });
      return Number(headers['ratelimit-remaining']);
    };
    t.equal(await left(ended.token, 'GET', '/auth/me/'), 299);
    t.equal(await left(ended.token, 'GET', '/nothing/'), 298);
    t.equal(await left(ended.token, 'POST', '/auth/change-password/'), 297);
    t.equal(await left(user.token, 'GET', '/auth/me/', newAddress()), 598, 'the logout was counted');
    t.equal(await left(user.token, 'POST', '/auth/change-password/', newAddress()), 9);
    t.equal(await served(app, 301, () => ['GET', '/nothing/', { token: ended.token, remoteAddress }]), 297);
  });

  t.test('limits come before every other check', async (t) => {
    const remoteAddress = newAddress();
    const login = (options: CallOptions) => app.call('POST', '/auth/login/', { ...options, remoteAddress });
    const malformed = { body: '{', headers: { 'content-type': 'application/json' } };
    invalid(t, await login({ body: {} }), 'username', 'password');
    rejected(t, await login(malformed), 400, 'malformed_json');
    t.equal((await login({})).headers['ratelimit-remaining'], '27', 'what fails counts');
    await served(app, 30, () => ['POST', '/auth/login/', { remoteAddress, body: {} }]);
    limited(t, await login({ body: {} }));
    limited(t, await login(malformed));
    limited(t, await login({ body: 'x', headers: { 'content-type': 'text/plain' } }));
    limited(t, await login({ body: `"${'x'.repeat(200_000)}"` }));
  });

  t.test('health and metrics have no limit', async (t) => {
    const remoteAddress = newAddress();
    for (const path of ['/health/live', '/health/ready', '/metrics']) {
      const { status, headers } = await app.call('GET', path, { remoteAddress });
      t.equal(status, 200);
      t.notOk(Object.keys(headers).some((name) => name.startsWith('ratelimit-')));
    }
    t.equal(await served(app, 350, () => ['GET', '/health/live', { remoteAddress }]), 350);
    t.equal((await app.call('GET', '/auth/me/', { remoteAddress })).headers['ratelimit-remaining'], '299');
  });

  t.test('an IPv6 client is counted by its /64, a /48 as ten, a mapped address as IPv4', async (t) => {
    const remaining = async (remoteAddress: string) => {
      const { headers } = await app.call('POST', '/auth/find-id/', { remoteAddress, body: {} });
      return Number(headers['ratelimit-remaining']);
    };
    t.equal(await remaining('2001:db8:1:2::1'), 9);
    t.equal(await remaining('2001:db8:1:2:ffff:ffff:ffff:ffff'), 8);
    t.equal(await remaining('2001:0DB8:0001:0002::3'), 7);
    t.equal(await remaining('2001:db8:1:3::1'), 9);
    t.equal(await remaining('203.0.113.200'), 9);
    t.equal(await remaining('::ffff:203.0.113.200'), 8);
    t.equal(await remaining('203.0.113.201'), 9);

    const { token } = await signUpUser(fromAnywhere(app));
    for (const [path, max] of [
      ['/auth/find-id/', 10],
      ['/auth/login/', 30],
    ] as const) {
      // What one /64 has too many of does not count for the others.
      const request = (host: number, network: number = max): Call => {
        return ['POST', path, { body: {}, remoteAddress: `2001:db8:${network}:${host}::1` }];
      };
      t.equal(await served(app, max + 9, () => request(0)), max);
      for (let more = 0; more < 9; more++) limited(t, await app.call(...request(0)));
      t.equal(await served(app, 10 * max, (index) => request(1 + (index % 99))), 9 * max);
      const response = await app.call(...request(100));
      limited(t, response);
      t.equal(response.headers['ratelimit-limit'], String(10 * max));
      t.equal((await app.call(...request(0, max + 1))).status, 400, 'another /48');
    }
    const me = await app.call('GET', '/auth/me/', { token, remoteAddress: '2001:db8:10:1::1' });
    t.equal(me.status, 200, 'each limit counts by itself');
  });

  t.test('X-Forwarded-For is ignored by default', async (t) => {
    const remoteAddress = newAddress();
    const request = (index: number): Call => {
      const headers = { 'x-forwarded-for': `203.0.113.${index}`, forwarded: `for=203.0.113.${index}` };
      return ['POST', '/auth/find-id/', { remoteAddress, body: {}, headers }];
    };
    t.equal(await served(app, 11, request), 10);
  });

  t.test('after Retry-After seconds requests are served again', async (t) => {
    const remoteAddress = newAddress();
    const request: Call = ['POST', '/auth/find-id/', { remoteAddress, body: {} }];
    t.equal(await served(app, 11, () => request), 10);
    const wait = Number((await app.call(...request)).headers['retry-after']);
    time += wait * 1_000;
    const response = await app.call(...request);
    t.equal(response.status, 400);
    t.equal(response.headers['ratelimit-remaining'], '9');
  });
});

t.test('behind a trusted proxy the address of the client counts', async (t) => {
  const app = await createLimitedApp({ TRUST_PROXY: '10.0.0.0/8' });
  const remaining = async (remoteAddress: string, forwarded: string) => {
    const headers = { 'x-forwarded-for': forwarded };
    const response = await app.call('POST', '/auth/find-id/', { remoteAddress, body: {}, headers });
    t.equal(response.status, 400);
    return Number(response.headers['ratelimit-remaining']);
  };
  t.equal(await remaining('10.1.2.3', '203.0.113.1'), 9);
  t.equal(await remaining('10.1.2.3', '203.0.113.2'), 9);
  t.equal(await remaining('10.9.9.9', '203.0.113.1:4711'), 8, 'by another proxy and port, the same client');
  t.equal(await remaining('198.51.100.7', '203.0.113.1'), 9, 'of a stranger it is not believed');
  t.equal(await remaining('198.51.100.7', '203.0.113.50'), 8);
});

/** A user whose row is locked, so that its changes wait. */
async function lockUser(t: Test, app: TestApp) {
  const user = await signUpUser(app);
  const rename = () => app.call('PATCH', '/auth/me/', { token: user.token, body: { name: '두레' } });
  const lock = await lockRows(t, app, 'SELECT FROM users WHERE id = $1 FOR UPDATE', [user.id]);
  return { user, rename, lock };
}

t.test('four requests of one user are worked on at once; more wait and delay no other user', async (t) => {
  const app = await createLimitedApp();
  const other = await signUpUser(app);
  const { rename, lock } = await lockUser(t, app);
  const renamed = inParallel(20, rename);
  await lock.waiters(4);
  t.equal((await app.call('GET', '/auth/me/', { token: other.token })).status, 200);
  t.equal((await lock.waiters(4)).length, 4);
  await lock.release();
  t.strictSame(tally(await renamed), { '200': 20 });
});

t.test('requests that wait too long are 503, and neither they nor open streams keep a turn', async (t) => {
  const app = await createLimitedApp({}, { serverErrors: true, timeLimit: atMost(1_000) });
  const { user, rename, lock } = await lockUser(t, app);
  t.strictSame(tally(await inParallel(9, rename)), { '503 service_unavailable': 9 });
  await lock.release();
  t.strictSame(tally(await inParallel(9, rename)), { '200': 9 });

  await listen(app.app);
  const opened = await inParallel(6, () => openStream(t, app, user.token));
  t.ok(opened.every(({ status }) => status === 200));
  t.equal((await rename()).status, 200);
});
