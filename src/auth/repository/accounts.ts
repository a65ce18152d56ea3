import type { Connection, Database } from '../../database/client.ts';
import { Prisma } from '../../database/generated/client.ts';
import type { Language } from '../../http/language.ts';
import type { User } from '../schemas.ts';

/** What a login needs to know of an account. */
export interface LoginAccount {
  user: User;
  passwordHash: string;
  suspended: boolean;
  /** Whether the account logged in from this client's address lately. */
  fromKnownAddress: boolean;
}

type LoginRow = User & { password_hash: string; suspended: boolean; from_known_address: boolean };

/** Logins from an address make it known for so long. */
const knownAddressDays = 30;

/** Whether the user `u` of a query logged in from an address lately. */
function isKnownAddress(address: string): Prisma.Sql {
  return Prisma.sql`
    EXISTS (SELECT FROM known_addresses k WHERE k.user_id = u.id AND k.address = ${address}
      AND k.last_used_at > now() - make_interval(days => ${knownAddressDays}))`;
}

export const userColumns = {
  id: true,
  username: true,
  name: true,
  email: true,
  role: true,
  isVerified: true,
} satisfies Prisma.UserSelect;

type UserRow = Prisma.UserGetPayload<{ select: typeof userColumns }>;

/** A row as the API shows it: exactly the fields of the interface specification. */
export function toUser({ isVerified, ...user }: UserRow): User {
  return { ...user, is_verified: isVerified };
}

export type Accounts = ReturnType<typeof createAccountRepository>;

/** Accounts, and what is known of where they log in from. */
export function createAccountRepository({ client }: Database) {
  /** @returns undefined when the username or the e-mail address is taken; two at once: one gets it */
  async function create(connection: Connection, data: Prisma.UserCreateManyInput): Promise<User | undefined> {
    const [row] = await connection.user.createManyAndReturn({
      data: [data],
      skipDuplicates: true,
      select: userColumns,
    });
    return row && toUser(row);
  }

  async function isUsernameTaken(connection: Connection, username: string): Promise<boolean> {
    return (await connection.user.count({ where: { username } })) > 0;
  }

  /**
   * One query whether the account exists or not, so that the time tells nothing.
   *
   * @param login the username or the e-mail address, folded
   */
  async function findForLogin(login: string, address: string): Promise<LoginAccount | undefined> {
    const [row] = await client.$queryRaw<LoginRow[]>`
      SELECT id, username, name, email, role::text, is_verified, password_hash, suspended_at IS NOT NULL AS suspended,
        ${isKnownAddress(address)} AS from_known_address
      FROM users u WHERE username = ${login} OR email = ${login}`;
    if (row === undefined) return undefined;
    const { password_hash, suspended, from_known_address, ...user } = row;
    return { user, passwordHash: password_hash, suspended, fromKnownAddress: from_known_address };
  }

  /**
   * Keeps what a successful login tells: the language, the address, and a hash with today's parameters.
   *
   * @param checkedHash the hash that the password was checked against
   * @returns false when the password was changed or the account suspended in the meantime
   */
  async function recordLogin(
    transaction: Connection,
    userId: number,
    checkedHash: string,
    { address, ...changes }: { address: string; language: Language; passwordHash?: string },
  ): Promise<boolean> {
    const { count } = await transaction.user.updateMany({
      where: { id: userId, passwordHash: checkedHash, suspendedAt: null },
      data: changes,
    });
    if (count === 0) return false;
    await transaction.$executeRaw`
      INSERT INTO known_addresses (user_id, address) VALUES (${userId}, ${address})
      ON CONFLICT (user_id, address) DO UPDATE SET last_used_at = now()`;
    return true;
  }

  /** Addresses that count failed logins for themselves. */
  async function knownAddresses(connection: Connection, userId: number): Promise<string[]> {
    const rows = await connection.knownAddress.findMany({ where: { userId }, select: { address: true } });
    return rows.map(({ address }) => address);
  }

  /** What a check of the password of somebody who is logged in needs to know. */
  async function findForPasswordCheck(
    userId: number,
    address: string,
  ): Promise<Pick<LoginAccount, 'passwordHash' | 'fromKnownAddress'> | undefined> {
    const [row] = await client.$queryRaw<Pick<LoginRow, 'password_hash' | 'from_known_address'>[]>`
      SELECT password_hash, ${isKnownAddress(address)} AS from_known_address FROM users u WHERE id = ${userId}`;
    return row && { passwordHash: row.password_hash, fromKnownAddress: row.from_known_address };
  }

  async function findByEmail(connection: Connection, email: string) {
    const row = await connection.user.findUnique({
      where: { email },
      select: { ...userColumns, language: true },
    });
    return row === null ? undefined : { ...toUser(row), language: row.language };
  }

  async function findById(connection: Connection, id: number) {
    const row = await connection.user.findUnique({
      where: { id },
      select: { ...userColumns, language: true },
    });
    return row === null ? undefined : { ...toUser(row), language: row.language };
  }

  async function rename(userId: number, name: string): Promise<User | undefined> {
    const [row] = await client.user.updateManyAndReturn({
      where: { id: userId },
      data: { name },
      select: userColumns,
    });
    return row && toUser(row);
  }

  async function markVerified(connection: Connection, email: string): Promise<void> {
    await connection.user.updateMany({ where: { email, isVerified: false }, data: { isVerified: true } });
  }

  /**
   * Puts a new hash in place.
   *
   * @param expectedHash the hash that the caller checked a password against; when another request was faster, nothing happens
   * @returns whether the hash was replaced
   */
  async function replacePassword(
    connection: Connection,
    userId: number,
    passwordHash: string,
    expectedHash?: string,
  ): Promise<boolean> {
    const where = expectedHash === undefined ? { id: userId } : { id: userId, passwordHash: expectedHash };
    const changed = await connection.user.updateMany({ where, data: { passwordHash } });
    return changed.count > 0;
  }

  async function remove(connection: Connection, userId: number): Promise<boolean> {
    const removed = await connection.user.deleteMany({ where: { id: userId } });
    return removed.count > 0;
  }

  return {
    create,
    isUsernameTaken,
    findForLogin,
    recordLogin,
    knownAddresses,
    findForPasswordCheck,
    findByEmail,
    findById,
    rename,
    markVerified,
    replacePassword,
    remove,
  };
}
