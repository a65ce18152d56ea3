import { randomUUID } from 'node:crypto';
import type { Config } from '../../config/config.ts';
import type { ExpiredRows } from '../../database/clean-up.ts';
import type { Connection, Tx } from '../../database/client.ts';
import { sql } from '../../database/sql.ts';
import { type DerivedSecrets, secretsEqual } from '../derived-secrets.ts';

/** Links that can no longer be used. */
export const expiredPasswordResets: ExpiredRows = {
  table: 'password_resets',
  condition: sql`expires_at < now()`,
};

/** The parts of a reset link. */
export interface ResetLinkParts {
  /** The id of the row, a UUID. */
  uid: string;
  token: string;
}

/** A valid link, and the account whose password it sets. */
export interface ValidLink {
  userId: number;
  username: string;
  email: string;
  expiresAt: Date;
}

/** Reset links, one per address, kept for every address alike so that the table does not reveal which have an account. */
export function createPasswordResetRepository(
  secrets: DerivedSecrets,
  { passwordResetTtl }: Config['email'],
) {
  /** Creates a link, which voids the one before. @returns its id */
  async function issue(tx: Tx, email: string): Promise<string> {
    const id = randomUUID();
    await tx.execute(sql`
      INSERT INTO password_resets (email, id, key_id, expires_at)
      VALUES (${email}, ${id}::uuid, ${secrets.keyId}, now() + make_interval(secs => ${passwordResetTtl}))
      ON CONFLICT (email) DO UPDATE
        SET id = excluded.id, key_id = excluded.key_id, expires_at = excluded.expires_at`);
    return id;
  }

  /** What the mail of a link needs. @returns undefined when the link was used, replaced or has expired */
  async function find(connection: Connection, id: string) {
    const [row] = await connection.query<{ email: string; key_id: string }>(sql`
      SELECT email, key_id FROM password_resets WHERE id = ${id}::uuid AND expires_at > now()`);
    const token = row && secrets.token('password reset', id, row.key_id);
    return row && token !== undefined ? { email: row.email, uid: id, token } : undefined;
  }

  /**
   * Finds the account of a link and locks the link until the transaction ends, so that of concurrent uses one succeeds.
   *
   * @returns undefined when the link is wrong, expired, used or replaced, or its address has no account
   */
  async function open(
    connection: Connection,
    { uid, token }: ResetLinkParts,
  ): Promise<ValidLink | undefined> {
    const [row] = await connection.query<ValidLink & { keyId: string }>(sql`
      SELECT u.id AS "userId", u.username, r.email, r.key_id AS "keyId", r.expires_at AS "expiresAt"
      FROM password_resets r JOIN users u ON u.email = r.email
      WHERE r.id = ${uid}::uuid AND r.expires_at > now() FOR UPDATE OF r`);
    return row && secretsEqual(secrets.token('password reset', uid, row.keyId), token) ? row : undefined;
  }

  /** Locks the link of an address until the transaction ends. */
  async function lock(tx: Tx, email: string): Promise<void> {
    await tx.execute(sql`SELECT FROM password_resets WHERE email = ${email} FOR UPDATE`);
  }

  /** Voids the link of an address. */
  async function revoke(tx: Tx, email: string): Promise<void> {
    await tx.prisma.passwordReset.deleteMany({ where: { email } });
  }

  return { issue, find, open, lock, revoke };
}
