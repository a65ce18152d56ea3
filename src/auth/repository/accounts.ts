import type { ExpiredRows } from '../../database/clean-up.ts';
import type { Connection, Database, Queryable, Tx } from '../../database/client.ts';
import type { Prisma } from '../../database/generated/client.ts';
import type { Language } from '../../database/generated/enums.ts';
import { type Sql, sql } from '../../database/sql.ts';
import type { HashCost } from '../dummy-hashes.ts';

/** How long a client's address stays known after the last login from it. */
const knownAddressDays = 30;

/** Addresses without a recent login. */
export const expiredKnownAddresses: ExpiredRows = {
  table: 'known_addresses',
  condition: sql`last_used_at < now() - make_interval(days => ${knownAddressDays})`,
};

/** What the API shows of an account. */
export const userColumns = {
  id: true,
  username: true,
  name: true,
  email: true,
  role: true,
  isVerified: true,
} satisfies Prisma.UserSelect;

export type UserRow = Prisma.UserGetPayload<{ select: typeof userColumns }>;

/** What a mail to an account needs. */
const recipientColumns = { ...userColumns, suspendedAt: true } satisfies Prisma.UserSelect;

type RecipientRow = Prisma.UserGetPayload<{ select: typeof recipientColumns }>;

/** What the password check of a logged-in user needs. */
interface PasswordAccount {
  passwordHash: string;
  /** Whether the account logged in from this client's address lately. */
  fromKnownAddress: boolean;
}

/** What a login needs of an account. */
type LoginAccount = UserRow & PasswordAccount & { isSuspended: boolean };

/** Whether the user `u` of a query logged in from an address lately. */
function isKnownAddress(address: string): Sql {
  return sql`
    EXISTS (SELECT FROM known_addresses k WHERE k.user_id = u.id AND k.address = ${address}
      AND k.last_used_at > now() - make_interval(days => ${knownAddressDays}))`;
}

/** Accounts, and the client addresses from which they log in. */
export function createAccountRepository(database: Database) {
  /** @returns undefined when the username or the e-mail address is taken; of concurrent calls one succeeds */
  async function create(tx: Tx, data: Prisma.UserCreateManyInput): Promise<UserRow | undefined> {
    const [row] = await tx.prisma.user.createManyAndReturn({
      data: [data],
      skipDuplicates: true,
      select: userColumns,
    });
    return row;
  }

  async function isUsernameTaken(connection: Connection, username: string): Promise<boolean> {
    return (await connection.prisma.user.count({ where: { username } })) > 0;
  }

  /**
   * One query whether the account exists or not, so that the time reveals nothing.
   *
   * @param login the username or the e-mail address, folded
   */
  async function findForLogin(login: string, address: string): Promise<LoginAccount | undefined> {
    const [row] = await database.query<LoginAccount>(sql`
      SELECT id, username, name, email, role, is_verified AS "isVerified", password_hash AS "passwordHash",
        suspended_at IS NOT NULL AS "isSuspended", ${isKnownAddress(address)} AS "fromKnownAddress"
      FROM users u WHERE username = ${login} OR email = ${login}`);
    return row;
  }

  /** The parameters of the password hashes, and how many accounts have each. Reads all accounts. */
  async function countHashCosts(): Promise<HashCost[]> {
    return database.query<HashCost>(sql`
      SELECT split_part(password_hash, '$', 4) AS cost, count(*)::float8 AS accounts
      FROM users WHERE password_hash LIKE '$argon2id$v=19$m=%' GROUP BY 1`);
  }

  async function findForPasswordCheck(userId: number, address: string) {
    const [row] = await database.query<PasswordAccount & { needsReset: boolean }>(sql`
      SELECT password_hash AS "passwordHash", ${isKnownAddress(address)} AS "fromKnownAddress",
        needs_reset AS "needsReset"
      FROM users u WHERE id = ${userId}`);
    return row;
  }

  /** Lets nothing but a reset of the password change the account. */
  async function requireReset(tx: Tx, userId: number): Promise<void> {
    await tx.prisma.user.updateMany({ where: { id: userId }, data: { needsReset: true } });
  }

  /**
   * Saves what a successful login changes: its time, the language unless the user chose one, the address, and a hash with the
   * current parameters.
   *
   * @param verifiedHash the hash that the password was verified against
   * @returns false when the password was changed or the account suspended meanwhile
   */
  async function recordLogin(
    tx: Queryable,
    userId: number,
    verifiedHash: string,
    { address, language, passwordHash }: { address: string; language: Language; passwordHash?: string },
  ): Promise<boolean> {
    const updated = await tx.execute(sql`
      UPDATE users SET last_login_at = now(),
        language = CASE WHEN has_chosen_language THEN language ELSE ${language}::language END,
        password_hash = coalesce(${passwordHash ?? null}, password_hash)
      WHERE id = ${userId} AND password_hash = ${verifiedHash} AND suspended_at IS NULL`);
    if (updated === 0) return false;
    await tx.execute(sql`
      INSERT INTO known_addresses (user_id, address) VALUES (${userId}, ${address})
      ON CONFLICT (user_id, address) DO UPDATE SET last_used_at = now()`);
    return true;
  }

  async function findByEmail(connection: Connection, email: string): Promise<RecipientRow | null> {
    return connection.prisma.user.findUnique({ where: { email }, select: recipientColumns });
  }

  async function findById(connection: Connection, id: number): Promise<RecipientRow | null> {
    return connection.prisma.user.findUnique({ where: { id }, select: recipientColumns });
  }

  /** @returns undefined when the account is gone */
  async function rename(userId: number, name: string): Promise<UserRow | undefined> {
    const [row] = await database.prisma.user.updateManyAndReturn({
      where: { id: userId },
      data: { name },
      select: userColumns,
    });
    return row;
  }

  /** @returns whether the account became verified; not if it was already, is gone, or has another address */
  async function markVerified(tx: Tx, userId: number, email: string): Promise<boolean> {
    const { count } = await tx.prisma.user.updateMany({
      where: { id: userId, email, isVerified: false },
      data: { isVerified: true },
    });
    return count > 0;
  }

  /**
   * Replaces the password hash.
   *
   * @param expectedHash the hash that a password was verified against; nothing happens when it was replaced meanwhile, or when
   * only a reset may change the account
   * @returns whether the hash was replaced
   */
  async function replacePassword(
    tx: Tx,
    userId: number,
    passwordHash: string,
    expectedHash?: string,
  ): Promise<boolean> {
    const where =
      expectedHash === undefined
        ? { id: userId }
        : { id: userId, passwordHash: expectedHash, needsReset: false };
    const data = { passwordHash, needsReset: false };
    const { count } = await tx.prisma.user.updateMany({ where, data });
    return count > 0;
  }

  /** Forgets the addresses from which an account logged in: an intruder's may be among them. */
  async function forgetAddresses(tx: Tx, userId: number): Promise<void> {
    await tx.prisma.knownAddress.deleteMany({ where: { userId } });
  }

  /** @returns whether the account existed */
  async function remove(tx: Tx, userId: number): Promise<boolean> {
    return (await tx.prisma.user.deleteMany({ where: { id: userId } })).count > 0;
  }

  return {
    create,
    isUsernameTaken,
    findForLogin,
    countHashCosts,
    findForPasswordCheck,
    requireReset,
    recordLogin,
    findByEmail,
    findById,
    rename,
    markVerified,
    replacePassword,
    forgetAddresses,
    remove,
  };
}
