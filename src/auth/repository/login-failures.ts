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
  key: string;
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

/** Seconds until the next attempt is allowed; 0 when it is allowed now. */
export interface Delays {
  /** After failures from all client addresses together. */
  general: number;
  /** After failures from the client's own address. */
  own: number;
}

/** Half of a key: 128 bits in hexadecimal digits. */
const halfLength = 32;
const allAddresses = '0'.repeat(halfLength);

/**
 * Counts failed logins by the name that was typed, with or without an account: from all client addresses together, and
 * from each address. Rows never depend on accounts, so that nothing that they cause tells which names exist or belong
 * together.
 */
export function createLoginFailureRepository(database: Database, secret: Secret) {
  /** Keyed, because people type passwords into the field for the username, and a plain digest of one could be guessed. */
  function digest(value: string): string {
    const hmac = createHmac('sha256', secret.key).update(`dure login failures:${value}`);
    return hmac.digest('hex').slice(0, halfLength);
  }

  const startOf = (name: string) => digest(`name:${name}`);
  const generalKey = (name: string) => startOf(name) + allAddresses;
  const ownKey = (name: string, address: string) => startOf(name) + digest(`address:${address}`);

  /** @param names folded; the longest delay of them counts */
  async function delays(names: string[], address: string): Promise<Delays> {
    const rows = await database.query<{ key: string; delay: number }>(sql`
      SELECT key, extract(epoch FROM locked_until - clock_timestamp())::float8 AS delay
      FROM login_failures WHERE key = ANY (${keysOf(names, address)}) AND locked_until > clock_timestamp()`);
    return longest(rows);
  }

  /**
   * Counts a failure. A failure during a delay does not prolong that delay. The row locks serialise concurrent failures, so that
   * no more than the allowed number of attempts is evaluated before the delay begins.
   *
   * @returns the delays that had begun before
   */
  async function count(names: string[], address: string): Promise<Delays> {
    const keys = keysOf(names, address);
    return database.runInTransaction(async (tx) => {
      await tx.execute(sql`
        INSERT INTO login_failures (key, failed_at) SELECT key, '{}' FROM unnest(${keys}::text[]) AS k (key) ORDER BY key
        ON CONFLICT DO NOTHING`);
      const rows = await tx.query<Failures>(sql`
        SELECT key, cardinality(ARRAY(${recentFailures})) AS recent, delay_seconds,
          extract(epoch FROM locked_until - clock_timestamp())::float8 AS remaining
        FROM login_failures WHERE key = ANY (${keys}) ORDER BY key FOR UPDATE`);
      const begun = longest(rows.map(({ key, remaining }) => ({ key, delay: remaining ?? 0 })));
      // Such an attempt is refused unseen.
      if (begun.own > 0) return begun;
      const counted = rows.filter(({ remaining }) => remaining === null || remaining <= 0);
      await addFailure(tx, counted);
      return begun;
    });
  }

  async function addFailure(tx: Tx, rows: Failures[]): Promise<void> {
    const keys = rows.map(({ key }) => key);
    await tx.execute(sql`
      UPDATE login_failures f SET
        failed_at = ARRAY(${recentFailures}) || clock_timestamp(),
        delay_seconds = n.delay,
        locked_until = CASE WHEN n.delay > 0 THEN clock_timestamp() + make_interval(secs => n.delay) END,
        updated_at = clock_timestamp()
      FROM unnest(${keys}::text[], ${rows.map(nextDelay)}::int[]) AS n (key, delay) WHERE f.key = n.key`);
  }

  /**
   * Forgets the failures with some names, from all addresses.
   *
   * @param address only when there were failures from this address; without it in any case
   */
  async function clear(tx: Tx, names: string[], address?: string): Promise<void> {
    const ownKeys = address === undefined ? null : names.map((name) => ownKey(name, address));
    await tx.execute(sql`
      DELETE FROM login_failures WHERE key = ANY (ARRAY(
        SELECT f.key FROM unnest(${names.map(startOf)}::text[]) AS n (start)
          JOIN login_failures f ON f.key BETWEEN n.start AND n.start || 'g'
        WHERE ${ownKeys}::text[] IS NULL OR EXISTS (SELECT FROM login_failures WHERE key = ANY (${ownKeys}::text[]))
        ORDER BY f.key FOR UPDATE OF f))`);
  }

  function keysOf(names: string[], address: string): string[] {
    return names.flatMap((name) => [generalKey(name), ownKey(name, address)]);
  }

  return { delays, count, clear };
}

function longest(rows: { key: string; delay: number }[]): Delays {
  const isGeneral = ({ key }: { key: string }) => key.endsWith(allAddresses);
  const most = (some: { delay: number }[]) => Math.max(0, ...some.map(({ delay }) => delay));
  return { general: most(rows.filter(isGeneral)), own: most(rows.filter((row) => !isGeneral(row))) };
}

function nextDelay({ recent, delay_seconds, remaining }: Failures): number {
  const wasDelayed = delay_seconds > 0 && remaining !== null && remaining > -windowSeconds;
  if (wasDelayed) return Math.min(delay_seconds * 2, longestDelay);
  return recent + 1 >= maxFailures ? firstDelay : 0;
}
