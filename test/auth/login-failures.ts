import type { Test } from 'tap';
import { type Answer, password, type TestApp } from '../support/app.ts';
import { delayed, refused } from '../support/assertions.ts';

/** Where the users of the tests log in first, which makes it known. */
export const home = '127.0.0.1';
export const stranger = '203.0.113.7';
export const wrong = 'not the password';

/** Asserts a delay of so many seconds that has just begun. The clocks of two processor cores may differ a little. */
export function delayedFor(t: Test, answer: Answer, seconds: number): void {
  delayed(t, answer, seconds + 1, seconds - 4);
}

/** Failed logins, and the passing of time for what is remembered of them. */
export function loginFailuresOf(app: TestApp) {
  const logIn = (username: string, given = password, remoteAddress = stranger, { call } = app) =>
    call('POST', '/auth/login/', { body: { username, password: given }, remoteAddress });
  return {
    logIn,

    /** Fails so many times, and asserts that each is answered as a failed login. */
    async fail(t: Test, times: number, username: string, remoteAddress?: string) {
      for (let time = 0; time < times; time++) {
        refused(t, await logIn(username, wrong, remoteAddress), 401, 'invalid_credentials');
      }
    },

    /** Lets every delay pass. */
    passDelays: () =>
      app.pool.query(`UPDATE login_failures SET locked_until = clock_timestamp() - interval '1 millisecond'
        WHERE locked_until > clock_timestamp()`),

    /** Moves everything that is remembered of failures into the past. */
    age: (interval: string) =>
      app.pool.query(
        `UPDATE login_failures SET locked_until = locked_until - $1::interval,
          failed_at = ARRAY(SELECT t - $1::interval FROM unnest(failed_at) t)`,
        [interval],
      ),
  };
}
