import type { Config } from '../../config/config.ts';
import type { Database, Tx } from '../../database/client.ts';
import { sql } from '../../database/sql.ts';

/** An account whose address is not verified. */
interface UnverifiedAccount {
  id: number;
  email: string;
  isVerified: false;
}

/** Accounts whose address is not verified, and may belong to somebody else. */
export function createUnverifiedAccountRepository(
  database: Database,
  { unverifiedAccountTtl }: Pick<Config['email'], 'unverifiedAccountTtl'>,
) {
  /** Whether the unverified account `u` had no login for long. A refresh is no login, but a live session keeps the account. */
  const isUnused = sql`
    NOT u.is_verified AND u.suspended_at IS NULL
    AND coalesce(u.last_login_at, u.created_at) < now() - make_interval(secs => ${unverifiedAccountTtl})
    AND NOT EXISTS (SELECT FROM sessions s WHERE s.user_id = u.id AND s.expires_at > now())`;

  /** Accounts to delete, the one with the oldest login first. */
  async function findAbandoned(limit: number): Promise<UnverifiedAccount[]> {
    return database.query<UnverifiedAccount>(sql`
      SELECT u.id, u.email, u.is_verified AS "isVerified" FROM users u
      WHERE ${isUnused} AND NOT EXISTS (SELECT FROM stores s WHERE s.owner_id = u.id)
      ORDER BY coalesce(u.last_login_at, u.created_at) LIMIT ${limit}`);
  }

  /** Whether an account without a store is still one to delete. */
  async function isAbandoned(tx: Tx, id: number): Promise<boolean> {
    return (await tx.query(sql`SELECT u.id FROM users u WHERE u.id = ${id} AND ${isUnused}`)).length > 0;
  }

  /** Whether an account still has its address without having verified it. A suspended one is kept, as it is for operators. */
  async function exists(tx: Tx, { id, email }: { id: number; email: string }): Promise<boolean> {
    return (await tx.prisma.user.count({ where: { id, email, isVerified: false, suspendedAt: null } })) > 0;
  }

  return { findAbandoned, isAbandoned, exists };
}
