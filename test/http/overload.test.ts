import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { createTestApp, password } from '../support/app.ts';

t.test('an overloaded process refuses requests with 503, and health still answers', async (t) => {
  const { app, call, close } = await createTestApp({}, { maxEventLoopDelay: 1_000 });
  t.teardown(close);
  t.equal((await call('GET', '/api/v1/stores/categories/')).status, 200);
  // What is measured in the first two seconds is the start itself.
  await sleep(2_100);
  const block = new Int32Array(new SharedArrayBuffer(4));
  for (let round = 0; round < 20 && !app.isUnderPressure(); round++) {
    Atomics.wait(block, 0, 0, 1_200);
    await sleep(1);
  }
  const refused = await call('GET', '/api/v1/stores/categories/');
  t.equal(refused.status, 503);
  t.equal(refused.body.data.code, 'service_unavailable');
  t.ok(refused.headers['retry-after']);
  t.equal((await call('GET', '/health/live')).status, 200);
  await sleep(2_200);
  t.equal((await call('GET', '/api/v1/stores/categories/')).status, 200, 'it recovers by itself');
});

t.test('health answers while 64 logins run', async (t) => {
  // Hashes as expensive as in production.
  const app = await createTestApp({ ARGON2_MEMORY_KIB: '19456', ARGON2_TIME_COST: '2' });
  t.teardown(app.close);
  let running = 64;
  const logins = Array.from({ length: running }, async (_, index) => {
    const answer = await app.call('POST', '/auth/login/', {
      body: { username: `unknown${index}`, password },
    });
    running -= 1;
    return answer;
  });
  let rounds = 0;
  for (; running > 0; rounds++) {
    const health = await Promise.all(['live', 'ready'].map((what) => app.call('GET', `/health/${what}`)));
    t.strictSame(
      health.map(({ status }) => status),
      [200, 200],
    );
  }
  // Hashes on the event loop would let one of them through at a time.
  t.ok(rounds > logins.length, `${rounds} times in the meantime`);
  for (const { status } of await Promise.all(logins)) t.equal(status, 401);
});
