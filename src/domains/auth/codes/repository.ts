import { randomUUID } from 'node:crypto';
import type { Config } from '../../../infrastructure/config/config.ts';
import type { ExpiredRows } from '../../../infrastructure/database/clean-up.ts';
import type { Database, Tx } from '../../../infrastructure/database/client.ts';
import { sql } from '../../../infrastructure/database/sql.ts';
import { type DerivedSecrets, secretsEqual } from '../tokens.ts';

const maxAttempts = 5;

export const expiredCodesAndLinks: ExpiredRows[] = [
  'email_codes',
  'email_proofs',
  'password_resets',
  'email_changes',
].map((table) => ({ table, condition: sql`expires_at < now()` }));

/** The filter of rows that have not expired. */
export const unexpired = () => ({ expiresAt: { gt: new Date() } });

export const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1000);

export interface WrongCode {
  correct: false;
  attemptsLeft: number;
  /** Whether the attempts were used up before. */
  exhausted: boolean;
}

type CodeResult = { correct: true; email: string } | WrongCode;

/** A code or link that does not exist, was used, replaced or has expired. */
const unknownCode: WrongCode = { correct: false, attemptsLeft: 0, exhausted: false };

/** Verification codes, one per address, with their links, and proofs that one was used. The rows reveal none of them. */
export function createEmailCodeRepository(
  database: Database,
  secrets: DerivedSecrets,
  { codeTtl, verificationTokenTtl }: Config['email'],
) {
  /** Creates a code with its link, which voids those before. @returns its id */
  async function issue(tx: Tx, email: string): Promise<string> {
    const row = { id: randomUUID(), keyId: secrets.keyId, attempts: 0, expiresAt: inSeconds(codeTtl) };
    await tx.prisma.emailCode.upsert({ where: { email }, create: { email, ...row }, update: row });
    return row.id;
  }

  /** @returns undefined when the code was used, replaced or has expired */
  async function find(id: string) {
    const row = await database.prisma.emailCode.findFirst({ where: { id, ...unexpired() } });
    const code = row && secrets.code(id, row.keyId);
    const token = row && secrets.token('email link', id, row.keyId);
    return code && token ? { email: row.email, code, token } : undefined;
  }

  /**
   * Tries a code and counts the attempt; a correct code is used up. The row lock serialises concurrent attempts. Where a verified
   * account has the address every code is wrong, and the response looks the same: the email to the address had none.
   */
  async function tryCode(tx: Tx, email: string, code: string): Promise<CodeResult> {
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
  }

  /** The address that the token of a link is for. @returns undefined when the link was used, replaced or deleted */
  async function addressOf(token: string): Promise<string | undefined> {
    const link = secrets.open('email link', token);
    return link && (await database.prisma.emailCode.findFirst({ where: link }))?.email;
  }

  /** Uses up a code by the token of its link, which has no limit of attempts and works after the last one of the code. */
  async function useLink(tx: Tx, token: string): Promise<CodeResult> {
    const link = secrets.open('email link', token);
    if (link === undefined) return unknownCode;
    const where = { ...link, ...unexpired() };
    const row = await tx.prisma.emailCode.findFirst({ where });
    const { count } = await tx.prisma.emailCode.deleteMany({ where });
    return row && count > 0 ? { correct: true, email: row.email } : unknownCode;
  }

  /** Creates a token that proves once that an address was verified. */
  async function issueProof(tx: Tx, email: string): Promise<string> {
    const row = { id: randomUUID(), keyId: secrets.keyId, expiresAt: inSeconds(verificationTokenTtl) };
    await tx.prisma.emailProof.create({ data: { email, ...row } });
    return secrets.newToken('email proof', row.id);
  }

  /** Uses up a proof. @returns false when the token does not prove this address */
  async function useProof(tx: Tx, email: string, token: string): Promise<boolean> {
    const proof = secrets.open('email proof', token);
    if (proof === undefined) return false;
    const where = { ...proof, email, ...unexpired() };
    return (await tx.prisma.emailProof.deleteMany({ where })).count > 0;
  }

  /** Voids the code and the proofs of a verified address whose account is deleted or leaves it. */
  async function revoke(tx: Tx, email: string): Promise<void> {
    await tx.prisma.emailCode.deleteMany({ where: { email } });
    await tx.prisma.emailProof.deleteMany({ where: { email } });
  }

  return { issue, find, tryCode, addressOf, useLink, issueProof, useProof, revoke };
}
