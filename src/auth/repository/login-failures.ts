import { createHmac } from 'node:crypto';
import type { Secret } from '../../config/secrets.ts';
import type { Connection, Database } from '../../database/client.ts';

/** So many failures within the window start the delay. */
const maxFailures = 10;
const windowSeconds = 15 * 60;
/** The first delay; each further failure doubles it up to the longest. */
const firstDelay = 30;
const longestDelay = 15 * 60;

/** Times in seconds since 1970, by the database's clock. */
interface Failures {
  now: number;
  failed_at: number[];
  delay_seconds: number;
  locked_until: number | null;
}

export type LoginFailures = ReturnType<typeof createLoginFailureRepository>;

/**
 * Counts failed logins per account, also of accounts that do not exist. A client address from which the account logged in
 * lately counts for itself, so that a stranger cannot lock the owner out.
 */
export function createLoginFailureRepository({ client, transaction }: Database, secret: Secret) {
  /**
   * Names a counter without telling whose it is. Keyed, because people type passwords into the field for the username: a
   * plain digest of one could be guessed from the table.
   */
  function keyOf(account: { userId: number } | { login: string }, knownAddress?: string): string {
    const name = 'userId' in account ? `user:${account.userId}` : `login:${account.login}`;
    return createHmac('sha256', secret.key)
      .update(`dure login failures:${name}|${knownAddress ?? ''}`)
      .digest('hex');
  }

  /** Seconds until the account may be tried again; 0 when it may be tried now. */
  async function delay(key: string): Promise<number> {
    const [row] = await client.$queryRaw<{ delay: number }[]>`
      SELECT extract(epoch FROM locked_until - clock_timestamp())::float8 AS delay
      FROM login_failures WHERE key = ${key} AND locked_until > clock_timestamp()`;
    return row?.delay ?? 0;
  }

  /**
   * Counts a failed login. The lock of the row puts parallel failures in a row, so that no more than the allowed number is
   * ever judged before the delay begins.
   *
   * @returns seconds of a delay that had begun before; then the failure is not counted. 0 when it was counted.
   */
  async function count(key: string): Promise<number> {
    return transaction(async (tx) => {
      await tx.$executeRaw`
        INSERT INTO login_failures (key, failed_at) VALUES (${key}, '{}') ON CONFLICT DO NOTHING`;
      const [failures] = await tx.$queryRaw<Failures[]>`
        SELECT extract(epoch FROM clock_timestamp())::float8 AS now,
          ARRAY(SELECT extract(epoch FROM t)::float8 FROM unnest(failed_at) t) AS failed_at,
          delay_seconds, extract(epoch FROM locked_until)::float8 AS locked_until
        FROM login_failures WHERE key = ${key} FOR UPDATE`;
      if (failures === undefined) return 0;
      const { now, locked_until: lockedUntil } = failures;
      if (lockedUntil !== null && lockedUntil > now) return lockedUntil - now;
      const recent = [...failures.failed_at, now]
        .filter((time) => time > now - windowSeconds)
        .slice(-maxFailures);
      const next = nextDelay(failures, recent.length);
      await tx.$executeRaw`
        UPDATE login_failures SET
          failed_at = ARRAY(SELECT to_timestamp(t) FROM unnest(${recent}::float8[]) t),
          delay_seconds = ${next},
          locked_until = CASE WHEN ${next}::int > 0 THEN clock_timestamp() + make_interval(secs => ${next}) END,
          updated_at = clock_timestamp()
        WHERE key = ${key}`;
      return 0;
    });
  }

  /** Forgets the failures of an account: after a login, and after a completed reset. */
  async function clear(connection: Connection, keys: string[]): Promise<void> {
    await connection.loginFailure.deleteMany({ where: { key: { in: keys } } });
  }

  return { keyOf, delay, count, clear };
}

function nextDelay({ now, delay_seconds, locked_until }: Failures, recentFailures: number): number {
  const delayedLately = delay_seconds > 0 && locked_until !== null && locked_until > now - windowSeconds;
  if (delayedLately) return Math.min(delay_seconds * 2, longestDelay);
  return recentFailures >= maxFailures ? firstDelay : 0;
}
