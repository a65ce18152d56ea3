import type { TestApp } from '../support/app.ts';
import { sessionIdIn } from './tokens.ts';

/** The life of a session. */
export function refreshesOf(app: TestApp) {
  const refresh = (token: unknown, { call } = app) =>
    call('POST', '/auth/token/refresh/', { body: { refresh: token } });
  return {
    refresh,
    read: (token: string, { call } = app) => call('GET', '/auth/me/', { token }),

    /** Refreshes and returns the new refresh token. */
    async rotate(token: string): Promise<string> {
      const answer = await refresh(token);
      if (answer.status !== 200) throw new Error(`refresh failed: ${answer.text}`);
      return answer.body.data.refresh;
    },

    /** Lets time pass for a session: all its rotations happened so much earlier. */
    age: (token: string, interval: string) =>
      app.pool.query(
        `UPDATE sessions SET rotated_at = ARRAY(SELECT t - $2::interval FROM unnest(rotated_at) t) WHERE id = $1`,
        [sessionIdIn(token), interval],
      ),
  };
}
