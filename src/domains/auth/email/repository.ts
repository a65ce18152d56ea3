import { randomUUID } from 'node:crypto';
import type { Config } from '../../../infrastructure/config/config.ts';
import type { Database, Tx } from '../../../infrastructure/database/client.ts';
import type { EmailChange as EmailChangeRow } from '../../../infrastructure/database/generated/client.ts';
import { sql } from '../../../infrastructure/database/sql.ts';
import type { ResetLinkParts } from '../schemas.ts';
import { type DerivedSecrets, secretsEqual } from '../secrets.ts';

const maxAttempts = 5;
/** How long a change of email can be undone. */
export const undoDays = 7;

/** `exhausted`: whether the attempts were used up before. */
export type WrongCode = { attemptsLeft: number; exhausted: boolean };

/** A code or link that does not exist, was used, replaced or has expired. */
const unknownCode: WrongCode = { attemptsLeft: 0, exhausted: false };

/** A link that brings `oldEmail` back. */
export type UndoLink = Pick<EmailChangeRow, 'id' | 'userId' | 'oldEmail' | 'expiresAt'>;

const unexpired = () => ({ expiresAt: { gt: new Date() } });

/**
 * Codes and links of emails. The rows reveal none of them; those of an address are the same whether it has an account or not. What
 * issues one returns the id of its row, with which the email is composed.
 */
export function createEmailSecretRepository(
  { prisma }: Database,
  secrets: DerivedSecrets,
  ttls: Config['email'],
) {
  const newRow = (seconds: number) => ({
    id: randomUUID(),
    keyId: secrets.keyId,
    expiresAt: new Date(Date.now() + seconds * 1000),
  });

  const rowOf = (...of: Parameters<DerivedSecrets['open']>) => ({ ...secrets.open(...of), ...unexpired() });

  /** Verification codes, one per address, with their links, and proofs that one was used. */
  const emailCodes = {
    /** Creates a code with its link, which voids those before. */
    async issue(tx: Tx, email: string): Promise<string> {
      const row = { ...newRow(ttls.codeTtl), attempts: 0 };
      await tx.prisma.emailCode.upsert({ where: { email }, create: { email, ...row }, update: row });
      return row.id;
    },

    async find(id: string) {
      const row = await prisma.emailCode.findFirst({ where: { id, ...unexpired() } });
      const code = row && secrets.code(id, row.keyId);
      const token = row && secrets.token('email link', id, row.keyId);
      return code && token ? { email: row.email, code, token } : undefined;
    },

    /**
     * Tries a code and counts the attempt while the address is locked; a correct code is used up. Where a verified account has the
     * address every code is wrong, and the response looks the same: the email to the address had none.
     * @returns undefined for a correct code
     */
    async tryCode(tx: Tx, email: string, code: string): Promise<WrongCode | undefined> {
      const row = await tx.prisma.emailCode.findFirst({ where: { email, ...unexpired() } });
      if (row === null) return unknownCode;
      if (row.attempts >= maxAttempts) return { ...unknownCode, exhausted: true };
      const isMailed = (await tx.prisma.user.count({ where: { email, isVerified: true } })) === 0;
      if (secretsEqual(secrets.code(row.id, row.keyId), code) && isMailed) {
        const { count } = await tx.prisma.emailCode.deleteMany({ where: { email } });
        // The clean-up may have deleted a code that has just expired.
        return count > 0 ? undefined : unknownCode;
      }
      await tx.prisma.emailCode.updateMany({ where: { email }, data: { attempts: { increment: 1 } } });
      return { ...unknownCode, attemptsLeft: maxAttempts - row.attempts - 1 };
    },

    /** The address that the token of a link is for. */
    addressOf: async (token: string) =>
      (await prisma.emailCode.findFirst({ where: rowOf('email link', token) }))?.email,

    /** Uses up a code by the token of its link, which has no limit of attempts and works after the last one of the code. */
    async useLink(tx: Tx, token: string): Promise<WrongCode | undefined> {
      const { count } = await tx.prisma.emailCode.deleteMany({ where: rowOf('email link', token) });
      return count > 0 ? undefined : unknownCode;
    },

    async issueProof(tx: Tx, email: string): Promise<string> {
      const row = newRow(ttls.verificationTokenTtl);
      await tx.prisma.emailProof.create({ data: { email, ...row } });
      return secrets.newToken('email proof', row.id);
    },

    /** Uses up a proof. @returns false when the token does not prove this address */
    async useProof(tx: Tx, email: string, token: string): Promise<boolean> {
      const where = { ...rowOf('email proof', token), email };
      return (await tx.prisma.emailProof.deleteMany({ where })).count > 0;
    },

    /** Voids the code and the proofs of a verified address whose account is deleted or leaves it. */
    async revoke(tx: Tx, email: string): Promise<void> {
      await tx.prisma.emailCode.deleteMany({ where: { email } });
      await tx.prisma.emailProof.deleteMany({ where: { email } });
    },
  };

  /** Reset links, one per address. */
  const passwordResets = {
    /** Creates a link, which voids the one before. */
    async issue(tx: Tx, email: string): Promise<string> {
      const row = newRow(ttls.passwordResetTtl);
      await tx.prisma.passwordReset.upsert({ where: { email }, create: { email, ...row }, update: row });
      return row.id;
    },

    async find(id: string): Promise<(ResetLinkParts & { email: string }) | undefined> {
      const row = await prisma.passwordReset.findFirst({ where: { id, ...unexpired() } });
      const [uid, token] = (row && secrets.token('password reset', id, row.keyId)?.split('.')) ?? [];
      return row && uid && token ? { email: row.email, uid, token } : undefined;
    },

    open: (tx: Tx, { uid, token }: ResetLinkParts) =>
      tx.prisma.passwordReset.findFirst({ where: rowOf('password reset', `${uid}.${token}`) }),

    revoke: (tx: Tx, email: string) => tx.prisma.passwordReset.deleteMany({ where: { email } }),
  };

  /** Links that bring the old address of an account back. */
  const undoLinks = {
    async issue(tx: Tx, userId: number, change: { oldEmail: string; newEmail: string }): Promise<string> {
      const id = randomUUID();
      // By the clock of the database, as links are voided in this order, and not the time at which the transaction began: an
      // earlier change may have been waited for.
      await tx.execute(sql`/* auth.issueUndoLink */
        INSERT INTO email_changes (id, user_id, old_email, new_email, key_id, expires_at)
        VALUES (${id}::uuid, ${userId}, ${change.oldEmail}, ${change.newEmail}, ${secrets.keyId},
          clock_timestamp() + make_interval(days => ${undoDays}))`);
      return id;
    },

    async find(id: string) {
      const row = await prisma.emailChange.findFirst({ where: { id, ...unexpired() } });
      const token = row && secrets.token('email change', id, row.keyId);
      return token ? { ...row, token } : undefined;
    },

    open: (token: string): Promise<UndoLink | null> =>
      prisma.emailChange.findFirst({ where: rowOf('email change', token) }),

    /** Uses up a link of a locked account, and voids those of later changes: who made these may not have been the owner. */
    async use(tx: Tx, { id, userId, expiresAt }: UndoLink): Promise<boolean> {
      const { count } = await tx.prisma.emailChange.deleteMany({ where: { id, ...unexpired() } });
      await tx.prisma.emailChange.deleteMany({ where: { userId, expiresAt: { gte: expiresAt } } });
      return count > 0;
    },
  };

  return { emailCodes, passwordResets, undoLinks };
}
