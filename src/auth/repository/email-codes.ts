import { randomUUID } from 'node:crypto';
import type { Config } from '../../config/config.ts';
import type { ExpiredRows } from '../../database/clean-up.ts';
import type { Connection, Tx } from '../../database/client.ts';
import { sql } from '../../database/sql.ts';
import { type DerivedSecrets, secretsEqual, splitToken } from '../derived-secrets.ts';

/** Tries per code. */
const maxAttempts = 5;

/** Codes and proofs that can no longer be used. */
export const expiredEmailCodes: ExpiredRows[] = [
  { table: 'email_codes', condition: sql`expires_at < now()` },
  { table: 'email_proofs', condition: sql`expires_at < now()` },
];

/** The result of trying a code. */
export type CodeResult =
  | { correct: true; email: string }
  | { correct: false; attemptsLeft: number; exhausted: boolean };

/** Verification codes, one per address, with their links, and proofs that one was used. The rows reveal none of them. */
export function createEmailCodeRepository(
  secrets: DerivedSecrets,
  { codeTtl, verificationTokenTtl }: Config['email'],
) {
  /** Creates a code with its link, which voids those before. @returns its id */
  async function issue(tx: Tx, email: string): Promise<string> {
    const id = randomUUID();
    // The release before gave codes to accounts.
    await tx.execute(sql`
      INSERT INTO email_codes (email, id, key_id, attempts, expires_at)
      VALUES (${email}, ${id}::uuid, ${secrets.keyId}, 0, now() + make_interval(secs => ${codeTtl}))
      ON CONFLICT (email) DO UPDATE
        SET id = excluded.id, key_id = excluded.key_id, user_id = NULL, attempts = 0,
          expires_at = excluded.expires_at`);
    return id;
  }

  /** @returns undefined when the code was used, replaced or has expired */
  async function find(connection: Connection, id: string) {
    const [row] = await connection.query<{ email: string; key_id: string }>(sql`
      SELECT email, key_id FROM email_codes WHERE id = ${id}::uuid AND expires_at > now()`);
    const code = row && secrets.code(id, row.key_id);
    if (row === undefined || code === undefined) return undefined;
    return { email: row.email, code, token: `${id}.${secrets.token('email link', id, row.key_id)}` };
  }

  /**
   * Tries a code and counts the attempt; a correct code is used up. The row lock serialises concurrent attempts.
   *
   * @param isMailed where it is false every code is wrong, and the answer looks the same: the mail to the address had none
   */
  async function tryCode(tx: Tx, email: string, code: string, isMailed: boolean): Promise<CodeResult> {
    const [row] = await tx.query<{ id: string; key_id: string; attempts: number }>(sql`
      SELECT id, key_id, attempts FROM email_codes WHERE email = ${email} AND expires_at > now() FOR UPDATE`);
    if (row === undefined) return { correct: false, attemptsLeft: 0, exhausted: false };
    if (row.attempts >= maxAttempts) return { correct: false, attemptsLeft: 0, exhausted: true };
    if (secretsEqual(secrets.code(row.id, row.key_id), code) && isMailed) {
      await tx.prisma.emailCode.deleteMany({ where: { email } });
      return { correct: true, email };
    }
    await tx.prisma.emailCode.updateMany({ where: { email }, data: { attempts: { increment: 1 } } });
    return { correct: false, attemptsLeft: maxAttempts - row.attempts - 1, exhausted: false };
  }

  /** Uses up a code by the token of its link, which has no limit of attempts and works after the last one of the code. */
  async function useLink(tx: Tx, token: string): Promise<CodeResult> {
    const invalid = { correct: false, attemptsLeft: 0, exhausted: false } as const;
    const { id, digest } = splitToken(token) ?? {};
    if (id === undefined || digest === undefined) return invalid;
    const [row] = await tx.query<{ email: string; key_id: string }>(sql`
      SELECT email, key_id FROM email_codes WHERE id = ${id}::uuid AND expires_at > now() FOR UPDATE`);
    if (row === undefined || !secretsEqual(secrets.token('email link', id, row.key_id), digest))
      return invalid;
    await tx.prisma.emailCode.delete({ where: { id } });
    return { correct: true, email: row.email };
  }

  /** Creates a token that proves once that an address was verified. */
  async function issueProof(tx: Tx, email: string): Promise<string> {
    const id = randomUUID();
    await tx.execute(sql`
      INSERT INTO email_proofs (id, email, key_id, expires_at)
      VALUES (${id}::uuid, ${email}, ${secrets.keyId}, now() + make_interval(secs => ${verificationTokenTtl}))`);
    return `${id}.${secrets.token('email proof', id, secrets.keyId)}`;
  }

  /** Uses up a proof. @returns false when the token does not prove this address */
  async function useProof(tx: Tx, email: string, token: string): Promise<boolean> {
    const { id, digest } = splitToken(token) ?? {};
    if (id === undefined || digest === undefined) return false;
    const [row] = await tx.query<{ key_id: string }>(sql`
      SELECT key_id FROM email_proofs WHERE id = ${id}::uuid AND email = ${email} AND expires_at > now() FOR UPDATE`);
    if (row === undefined || !secretsEqual(secrets.token('email proof', id, row.key_id), digest))
      return false;
    await tx.prisma.emailProof.delete({ where: { id } });
    return true;
  }

  /** Locks the codes of some addresses until the transaction ends. */
  async function lock(tx: Tx, emails: string[]): Promise<void> {
    await tx.execute(sql`SELECT FROM email_codes WHERE email = ANY (${emails}) ORDER BY email FOR UPDATE`);
  }

  /** Voids the code and the proofs of a verified address whose account is deleted or leaves it. */
  async function revoke(tx: Tx, email: string): Promise<void> {
    // A code is locked before a proof, as everywhere.
    await tx.prisma.emailCode.deleteMany({ where: { email } });
    await tx.prisma.emailProof.deleteMany({ where: { email } });
  }

  return { issue, find, tryCode, useLink, issueProof, useProof, lock, revoke };
}
