import type { Test } from 'tap';
import { type Api, createTestApp, type TestApp, type TestResponse } from '../support/app.ts';
import { rejected } from '../support/assertions.ts';

let hosts = 0;

/** An address that no other test has used. */
export function newAddress(): string {
  hosts += 1;
  return `198.51.${Math.floor(hosts / 250)}.${hosts % 250}`;
}

/** The requests of an app, each from another address. */
export const fromAnywhere = ({ call }: TestApp): Api => ({
  call: (method, path, options) => call(method, path, { ...options, remoteAddress: newAddress() }),
});

/** Asserts a request beyond the limit. */
export function limited(t: Test, response: TestResponse): void {
  const wait = Number(response.headers['retry-after']);
  rejected(t, response, 429, 'rate_limited', { retry_after: wait });
  t.ok(Number.isInteger(wait) && wait >= 1 && wait <= 60, `${wait} s`);
  t.equal(response.headers['ratelimit-remaining'], '0');
}

/** An app with limits. */
export function createLimitedApp(
  environment: Record<string, string> = {},
  options: Parameters<typeof createTestApp>[1] = {},
) {
  const limits = { RATE_LIMIT_ENABLED: 'true', WORKER_ENABLED: 'false' };
  return createTestApp({ ...limits, ...environment }, options);
}
