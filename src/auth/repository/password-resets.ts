import { randomUUID } from 'node:crypto';
import type { Config } from '../../config/config.ts';
import type { Connection } from '../../database/client.ts';
import { isUuid } from '../../http/path-ids.ts';
import { type DerivedSecrets, secretsEqual } from '../derived-secrets.ts';

/** The parts of a reset link that its receiver sends back. */
export interface ResetLinkParts {
  uid: string;
  token: string;
}

/** A link that works, and whose password it sets. */
export interface OpenLink {
  userId: number;
  username: string;
  email: string;
  expiresAt: Date;
}

interface LinkRow {
  user_id: number;
  username: string;
  email: string;
  key_id: string;
  expires_at: Date;
}

export type PasswordResets = ReturnType<typeof createPasswordResetRepository>;

/** Reset links, one an address, kept for every address alike so that nothing tells which have an account. */
export function createPasswordResetRepository(
  secrets: DerivedSecrets,
  { passwordResetTtl }: Config['email'],
) {
  /** Makes a new link, which voids the one before. @returns its id */
  async function issue(transaction: Connection, email: string): Promise<string> {
    const id = randomUUID();
    await transaction.$executeRaw`
      INSERT INTO password_resets (email, id, key_id, expires_at)
      VALUES (${email}, ${id}::uuid, ${secrets.keyId}, now() + make_interval(secs => ${passwordResetTtl}))
      ON CONFLICT (email) DO UPDATE
        SET id = excluded.id, key_id = excluded.key_id, expires_at = excluded.expires_at`;
    return id;
  }

  /** What the mail of a link needs, as long as the link is the newest one of its address. */
  async function find(
    connection: Connection,
    id: string,
  ): Promise<(ResetLinkParts & { email: string }) | undefined> {
    const [row] = await connection.$queryRaw<{ email: string; key_id: string }[]>`
      SELECT email, key_id FROM password_resets WHERE id = ${id}::uuid AND expires_at > now()`;
    const token = row && secrets.token('password reset', id, row.key_id);
    return row && token !== undefined ? { email: row.email, uid: id, token } : undefined;
  }

  /**
   * The account a link is for. Locks the link until the transaction ends, so that of parallel uses one wins.
   *
   * @returns undefined when the link is wrong, old, used or replaced, or nobody has its address
   */
  async function open(connection: Connection, { uid, token }: ResetLinkParts): Promise<OpenLink | undefined> {
    if (!isUuid(uid)) return undefined;
    const [row] = await connection.$queryRaw<LinkRow[]>`
      SELECT u.id AS user_id, u.username, r.email, r.key_id, r.expires_at
      FROM password_resets r JOIN users u ON u.email = r.email
      WHERE r.id = ${uid}::uuid AND r.expires_at > now() FOR UPDATE OF r`;
    if (row === undefined || !secretsEqual(secrets.token('password reset', uid, row.key_id), token))
      return undefined;
    return { userId: row.user_id, username: row.username, email: row.email, expiresAt: row.expires_at };
  }

  /** Voids whatever link an address has. */
  async function revoke(connection: Connection, email: string): Promise<void> {
    await connection.passwordReset.deleteMany({ where: { email } });
  }

  return { issue, find, open, revoke };
}
