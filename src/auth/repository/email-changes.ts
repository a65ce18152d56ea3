import { randomUUID } from 'node:crypto';
import type { ExpiredRows } from '../../database/clean-up.ts';
import type { Queryable, Tx } from '../../database/client.ts';
import { sql } from '../../database/sql.ts';
import { type DerivedSecrets, secretsEqual, splitToken } from '../derived-secrets.ts';
import { type UserRow, userColumns } from './accounts.ts';

/** How long a change can be undone. */
export const undoDays = 7;

/** Changes that can no longer be undone. */
export const expiredEmailChanges: ExpiredRows = {
  table: 'email_changes',
  condition: sql`expires_at < now()`,
};

/** An account that is locked while its e-mail address changes. */
interface LockedAccount {
  email: string;
  isVerified: boolean;
  passwordHash: string;
}

/** A link that undoes a change. */
export interface UndoLink {
  id: string;
  userId: number;
  /** The address that the link brings back. */
  email: string;
}

/** E-mail addresses of accounts, and the links that bring an old one back. The rows do not reveal the links. */
export function createEmailChangeRepository(secrets: DerivedSecrets) {
  /** Locks an account, and with it its links, until the transaction ends. @returns undefined when it is gone or suspended */
  async function lockAccount(tx: Queryable, userId: number): Promise<LockedAccount | undefined> {
    const [account] = await tx.query<LockedAccount>(sql`
      SELECT email, is_verified AS "isVerified", password_hash AS "passwordHash"
      FROM users WHERE id = ${userId} AND suspended_at IS NULL FOR UPDATE`);
    return account;
  }

  /** Gives an account an address that its user has proven. @throws a unique violation when the address is taken */
  async function setEmail(tx: Tx, userId: number, email: string): Promise<UserRow | undefined> {
    const [user] = await tx.prisma.user.updateManyAndReturn({
      where: { id: userId },
      data: { email, isVerified: true },
      select: userColumns,
    });
    return user;
  }

  /** Creates a link that undoes a change. @returns its id */
  async function issueUndo(
    tx: Queryable,
    userId: number,
    change: { oldEmail: string; newEmail: string },
  ): Promise<string> {
    const id = randomUUID();
    // Not the time at which the transaction began: an earlier change may have been waited for.
    await tx.execute(sql`
      INSERT INTO email_changes (id, user_id, old_email, new_email, key_id, expires_at)
      VALUES (${id}::uuid, ${userId}, ${change.oldEmail}, ${change.newEmail}, ${secrets.keyId},
        clock_timestamp() + make_interval(days => ${undoDays}))`);
    return id;
  }

  /** What the mail of a link needs. @returns undefined when the link was used, is void or has expired */
  async function findUndo(connection: Queryable, id: string) {
    const [row] = await connection.query<{ old_email: string; new_email: string; key_id: string }>(sql`
      SELECT old_email, new_email, key_id FROM email_changes WHERE id = ${id}::uuid AND expires_at > now()`);
    const digest = row && secrets.token('email change', id, row.key_id);
    if (!row || digest === undefined) return undefined;
    return { oldEmail: row.old_email, newEmail: row.new_email, token: `${id}.${digest}` };
  }

  /** Reads a link without locking it. @returns undefined when it is wrong, used, void or expired */
  async function openUndo(connection: Queryable, token: string): Promise<UndoLink | undefined> {
    const { id, digest } = splitToken(token) ?? {};
    if (id === undefined || digest === undefined) return undefined;
    const [row] = await connection.query<UndoLink & { keyId: string }>(sql`
      SELECT id::text AS id, user_id AS "userId", old_email AS email, key_id AS "keyId"
      FROM email_changes WHERE id = ${id}::uuid AND expires_at > now()`);
    return row && secretsEqual(secrets.token('email change', id, row.keyId), digest) ? row : undefined;
  }

  /**
   * Uses up a link of an account that is locked, and voids the links of later changes: who made those may not have been the
   * owner.
   *
   * @returns false when the link was used or voided meanwhile
   */
  async function useUndo(tx: Queryable, { id, userId }: UndoLink): Promise<boolean> {
    const voided = await tx.execute(sql`
      DELETE FROM email_changes WHERE user_id = ${userId}
        AND expires_at >= (SELECT expires_at FROM email_changes WHERE id = ${id}::uuid AND expires_at > now())`);
    return voided > 0;
  }

  return { lockAccount, setEmail, issueUndo, findUndo, openUndo, useUndo };
}
