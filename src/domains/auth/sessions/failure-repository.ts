import { createHmac } from 'node:crypto';
import type { Secret } from '../../../infrastructure/config/config.ts';
import type { ExpiredRows } from '../../../infrastructure/database/clean-up.ts';
import type { Database, Tx } from '../../../infrastructure/database/client.ts';
import { type Sql, sql } from '../../../infrastructure/database/sql.ts';

/** Failures within the window that start the delay. */
const maxFailures = 10;
const windowSeconds = 15 * 60;
/** Seconds of the first delay; each further failure doubles it up to the longest. */
const firstDelay = 30;
const longestDelay = 15 * 60;

/** Delay and window together are over within half an hour. */
const retentionSeconds = 60 * 60;

export const expiredLoginFailures: ExpiredRows = {
  table: 'login_failures',
  condition: sql`updated_at < now() - make_interval(secs => ${retentionSeconds})
    AND (locked_until IS NULL OR locked_until < now())`,
  isScanned: true,
};

interface Failures {
  key: string;
  /** Failures within the window, without this one. */
  recent: number;
  delaySeconds: number;
  /** Seconds until the latest delay ends, negative when it is over; null before the first delay. */
  remaining: number | null;
}

/** The failures of a row that count together with a new one. */
const recentFailures = sql`
  SELECT t FROM unnest(failed_at) t WHERE t > clock_timestamp() - make_interval(secs => ${windowSeconds})
  ORDER BY t DESC LIMIT ${maxFailures - 1}`;

/** Half of a key: 128 bits in hexadecimal digits. */
const halfLength = 32;
const unknownAddresses = '0'.repeat(halfLength);

/** Seconds until the delay of the counters with some keys ends; NULL when there is none. */
export const delayOf = (keys: Sql) => sql`(
  SELECT extract(epoch FROM max(locked_until) - clock_timestamp())::float8 FROM login_failures
  WHERE key = ANY (${keys}) AND locked_until > clock_timestamp())`;

export type LoginFailureRepository = ReturnType<typeof createLoginFailureRepository>;

/**
 * Counts failed logins by the name that was typed, with or without an account, so that no counter tells which username and
 * email address belong together. A client address from which the account logged in lately has a counter of its own, so that a
 * stranger cannot lock the owner out.
 */
export function createLoginFailureRepository(database: Database, secret: Secret) {
  /** Keyed, because people type passwords into the field for the username, and a plain digest of one could be guessed. */
  function digest(value: string): string {
    const hmac = createHmac('sha256', secret.key).update(`dure login failures:${value}`);
    return hmac.digest('hex').slice(0, halfLength);
  }

  const startOf = (name: string) => digest(`name:${name}`);

  /**
   * The keys of the counters of some names.
   *
   * @param names lower-cased
   * @param knownAddress the client's address, if the account logged in from it lately
   */
  function keysOf(names: string[], knownAddress: string | undefined): string[] {
    const end = knownAddress === undefined ? unknownAddresses : digest(`address:${knownAddress}`);
    return names.map((name) => startOf(name) + end);
  }

  /** Seconds until the next attempt is allowed; 0 when it is allowed now. */
  async function delay(keys: string[]): Promise<number> {
    const [row] = await database.query<{ delay: number | null }>(
      sql`SELECT ${delayOf(sql`${keys}`)} AS delay`,
    );
    return row?.delay ?? 0;
  }

  /**
   * Locks the counters until the transaction ends, so that no more than the allowed number of attempts is evaluated before the
   * delay begins.
   *
   * @returns seconds of a delay that has begun, and what counts a failure where none has
   */
  async function lock(tx: Tx, keys: string[]) {
    const rows = await tx.query<Failures>(sql`
      INSERT INTO login_failures AS f (key, failed_at)
      SELECT key, '{}' FROM unnest(${keys}::text[]) AS k (key) ORDER BY key
      ON CONFLICT (key) DO UPDATE SET delay_seconds = f.delay_seconds
      RETURNING key, cardinality(ARRAY(${recentFailures})) AS recent, delay_seconds AS "delaySeconds",
        extract(epoch FROM locked_until - clock_timestamp())::float8 AS remaining`);

    /** @returns how many failures are left before the next delay */
    async function countFailure(): Promise<number> {
      const delays = rows.map(nextDelay);
      await tx.execute(sql`
        UPDATE login_failures f SET
          failed_at = ARRAY(${recentFailures}) || clock_timestamp(),
          delay_seconds = n.delay,
          locked_until = CASE WHEN n.delay > 0 THEN clock_timestamp() + make_interval(secs => n.delay) END,
          updated_at = clock_timestamp()
        FROM unnest(${rows.map(({ key }) => key)}::text[], ${delays}::int[]) AS n (key, delay) WHERE f.key = n.key`);
      if (delays.some((delay) => delay > 0)) return 0;
      return maxFailures - 1 - Math.max(...rows.map(({ recent }) => recent));
    }
    return { delay: Math.max(0, ...rows.map(({ remaining }) => remaining ?? 0)), countFailure };
  }

  /**
   * Counts a failure.
   *
   * @returns seconds of a delay that had begun before, in which case the failure is not counted; 0 when it was counted
   */
  async function count(keys: string[]): Promise<number> {
    return database.transaction(async (tx) => {
      const { delay, countFailure } = await lock(tx, keys);
      if (delay === 0) await countFailure();
      return delay;
    });
  }

  /** Resets the counters of some names for all addresses. */
  async function clear(tx: Tx, names: string[]): Promise<void> {
    await tx.execute(sql`
      DELETE FROM login_failures WHERE key = ANY (ARRAY(
        SELECT f.key FROM unnest(${names.map(startOf)}::text[]) AS k (start)
          JOIN login_failures f ON f.key BETWEEN k.start AND k.start || 'g'
        ORDER BY f.key || '' FOR UPDATE OF f))`);
  }

  return { keysOf, delay, lock, count, clear };
}

function nextDelay({ recent, delaySeconds, remaining }: Failures): number {
  const wasDelayed = delaySeconds > 0 && remaining !== null && remaining > -windowSeconds;
  if (wasDelayed) return Math.min(delaySeconds * 2, longestDelay);
  return recent + 1 >= maxFailures ? firstDelay : 0;
}
