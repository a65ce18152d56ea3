import { createHmac } from 'node:crypto';
import type { Secret } from '../../config/secrets.ts';
import type { ExpiredRows } from '../../database/clean-up.ts';
import type { Database, Tx } from '../../database/client.ts';
import { sql } from '../../database/sql.ts';

/** Failures within the window that start the delay. */
const maxFailures = 10;
const windowSeconds = 15 * 60;
/** Seconds of the first delay; each further failure doubles it up to the longest. */
const firstDelay = 30;
const longestDelay = 15 * 60;

/** Delay and window together are over within half an hour. */
const retentionSeconds = 60 * 60;

/** Counters that no longer matter. */
export const expiredLoginFailures: ExpiredRows = {
  table: 'login_failures',
  condition: sql`updated_at < now() - make_interval(secs => ${retentionSeconds})
    AND (locked_until IS NULL OR locked_until < now())`,
};

/** Times in seconds since 1970, by the database's clock. */
interface Failures {
  now: number;
  failed_at: number[];
  delay_seconds: number;
  locked_until: number | null;
}

/**
 * Counts failed logins per account, existing or not. A client address from which the account logged in lately has a counter
 * of its own, so that a stranger cannot lock the owner out.
 */
export function createLoginFailureRepository(database: Database, secret: Secret) {
  /**
   * The key of a counter. It is an HMAC, because people type passwords into the field for the username, and a plain digest of
   * one could be guessed from the table.
   */
  function keyOf(account: { userId: number } | { login: string }, knownAddress?: string): string {
    const name = 'userId' in account ? `user:${account.userId}` : `login:${account.login}`;
    return createHmac('sha256', secret.key)
      .update(`dure login failures:${name}|${knownAddress ?? ''}`)
      .digest('hex');
  }

  /** Seconds until the next attempt is allowed; 0 when it is allowed now. */
  async function delay(key: string): Promise<number> {
    const [row] = await database.query<{ delay: number }>(sql`
      SELECT extract(epoch FROM locked_until - clock_timestamp())::float8 AS delay
      FROM login_failures WHERE key = ${key} AND locked_until > clock_timestamp()`);
    return row?.delay ?? 0;
  }

  /**
   * Counts a failed login. The row lock serialises concurrent failures, so that no more than the allowed number of attempts is
   * evaluated before the delay begins.
   *
   * @returns seconds of a delay that had begun before, in which case the failure is not counted; 0 when it was counted
   */
  async function count(key: string): Promise<number> {
    return database.runInTransaction(async (tx) => {
      await tx.execute(sql`
        INSERT INTO login_failures (key, failed_at) VALUES (${key}, '{}') ON CONFLICT DO NOTHING`);
      const [failures] = await tx.query<Failures>(sql`
        SELECT extract(epoch FROM clock_timestamp())::float8 AS now,
          ARRAY(SELECT extract(epoch FROM t)::float8 FROM unnest(failed_at) t) AS failed_at,
          delay_seconds, extract(epoch FROM locked_until)::float8 AS locked_until
        FROM login_failures WHERE key = ${key} FOR UPDATE`);
      if (failures === undefined) return 0;
      const { now, locked_until: lockedUntil } = failures;
      if (lockedUntil !== null && lockedUntil > now) return lockedUntil - now;
      const recent = [...failures.failed_at, now]
        .filter((time) => time > now - windowSeconds)
        .slice(-maxFailures);
      const next = nextDelay(failures, recent.length);
      await tx.execute(sql`
        UPDATE login_failures SET
          failed_at = ARRAY(SELECT to_timestamp(t) FROM unnest(${recent}::float8[]) t),
          delay_seconds = ${next},
          locked_until = CASE WHEN ${next}::int > 0 THEN clock_timestamp() + make_interval(secs => ${next}) END,
          updated_at = clock_timestamp()
        WHERE key = ${key}`);
      return 0;
    });
  }

  /** Resets counters, after a login or a completed password reset. */
  async function clear(tx: Tx, keys: string[]): Promise<void> {
    await tx.prisma.loginFailure.deleteMany({ where: { key: { in: keys } } });
  }

  return { keyOf, delay, count, clear };
}

function nextDelay({ now, delay_seconds, locked_until }: Failures, recentFailures: number): number {
  const wasDelayed = delay_seconds > 0 && locked_until !== null && locked_until > now - windowSeconds;
  if (wasDelayed) return Math.min(delay_seconds * 2, longestDelay);
  return recentFailures >= maxFailures ? firstDelay : 0;
}
