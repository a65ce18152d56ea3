import { randomUUID } from 'node:crypto';
import type { Config } from '../../../infrastructure/config/config.ts';
import type { ExpiredRows } from '../../../infrastructure/database/clean-up.ts';
import type { Database, Tx } from '../../../infrastructure/database/client.ts';
import type { EmailChange as EmailChangeRow } from '../../../infrastructure/database/generated/client.ts';
import { sql } from '../../../infrastructure/database/sql.ts';
import { type DerivedSecrets, secretsEqual } from '../secrets.ts';
import type { ResetLinkParts } from './schemas.ts';

const maxAttempts = 5;
/** How long a change of email can be undone. */
export const undoDays = 7;

export const expiredCodesAndLinks: ExpiredRows[] = [
  'email_codes',
  'email_proofs',
  'password_resets',
  'email_changes',
].map((table) => ({ table, condition: sql`expires_at < now()` }));

export interface WrongCode {
  correct: false;
  attemptsLeft: number;
  /** Whether the attempts were used up before. */
  exhausted: boolean;
}

type CodeResult = { correct: true; email: string } | WrongCode;

/** A code or link that does not exist, was used, replaced or has expired. */
const unknownCode: WrongCode = { correct: false, attemptsLeft: 0, exhausted: false };

/** A link that brings `oldEmail` back. */
export type UndoLink = Pick<EmailChangeRow, 'id' | 'userId' | 'oldEmail' | 'expiresAt'>;
type ResetAccount = { userId: number; username: string; email: string; expiresAt: Date };

const unexpired = () => ({ expiresAt: { gt: new Date() } });

/**
 * Codes and links of emails. The rows reveal none of them; those of an address are the same whether it has an account or not. What
 * issues one returns the id of its row, with which the email is composed; what finds one returns undefined when it was used,
 * replaced or has expired.
 */
export function createEmailSecretRepository(
  database: Database,
  secrets: DerivedSecrets,
  { codeTtl, verificationTokenTtl, passwordResetTtl }: Config['email'],
) {
  const newRow = (seconds: number) => ({
    id: randomUUID(),
    keyId: secrets.keyId,
    expiresAt: new Date(Date.now() + seconds * 1000),
  });

  /** Verification codes, one per address, with their links, and proofs that one was used. */
  const emailCodes = {
    /** Creates a code with its link, which voids those before. */
    async issue(tx: Tx, email: string): Promise<string> {
      const row = { ...newRow(codeTtl), attempts: 0 };
      await tx.prisma.emailCode.upsert({ where: { email }, create: { email, ...row }, update: row });
      return row.id;
    },

    async find(id: string) {
      const row = await database.prisma.emailCode.findFirst({ where: { id, ...unexpired() } });
      const code = row && secrets.code(id, row.keyId);
      const token = row && secrets.token('email link', id, row.keyId);
      return code && token ? { email: row.email, code, token } : undefined;
    },

    /**
     * Tries a code and counts the attempt; a correct code is used up. The row lock serialises concurrent attempts. Where a verified
     * account has the address every code is wrong, and the response looks the same: the email to the address had none.
     */
    async tryCode(tx: Tx, email: string, code: string): Promise<CodeResult> {
      const [row] = await tx.query<{ id: string; keyId: string; attempts: number; isMailed: boolean }>(sql`
        SELECT id, key_id AS "keyId", attempts,
          NOT EXISTS (SELECT FROM users u WHERE u.email = c.email AND u.is_verified) AS "isMailed"
        FROM email_codes c WHERE email = ${email} AND expires_at > now() FOR UPDATE`);
      if (row === undefined) return unknownCode;
      if (row.attempts >= maxAttempts) return { ...unknownCode, exhausted: true };
      if (secretsEqual(secrets.code(row.id, row.keyId), code) && row.isMailed) {
        await tx.prisma.emailCode.delete({ where: { email } });
        return { correct: true, email };
      }
      await tx.prisma.emailCode.update({ where: { email }, data: { attempts: { increment: 1 } } });
      return { ...unknownCode, attemptsLeft: maxAttempts - row.attempts - 1 };
    },

    /** The address that the token of a link is for, also of one that has expired. */
    async addressOf(token: string): Promise<string | undefined> {
      const link = secrets.open('email link', token);
      return link && (await database.prisma.emailCode.findFirst({ where: link }))?.email;
    },

    /** Uses up a code by the token of its link, which has no limit of attempts and works after the last one of the code. */
    async useLink(tx: Tx, token: string): Promise<CodeResult> {
      const link = secrets.open('email link', token);
      if (link === undefined) return unknownCode;
      const where = { ...link, ...unexpired() };
      const row = await tx.prisma.emailCode.findFirst({ where });
      const { count } = await tx.prisma.emailCode.deleteMany({ where });
      return row && count > 0 ? { correct: true, email: row.email } : unknownCode;
    },

    async issueProof(tx: Tx, email: string): Promise<string> {
      const row = newRow(verificationTokenTtl);
      await tx.prisma.emailProof.create({ data: { email, ...row } });
      return secrets.newToken('email proof', row.id);
    },

    /** Uses up a proof. @returns false when the token does not prove this address */
    async useProof(tx: Tx, email: string, token: string): Promise<boolean> {
      const proof = secrets.open('email proof', token);
      if (proof === undefined) return false;
      const where = { ...proof, email, ...unexpired() };
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
      const row = newRow(passwordResetTtl);
      await tx.prisma.passwordReset.upsert({ where: { email }, create: { email, ...row }, update: row });
      return row.id;
    },

    async find(id: string): Promise<(ResetLinkParts & { email: string }) | undefined> {
      const row = await database.prisma.passwordReset.findFirst({ where: { id, ...unexpired() } });
      const [uid, token] = (row && secrets.token('password reset', id, row.keyId)?.split('.')) ?? [];
      return row && uid && token ? { email: row.email, uid, token } : undefined;
    },

    /** Finds the account of a link and locks the link, so that of concurrent uses one succeeds. */
    async open(tx: Tx, { uid, token }: ResetLinkParts): Promise<ResetAccount | undefined> {
      const link = secrets.open('password reset', `${uid}.${token}`);
      if (link === undefined) return undefined;
      const [account] = await tx.query<ResetAccount>(sql`
        SELECT u.id AS "userId", u.username, r.email, r.expires_at AS "expiresAt"
        FROM password_resets r JOIN users u ON u.email = r.email
        WHERE r.id = ${link.id}::uuid AND r.key_id = ${link.keyId} AND r.expires_at > now() FOR UPDATE OF r`);
      return account;
    },

    async revoke(tx: Tx, email: string): Promise<void> {
      await tx.prisma.passwordReset.deleteMany({ where: { email } });
    },
  };

  /** Links that bring the old address of an account back. */
  const undoLinks = {
    async issue(tx: Tx, userId: number, change: { oldEmail: string; newEmail: string }): Promise<string> {
      const id = randomUUID();
      // By the clock of the database, as links are voided in this order, and not the time at which the transaction began: an
      // earlier change may have been waited for.
      await tx.execute(sql`
        INSERT INTO email_changes (id, user_id, old_email, new_email, key_id, expires_at)
        VALUES (${id}::uuid, ${userId}, ${change.oldEmail}, ${change.newEmail}, ${secrets.keyId},
          clock_timestamp() + make_interval(days => ${undoDays}))`);
      return id;
    },

    async find(id: string) {
      const row = await database.prisma.emailChange.findFirst({ where: { id, ...unexpired() } });
      const token = row && secrets.token('email change', id, row.keyId);
      return token ? { ...row, token } : undefined;
    },

    async open(token: string): Promise<UndoLink | null> {
      const link = secrets.open('email change', token);
      return link ? database.prisma.emailChange.findFirst({ where: { ...link, ...unexpired() } }) : null;
    },

    /** Uses up a link of a locked account, and voids those of later changes: who made these may not have been the owner. */
    async use(tx: Tx, { id, userId }: UndoLink): Promise<boolean> {
      const change = await tx.prisma.emailChange.findFirst({ where: { id, ...unexpired() } });
      if (change === null) return false;
      const where = { userId, expiresAt: { gte: change.expiresAt } };
      return (await tx.prisma.emailChange.deleteMany({ where })).count > 0;
    },
  };

  return { emailCodes, passwordResets, undoLinks };
}
