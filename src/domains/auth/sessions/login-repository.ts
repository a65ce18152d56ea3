import { randomUUID } from 'node:crypto';
import type { Config } from '../../../infrastructure/config/config.ts';
import type { ExpiredRows } from '../../../infrastructure/database/clean-up.ts';
import type { Database, Tx } from '../../../infrastructure/database/client.ts';
import type { User } from '../../../infrastructure/database/generated/client.ts';
import type { Language } from '../../../infrastructure/database/generated/enums.ts';
import { type Sql, sql } from '../../../infrastructure/database/sql.ts';
import type { UserRow } from '../accounts/repository.ts';
import { delayOf, type LoginFailureRepository } from './failure-repository.ts';
import type { LiveSession } from './repository.ts';

/** How long a client's address stays known after the last login from it. */
const knownAddressDays = 30;

export const expiredKnownAddresses: ExpiredRows = {
  table: 'known_addresses',
  condition: sql`last_used_at < now() - make_interval(days => ${knownAddressDays})`,
  isScanned: true,
};

/** An account that is logged in to. */
export interface LoginAccount extends UserRow, Pick<User, 'passwordHash' | 'needsReset'> {
  isSuspended: boolean;
  /** Whether a login needs a one-time code. */
  hasSecondFactor: boolean;
  /** Whether the account logged in from the client's address lately. */
  isAddressKnown: boolean;
}

/** What a login or an attempt with a password is checked against. */
export interface LoginSubject {
  account: LoginAccount | undefined;
  /** The keys of the counters of its failures. */
  counters: string[];
  /** Seconds until the next attempt is allowed; 0 when it is allowed now. */
  delay: number;
}

interface NewSession {
  clientAddress: string;
  language: Language;
  userAgent: string;
  ip: string;
  /** How the user proved who they are. */
  methods: string[];
  /** In place of the current hash, with the current parameters. */
  passwordHash: string | null;
}

/** What logins read and write, in one statement each, and the client addresses from which accounts log in. */
export function createLoginRepository(
  database: Database,
  { refreshTtl, sessionMaxAge }: Config['tokens'],
  { keysOf }: LoginFailureRepository,
) {
  const account = (condition: Sql, address: string) => sql`
    SELECT id, username, name, email, role, is_verified AS "isVerified", password_hash AS "passwordHash",
      suspended_at IS NOT NULL AS "isSuspended", needs_reset AS "needsReset",
      EXISTS (SELECT FROM known_addresses k WHERE k.user_id = u.id AND k.address = ${address}
        AND k.last_used_at > now() - make_interval(days => ${knownAddressDays})) AS "isAddressKnown",
      EXISTS (SELECT FROM second_factors f WHERE f.user_id = u.id AND f.confirmed_at IS NOT NULL) AS "hasSecondFactor"
    FROM users u WHERE ${condition}`;

  async function find(condition: Sql, names: string[], address: string): Promise<LoginSubject> {
    const [known, unknown] = [keysOf(names, address), keysOf(names, undefined)];
    const [row] = await database.query<{ account: LoginAccount | null; delay: number | null }>(sql`
      WITH account AS (${account(condition, address)})
      SELECT (SELECT to_json(a) FROM account a) AS account,
        ${delayOf(sql`CASE WHEN (SELECT "isAddressKnown" FROM account) THEN ${known}::text[] ELSE ${unknown} END`)} AS delay`);
    const found = row?.account ?? undefined;
    return { account: found, counters: found?.isAddressKnown ? known : unknown, delay: row?.delay ?? 0 };
  }

  const countersOf = ({ username, email, isAddressKnown }: LoginAccount, address: string) =>
    keysOf([username, email], isAddressKnown ? address : undefined);

  return {
    /**
     * One statement whether the account exists or not, so that the time reveals nothing.
     *
     * @param login the username or the email address, lower-cased
     */
    find: (login: string, address: string) =>
      find(sql`username = ${login} OR email = ${login}`, [login], address),

    findOwn: ({ id, username, email }: Pick<UserRow, 'id' | 'username' | 'email'>, address: string) =>
      find(sql`id = ${id}`, [username, email], address),

    /** The account that a condition on `u` finds. One statement with its identity or passkey, so that a reset is between none of them. */
    async findBy(condition: Sql, address: string): Promise<LoginAccount | undefined> {
      return (await database.query<LoginAccount>(account(condition, address)))[0];
    },

    countersOf,

    /**
     * Saves a successful login: its time, the language unless the user chose one, the address, a hash with the current parameters
     * and a session; and resets the counters of the account. The counters are locked first, so that a failure that is being
     * counted is awaited, and none is counted between the check of the delay and the login.
     *
     * @param account with the password that it had when it was found
     * @param counters whose delay rejects the login; none where no secret was guessed
     * @returns undefined when a delay has begun, the password was changed, or the account was suspended meanwhile
     */
    async record(
      account: LoginAccount,
      counters: string[],
      login: NewSession,
    ): Promise<LiveSession | undefined> {
      const { id: userId } = account;
      const { passwordHash, methods, clientAddress, language, userAgent, ip } = login;
      const sessionId = randomUUID();
      const lifetime = Math.min(refreshTtl, sessionMaxAge);
      const created = await database.execute(sql`
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

    /** Forgets the addresses from which an account logged in: an intruder's may be among them. */
    async forgetAddresses(tx: Tx, userId: number): Promise<void> {
      await tx.prisma.knownAddress.deleteMany({ where: { userId } });
    },
  };
}
