import type { Queryable } from '../../database/client.ts';
import type { Role } from '../../database/generated/enums.ts';
import type { BoundedPage, PageRequest } from '../../database/keyset.ts';
import { empty, raw, type Sql, sql } from '../../database/sql.ts';
import { storeSummarySql } from '../../stores/sql.ts';
import type { AdminUser } from '../schemas.ts';

export interface AdminUserRow extends Omit<AdminUser, 'suspended_at' | 'created_at' | 'last_login_at'> {
  suspended_at: Date | null;
  created_at: Date;
  last_login_at: Date | null;
}

/** What an operator looks for among the accounts. */
interface UserSearch extends PageRequest {
  /** A part of the username, the e-mail address or the name; empty for all accounts. */
  q: string;
}

/** Accounts that one request examines. */
const maxExamined = 5_000;

/** The account `u` as an operator sees it. The store is selected by its owner, because a join may read all stores. */
const columns = sql`
  u.id, u.username, u.name, u.email, u.role, u.is_verified, u.suspended_at, u.suspended_reason, u.created_at,
  u.last_login_at, (SELECT ${storeSummarySql} FROM stores s WHERE s.owner_id = u.id) AS store`;

/** The ids of accounts grow in the order of their creation, so the primary key is the order of the list. */
function idBefore(after: PageRequest['after']): Sql {
  return after === undefined ? empty : sql`AND u.id < ${Number(after.id)}::int`;
}

/** Accounts, as operators see and change them. */
export const adminUsers = {
  /** Accounts, newest first, among a bounded number of them. */
  async list(tx: Queryable, { q, after, limit }: UserSearch): Promise<BoundedPage<AdminUserRow>> {
    const part = q.toLowerCase();
    const [stop] = await tx.query<{ id: number; created_at: Date }>(sql`
      SELECT u.id, u.created_at FROM users u WHERE true ${idBefore(after)}
      ORDER BY u.id DESC OFFSET ${raw(String(maxExamined - 1))} LIMIT 1`);
    const rows = await tx.query<AdminUserRow>(sql`
      SELECT ${columns} FROM users u
      WHERE u.id >= ${stop?.id ?? 0}::int ${idBefore(after)}
        AND (strpos(u.username, ${part}) > 0 OR strpos(u.email, ${part}) > 0 OR strpos(lower(u.name), ${part}) > 0)
      ORDER BY u.id DESC LIMIT ${limit}`);
    const isCut = stop !== undefined && rows.length < limit;
    return { rows, stoppedAt: isCut ? { time: stop.created_at.getTime(), id: String(stop.id) } : undefined };
  },

  /** The id of the account with an id, or with a name: the username or the e-mail address. */
  async findId(
    connection: Queryable,
    { id, name }: { id: number | null; name: string },
  ): Promise<number | undefined> {
    const login = name.toLowerCase();
    const [row] = await connection.query<{ id: number }>(sql`
      SELECT id FROM users WHERE id = ${id}::int OR email = ${login} OR username = ${login}`);
    return row?.id;
  },

  async find(tx: Queryable, id: number): Promise<AdminUserRow | undefined> {
    const [row] = await tx.query<AdminUserRow>(sql`SELECT ${columns} FROM users u WHERE u.id = ${id}`);
    return row;
  },

  async exists(tx: Queryable, id: number): Promise<boolean> {
    return (await tx.query(sql`SELECT id FROM users WHERE id = ${id}`)).length > 0;
  },

  /** Locks an account until the transaction ends. @returns its role; undefined when it does not exist */
  async lockRole(tx: Queryable, id: number): Promise<Role | undefined> {
    const [user] = await tx.query<{ role: Role }>(sql`
      SELECT role FROM users WHERE id = ${id} FOR NO KEY UPDATE`);
    return user?.role;
  },

  /**
   * Suspends an account, or changes the reason of a suspension and leaves its time. Triggers end the sessions and hide the store.
   */
  async suspend(tx: Queryable, id: number, reason: string): Promise<void> {
    await tx.execute(sql`
      UPDATE users SET suspended_at = coalesce(suspended_at, now()), suspended_reason = ${reason}
      WHERE id = ${id}`);
  },

  /** Lifts a suspension, if there is one. */
  async reactivate(tx: Queryable, id: number): Promise<void> {
    await tx.execute(sql`UPDATE users SET suspended_at = NULL, suspended_reason = NULL WHERE id = ${id}`);
  },

  /** @returns whether the account exists */
  async setRole(tx: Queryable, id: number, role: Role): Promise<boolean> {
    return (await tx.execute(sql`UPDATE users SET role = ${role}::role WHERE id = ${id}`)) > 0;
  },
};
