import { randomUUID } from 'node:crypto';
import type { Database, Tx } from '../../../infrastructure/database/client.ts';
import type { EmailChange as EmailChangeRow } from '../../../infrastructure/database/generated/client.ts';
import { sql } from '../../../infrastructure/database/sql.ts';
import { unexpired } from '../codes/repository.ts';
import type { DerivedSecrets } from '../tokens.ts';

/** How long a change of email can be undone. */
export const undoDays = 7;

/** A link that brings `oldEmail` back. */
export type UndoLink = Pick<EmailChangeRow, 'id' | 'userId' | 'oldEmail' | 'expiresAt'>;

/** Links that bring the old address of an account back. The rows do not reveal them. */
export function createUndoLinkRepository(database: Database, secrets: DerivedSecrets) {
  /** Creates a link that undoes a change. @returns its id */
  async function issue(tx: Tx, userId: number, change: { oldEmail: string; newEmail: string }) {
    const id = randomUUID();
    // By the clock of the database, as links are voided in this order, and not the time at which the transaction began: an
    // earlier change may have been waited for.
    await tx.execute(sql`
      INSERT INTO email_changes (id, user_id, old_email, new_email, key_id, expires_at)
      VALUES (${id}::uuid, ${userId}, ${change.oldEmail}, ${change.newEmail}, ${secrets.keyId},
        clock_timestamp() + make_interval(days => ${undoDays}))`);
    return id;
  }

  /** What the email of a link needs. @returns undefined when the link was used, is void or has expired */
  async function find(id: string) {
    const row = await database.prisma.emailChange.findFirst({ where: { id, ...unexpired() } });
    const token = row && secrets.token('email change', id, row.keyId);
    return token ? { ...row, token } : undefined;
  }

  /** Reads a link without locking it. @returns null when it is wrong, used, void or expired */
  async function open(token: string): Promise<UndoLink | null> {
    const link = secrets.open('email change', token);
    return link ? database.prisma.emailChange.findFirst({ where: { ...link, ...unexpired() } }) : null;
  }

  /**
   * Uses up a link of a locked account, and voids the links of later changes: who made those may not have been the owner.
   *
   * @returns false when the link was used or voided meanwhile, or has expired
   */
  async function use(tx: Tx, { id, userId }: UndoLink): Promise<boolean> {
    const change = await tx.prisma.emailChange.findFirst({ where: { id, ...unexpired() } });
    if (change === null) return false;
    const where = { userId, expiresAt: { gte: change.expiresAt } };
    return (await tx.prisma.emailChange.deleteMany({ where })).count > 0;
  }

  return { issue, find, open, use };
}
