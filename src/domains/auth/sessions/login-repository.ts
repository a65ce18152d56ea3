import { createHmac, randomUUID } from 'node:crypto';
import type { Config } from '../../../infrastructure/config/config.ts';
import type { Database, Tx } from '../../../infrastructure/database/client.ts';
import type { Session, User } from '../../../infrastructure/database/generated/client.ts';
import { type Sql, sql } from '../../../infrastructure/database/sql.ts';
import type { UserRow } from '../accounts/repository.ts';
import type { ProviderIdentity } from '../providers/repository.ts';

/** How long a client's address stays known after the last login from it. */
export const knownAddressDays = 30;
/** Failures within the window that start the delay. */
const maxFailures = 10;
const windowSeconds = 15 * 60;
/** Seconds of the first delay; each further failure doubles it up to the longest. */
const [firstDelay, longestDelay] = [30, 15 * 60];

/** An account that is logged in to. */
export interface LoginAccount extends UserRow, Pick<User, 'passwordHash' | 'needsReset'> {
  isSuspended: boolean;
  hasSecondFactor: boolean;
  /** Whether the account logged in from the client's address lately. */
  isAddressKnown: boolean;
}

/** What a login or an attempt with a password is checked against, with the keys of its counters and the seconds of their delay. */
export type LoginSubject = { account: LoginAccount | undefined; counters: string[]; delay: number };

/** `methods`: how the user proved who they are; `passwordHash`: in place of the current one, with the current parameters. */
type NewSession = Pick<Session, 'userAgent' | 'ip' | 'methods'> &
  Pick<User, 'language' | 'passwordHash'> & { clientAddress: string };

interface Failures {
  key: string;
  recent: number;
  delaySeconds: number;
  /** Seconds until the latest delay ends, negative when it is over; null before the first delay. */
  remaining: number | null;
}

const recentFailures = sql`
  SELECT t FROM unnest(failed_at) t WHERE t > clock_timestamp() - make_interval(secs => ${windowSeconds})
  ORDER BY t DESC LIMIT ${maxFailures - 1}`;

/** Half of a key: 128 bits in hexadecimal digits. */
const halfLength = 32;

/**
 * What logins read and write, and their failures, which are counted by the name that was typed, with or without an account: no counter
 * tells which username and email address belong together. A client address from which the account logged in lately has a counter of
 * its own, so that a stranger cannot lock the owner out.
 */
export function createLoginRepository(database: Database, { tokens, secrets: [secret] }: Config) {
  const { refreshTtl, sessionMaxAge } = tokens;

  /** Keyed, because people type passwords into the field for the username, and a plain digest of one could be guessed. */
  function digest(value: string): string {
    const hmac = createHmac('sha256', secret.key).update(`dure login failures:${value}`);
    return hmac.digest('hex').slice(0, halfLength);
  }

  const startOf = (name: string) => digest(`name:${name}`);

  /** The keys of the counters of some lower-cased names, for the address of the client if the account logged in from it lately. */
  function keysOf(names: string[], knownAddress: string | undefined): string[] {
    const end = knownAddress === undefined ? '0'.repeat(halfLength) : digest(`address:${knownAddress}`);
    return names.map((name) => startOf(name) + end);
  }

  const countersOf = ({ username, email, isAddressKnown }: LoginAccount, address: string) =>
    keysOf([username, email], isAddressKnown ? address : undefined);

  async function accountWhere(condition: Sql, address: string) {
    const [account] = await database.query<LoginAccount>(sql`/* auth.findLoginAccount */
      SELECT id, username, name, email, role, is_verified AS "isVerified", password_hash AS "passwordHash",
        suspended_at IS NOT NULL AS "isSuspended", needs_reset AS "needsReset",
        EXISTS (SELECT FROM known_addresses k WHERE k.user_id = u.id AND k.address = ${address}
          AND k.last_used_at > now() - make_interval(days => ${knownAddressDays})) AS "isAddressKnown",
        EXISTS (SELECT FROM second_factors f WHERE f.user_id = u.id AND f.confirmed_at IS NOT NULL) AS "hasSecondFactor"
      FROM users u WHERE ${condition}`);
    return account;
  }

  /** By the same statements for known and unknown names, so that the time reveals nothing. */
  async function subjectWhere(condition: Sql, names: string[], address: string) {
    const account = await accountWhere(condition, address);
    const counters = keysOf(names, account?.isAddressKnown ? address : undefined);
    return { account, counters, delay: await delay(counters) };
  }

  /** Seconds until the next attempt is allowed; 0 when it is allowed now. */
  async function delay(keys: string[]): Promise<number> {
    const [row] = await database.query<{ delay: number | null }>(sql`/* auth.loginDelay */
      SELECT extract(epoch FROM max(locked_until) - clock_timestamp())::float8 AS delay FROM login_failures
      WHERE key = ANY (${keys}) AND locked_until > clock_timestamp()`);
    return row?.delay ?? 0;
  }

  /** Locks counters, so that a delay begins in time. @returns seconds of one that has begun, and what counts a failure */
  async function lockCounters(tx: Tx, keys: string[]) {
    const rows = await tx.query<Failures>(sql`/* auth.lockFailures */
      INSERT INTO login_failures AS f (key, failed_at)
      SELECT key, '{}' FROM unnest(${keys}::text[]) AS k (key) ORDER BY key
      ON CONFLICT (key) DO UPDATE SET delay_seconds = f.delay_seconds
      RETURNING key, cardinality(ARRAY(${recentFailures})) AS recent, delay_seconds AS "delaySeconds",
        extract(epoch FROM locked_until - clock_timestamp())::float8 AS remaining`);

    /** @returns how many failures are left before the next delay */
    async function countFailure(): Promise<number> {
      const delays = rows.map(nextDelay);
      await tx.execute(sql`/* auth.countFailure */
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

  return {
    countersOf,
    lockCounters,
    delay,

    /** By the lower-cased username or email address. */
    find: (login: string, address: string) =>
      subjectWhere(sql`username = ${login} OR email = ${login}`, [login], address),

    findOwn: ({ id, username, email }: Pick<UserRow, 'id' | 'username' | 'email'>, address: string) =>
      subjectWhere(sql`id = ${id}`, [username, email], address),

    findById: (id: number, address: string) => accountWhere(sql`id = ${id}`, address),

    // Each is one statement with the passkey or the identity, so that none that was removed meanwhile finds an account.
    findByPasskey: (passkeyId: number, address: string) =>
      accountWhere(sql`u.id = (SELECT p.user_id FROM passkeys p WHERE p.id = ${passkeyId})`, address),

    findByIdentity({ issuer, subject }: ProviderIdentity, address: string) {
      const owner = sql`SELECT user_id FROM identities WHERE issuer = ${issuer} AND subject = ${subject}`;
      return accountWhere(sql`u.id = (${owner})`, address);
    },

    /**
     * Saves a successful login: its time, the language unless the user chose one, the address, the hash and a session; and resets
     * the counters of the account. They are locked first, so that no failure is counted between the check of the delay and the login.
     * @param account with the password that it had when it was found
     * @param counters whose delay rejects the login; none where no secret was guessed
     * @returns undefined when a delay has begun, the password was changed, or the account was suspended meanwhile
     */
    async record(account: LoginAccount, counters: string[], session: NewSession) {
      const { id: userId } = account;
      const { passwordHash, methods, clientAddress, language, userAgent, ip } = session;
      const sessionId = randomUUID();
      const lifetime = Math.min(refreshTtl, sessionMaxAge);
      const created = await database.execute(sql`/* auth.recordLogin */
        WITH counter AS (
          SELECT key, locked_until FROM login_failures WHERE key = ANY (${countersOf(account, clientAddress)})
          ORDER BY key FOR UPDATE
        ), logged_in AS (
          UPDATE users SET last_login_at = now(),
            language = CASE WHEN has_chosen_language THEN language ELSE ${language}::language END,
            password_hash = ${passwordHash}
          WHERE id = ${userId} AND password_hash IS NOT DISTINCT FROM ${account.passwordHash}
            AND suspended_at IS NULL AND NOT EXISTS (
              SELECT FROM counter WHERE key = ANY (${counters}) AND locked_until > clock_timestamp())
          RETURNING id
        ), known AS (
          INSERT INTO known_addresses (user_id, address) SELECT id, ${clientAddress} FROM logged_in
          ON CONFLICT (user_id, address) DO UPDATE SET last_used_at = now()
        ), cleared AS (
          DELETE FROM login_failures f USING logged_in, counter c WHERE f.key = c.key
        )
        INSERT INTO sessions (id, user_id, rotated_at, user_agent, ip, expires_at, methods)
        SELECT ${sessionId}::uuid, id, '{}', ${userAgent}, ${ip}, now() + make_interval(secs => ${lifetime}), ${methods}::text[]
        FROM logged_in`);
      return created > 0 ? { userId, sessionId, count: 0, refreshExpiresIn: lifetime } : undefined;
    },

    /** @returns seconds of a delay that had begun before, in which case the failure is not counted; 0 when it was counted */
    countFailure: (keys: string[]): Promise<number> =>
      database.transaction(async (tx) => {
        const { delay, countFailure } = await lockCounters(tx, keys);
        if (delay === 0) await countFailure();
        return delay;
      }),

    /** Forgets the addresses from which an account logged in: an intruder's may be among them. */
    forgetAddresses: (tx: Tx, userId: number) => tx.prisma.knownAddress.deleteMany({ where: { userId } }),

    clearFailures: (tx: Tx, names: string[]) =>
      tx.execute(sql`/* auth.clearFailures */
        DELETE FROM login_failures WHERE key = ANY (ARRAY(
          SELECT f.key FROM unnest(${names.map(startOf)}::text[]) AS k (start)
            JOIN login_failures f ON f.key BETWEEN k.start AND k.start || 'g'
          ORDER BY f.key || '' FOR UPDATE OF f))`),
  };
}

function nextDelay({ recent, delaySeconds, remaining }: Failures): number {
  const wasDelayed = delaySeconds > 0 && remaining !== null && remaining > -windowSeconds;
  if (wasDelayed) return Math.min(delaySeconds * 2, longestDelay);
  return recent + 1 >= maxFailures ? firstDelay : 0;
}
