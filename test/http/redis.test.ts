import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import t, { type Test } from 'tap';
import { type Answer, type CallOptions, createTestApp, type TestApp } from '../support/app.ts';
import { refused } from '../support/assertions.ts';
import { inParallel } from '../support/concurrency.ts';
import { freePort } from '../support/free-port.ts';
import { until } from '../support/until.ts';

const noRedis = spawnSync('redis-server', ['--version']).error ? 'there is no redis-server here' : false;

let hosts = 0;

/** An address that no other test has used. */
function newAddress(): string {
  hosts += 1;
  return `198.51.${Math.floor(hosts / 250)}.${hosts % 250}`;
}

/** Asserts a request beyond the limit. */
function limited(t: Test, answer: Answer): void {
  const wait = Number(answer.headers['retry-after']);
  refused(t, answer, 429, 'rate_limited', { retry_after: wait });
  t.ok(Number.isInteger(wait) && wait >= 1 && wait <= 60, `${wait} s`);
  t.equal(answer.headers['ratelimit-remaining'], '0');
}

async function createLimitedApp(t: Test, environment: Record<string, string> = {}) {
  const app = await createTestApp({ RATE_LIMIT_ENABLED: 'true', WORKER_ENABLED: 'false', ...environment });
  t.teardown(app.close);
  return app;
}

async function startRedis(): Promise<{ url: string; process: ChildProcess }> {
  const port = await freePort();
  const redis = spawn('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--save', '']);
  for await (const line of redis.stdout) if (String(line).includes('Ready to accept connections')) break;
  return { url: `redis://127.0.0.1:${port}`, process: redis };
}

t.test('without Redis requests are not limited', async (t) => {
  const app = await createLimitedApp(t, { REDIS_URL: 'redis://127.0.0.1:1' });
  const started = performance.now();
  const answers = await inParallel(20, () => app.call('POST', '/auth/find-id/', { body: {} }));
  t.ok(performance.now() - started < 2_000);
  for (const answer of answers) t.equal(answer.status, 400);
});

t.test(
  'instances with one Redis share the limits, and keep serving when it stops',
  { skip: noRedis },
  async (t) => {
    const { url, process: redis } = await startRedis();
    t.teardown(() => redis.kill('SIGKILL'));
    const apps = [
      await createLimitedApp(t, { REDIS_URL: url }),
      await createLimitedApp(t, { REDIS_URL: url }),
    ];
    const [one, other] = apps;
    if (!one || !other) throw new Error('two apps were made');
    const isConnected = async (app: TestApp) => {
      const { headers } = await app.call('POST', '/auth/find-id/', { remoteAddress: newAddress(), body: {} });
      return headers['ratelimit-remaining'] === '9';
    };
    for (const app of apps) await until('a connection to Redis', () => isConnected(app), 10);
    const remoteAddress = newAddress();
    const request: [string, string, CallOptions] = ['POST', '/auth/find-id/', { remoteAddress, body: {} }];
    const remaining = [];
    for (let index = 0; index < 10; index++) {
      const { headers } = await (index % 2 === 0 ? one : other).call(...request);
      remaining.push(Number(headers['ratelimit-remaining']));
    }
    t.strictSame(remaining, [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
    for (const app of apps) limited(t, await app.call(...request));
    t.not((await one.call('POST', '/auth/login/', { remoteAddress, body: {} })).status, 429);

    const gone = once(redis, 'exit');
    redis.kill('SIGKILL');
    await gone;
    const started = performance.now();
    for (const app of apps) t.equal((await app.call(...request)).status, 400);
    t.ok(performance.now() - started < 2_000);
  },
);
