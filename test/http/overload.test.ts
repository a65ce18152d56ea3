import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { createTestApp } from '../support/app.ts';

t.test('a process that cannot keep up turns requests away with 503, and health still answers', async (t) => {
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
