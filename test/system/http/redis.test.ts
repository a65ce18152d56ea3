import { once } from 'node:events';
import { isDeepStrictEqual } from 'node:util';
import t, { type Test } from 'tap';
import { createLimitedApp, limited, newAddress } from '../../http/limits.ts';
import type { TestApp } from '../../support/app.ts';
import { inParallel } from '../../support/concurrency.ts';
import { freePort } from '../../support/free-port.ts';
import { startRedis } from '../../support/redis.ts';
import { without } from '../../support/requirements.ts';
import { until } from '../../support/until.ts';

/** The metric that says whether the app counts in Redis. */
async function isConnected({ call }: TestApp): Promise<boolean> {
  return /^redis_connected 1$/m.test((await call('GET', '/metrics')).text);
}

const findId = (app: TestApp, remoteAddress: string) =>
  app.call('POST', '/auth/find-id/', { remoteAddress, body: {} });

/** Sends requests to the apps in turn. @returns what each response says is left */
async function remaining(apps: TestApp[], count: number, remoteAddress: string): Promise<number[]> {
  const left = [];
  for (let index = 0; index < count; index++) {
    const app = apps[index % apps.length];
    if (app) left.push(Number((await findId(app, remoteAddress)).headers['ratelimit-remaining']));
  }
  return left;
}

const skip = without('redis-server');
const countdown = [9, 8, 7, 6, 5, 4, 3, 2, 1, 0];

/** Asserts that each app counts by itself, with the same numbers. */
async function countsAlone(t: Test, apps: TestApp[]): Promise<void> {
  const address = newAddress();
  for (const app of apps) {
    t.strictSame(await remaining([app], 10, address), countdown);
    limited(t, await findId(app, address));
  }
}

/** Waits until each app counts in Redis, or none does. */
async function allConnected(apps: TestApp[], expected: boolean): Promise<void> {
  for (const app of apps) {
    await until(`connected: ${expected}`, async () => (await isConnected(app)) === expected);
  }
}

/**
 * Asserts that the apps count together. On a slow machine a response of Redis may be late, which is an outage: then it counts again.
 *
 * @returns the address that has no request left
 */
async function countsTogether(t: Test, apps: TestApp[]): Promise<string> {
  const outages = () => apps.map((app) => logged(app, 'redis is not reachable'));
  for (;;) {
    await allConnected(apps, true);
    const before = outages();
    const address = newAddress();
    const left = await remaining(apps, 10, address);
    const beyond = await Promise.all(apps.map((app) => findId(app, address)));
    if (!isDeepStrictEqual(outages(), before)) continue;
    t.strictSame(left, countdown);
    for (const response of beyond) limited(t, response);
    return address;
  }
}

/** How often a line is in the log. */
const logged = ({ logs }: TestApp, text: string) => logs.filter((line) => line.includes(text)).length;

t.test('without Redis at the start, an instance limits by itself, and does not wait', async (t) => {
  const app = await createLimitedApp({ REDIS_URL: 'redis://127.0.0.1:1' });
  const address = newAddress();
  const responses = await inParallel(11, () => findId(app, address));
  t.strictSame(responses.map(({ status }) => status).sort(), [...countdown.map(() => 400), 429]);
  await countsAlone(t, [app]);
  t.notOk(await isConnected(app));
  await until('the warning', () => logged(app, 'redis is not reachable') === 1);
});

t.test('instances share limits in Redis, and count alone while it is down or hangs', { skip }, async (t) => {
  const port = await freePort();
  let redis = await startRedis(t, port);
  const environment = { REDIS_URL: `redis://127.0.0.1:${port}` };
  const apps = [await createLimitedApp(environment), await createLimitedApp(environment)];
  const full = await countsTogether(t, apps);
  for (const app of apps) {
    const login = { remoteAddress: full, body: {} };
    t.not((await app.call('POST', '/auth/login/', login)).status, 429, 'each group counts by itself');
  }

  await t.test('killed', async (t) => {
    const gone = once(redis, 'exit');
    redis.kill('SIGKILL');
    await gone;
    await countsAlone(t, apps);
    await allConnected(apps, false);
  });
  await t.test('started again', async (t) => {
    redis = await startRedis(t, port);
    await countsTogether(t, apps);

    await t.test('suspended', async (t) => {
      redis.kill('SIGSTOP');
      // Those that find out wait for it once, and are counted here.
      const address = newAddress();
      for (const app of apps) {
        const responses = await inParallel(10, () => findId(app, address));
        t.strictSame(new Set(responses.map(({ status }) => status)), new Set([400]));
        limited(t, await findId(app, address));
      }
      await allConnected(apps, false);
      await countsAlone(t, apps);
    });
    await t.test('resumed', async (t) => {
      redis.kill('SIGCONT');
      await countsTogether(t, apps);
    });
  });
  for (const app of apps) {
    const lines = app.logs.filter((line) => line.includes('redis is'));
    // On a slow machine a response of Redis may be late, which is an outage more.
    t.ok(lines.length >= 4, `${lines.length} lines`);
    const warnings = lines.filter((_, index) => index % 2 === 0);
    for (const line of lines) {
      const text = warnings.includes(line) ? 'redis is not reachable' : 'redis is reachable again';
      t.match(line, text, 'one warning for each outage');
    }
    const causes = warnings.map((line) => JSON.parse(line)).map(({ err, reason }) => err ?? reason);
    t.notOk(causes.includes(undefined));
    t.ok(causes.includes('the server closed the connection'), 'a cause also without an error');
    const { text } = await app.call('GET', '/metrics');
    t.match(text, /^rate_limited_requests_total\{group="find-id"\} [1-9]\d*$/m);
    t.match(text, /^rate_limited_requests_total\{group="login"\} 0$/m);
  }
});
