import { randomUUID } from 'node:crypto';
import type { Config } from '../../../infrastructure/config/config.ts';
import type { Database, Tx } from '../../../infrastructure/database/client.ts';
import { sql } from '../../../infrastructure/database/sql.ts';
import { inSeconds, unexpired } from '../codes/repository.ts';
import type { ResetLinkParts } from '../codes/schemas.ts';
import type { DerivedSecrets } from '../tokens.ts';

/** Reset links, one per address, kept for every address alike so that the table does not reveal which have an account. */
export function createPasswordResetRepository(
  database: Database,
  secrets: DerivedSecrets,
  { passwordResetTtl }: Config['email'],
) {
  /** Creates a link, which voids the one before. @returns its id */
  async function issue(tx: Tx, email: string): Promise<string> {
    const row = { id: randomUUID(), keyId: secrets.keyId, expiresAt: inSeconds(passwordResetTtl) };
    await tx.prisma.passwordReset.upsert({ where: { email }, create: { email, ...row }, update: row });
    return row.id;
  }

  /** What the email of a link needs. @returns undefined when the link was used, replaced or has expired */
  async function find(id: string): Promise<(ResetLinkParts & { email: string }) | undefined> {
    const row = await database.prisma.passwordReset.findFirst({ where: { id, ...unexpired() } });
    const [uid, token] = (row && secrets.token('password reset', id, row.keyId)?.split('.')) ?? [];
    return row && uid && token ? { email: row.email, uid, token } : undefined;
  }

  /**
   * Finds the account of a link and locks the link until the transaction ends, so that of concurrent uses one succeeds.
   *
   * @returns undefined when the link is wrong, expired, used or replaced, or its address has no account
   */
  async function open(tx: Tx, { uid, token }: ResetLinkParts) {
    const link = secrets.open('password reset', `${uid}.${token}`);
    if (link === undefined) return undefined;
    const [account] = await tx.query<{
      userId: number;
      username: string;
      email: string;
      expiresAt: Date;
    }>(sql`
      SELECT u.id AS "userId", u.username, r.email, r.expires_at AS "expiresAt"
      FROM password_resets r JOIN users u ON u.email = r.email
      WHERE r.id = ${link.id}::uuid AND r.key_id = ${link.keyId} AND r.expires_at > now() FOR UPDATE OF r`);
    return account;
  }

  async function revoke(tx: Tx, email: string): Promise<void> {
    await tx.prisma.passwordReset.deleteMany({ where: { email } });
  }

  return { issue, find, open, revoke };
}
