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

interface Failures {
  /** Failures within the window, without this one. */
  recent: number;
  delay_seconds: number;
  /** Seconds until the latest delay ends, negative when it is over; null before the first delay. */
  remaining: number | null;
}

/** The failures of a row that count together with a new one. */
const recentFailures = sql`
  SELECT t FROM unnest(failed_at) t WHERE t > clock_timestamp() - make_interval(secs => ${windowSeconds})
  ORDER BY t DESC LIMIT ${maxFailures - 1}`;

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
        SELECT cardinality(ARRAY(${recentFailures})) AS recent, delay_seconds,
          extract(epoch FROM locked_until - clock_timestamp())::float8 AS remaining
        FROM login_failures WHERE key = ${key} FOR UPDATE`);
      if (failures === undefined) return 0;
      if (failures.remaining !== null && failures.remaining > 0) return failures.remaining;
      const next = nextDelay(failures);
      await tx.execute(sql`
        UPDATE login_failures SET
          failed_at = ARRAY(${recentFailures}) || clock_timestamp(),
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

function nextDelay({ recent, delay_seconds, remaining }: Failures): number {
  const wasDelayed = delay_seconds > 0 && remaining !== null && remaining > -windowSeconds;
  if (wasDelayed) return Math.min(delay_seconds * 2, longestDelay);
  return recent + 1 >= maxFailures ? firstDelay : 0;
}
