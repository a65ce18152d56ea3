import type { Test } from 'tap';
import { type Answer, createTestApp } from '../support/app.ts';
import { refused } from '../support/assertions.ts';

let hosts = 0;

/** An address that no other test has used. */
export function newAddress(): string {
  hosts += 1;
  return `198.51.${Math.floor(hosts / 250)}.${hosts % 250}`;
}

/** Asserts a request beyond the limit. */
export function limited(t: Test, answer: Answer): void {
  const wait = Number(answer.headers['retry-after']);
  refused(t, answer, 429, 'rate_limited', { retry_after: wait });
  t.ok(Number.isInteger(wait) && wait >= 1 && wait <= 60, `${wait} s`);
  t.equal(answer.headers['ratelimit-remaining'], '0');
}

/** An app with limits, until the test ends. */
export async function createLimitedApp(t: Test, environment: Record<string, string> = {}) {
  const app = await createTestApp({ RATE_LIMIT_ENABLED: 'true', WORKER_ENABLED: 'false', ...environment });
  t.teardown(app.close);
  return app;
}
