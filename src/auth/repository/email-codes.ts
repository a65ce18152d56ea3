import { randomUUID } from 'node:crypto';
import type { Config } from '../../config/config.ts';
import type { Connection } from '../../database/client.ts';
import { isUuid } from '../../http/path-ids.ts';
import { type DerivedSecrets, secretsEqual } from '../derived-secrets.ts';

/** How often one code may be tried. */
export const maxCodeAttempts = 5;

/** How a try of a code ended. */
export type CodeResult = { correct: true } | { correct: false; attemptsLeft: number; exhausted: boolean };

export type EmailCodes = ReturnType<typeof createEmailCodeRepository>;

/** Verification codes, one an address, and the proofs that they were entered. Neither can be read from the rows. */
export function createEmailCodeRepository(
  secrets: DerivedSecrets,
  { codeTtl, verificationTokenTtl }: Config['email'],
) {
  /** Makes a new code, which voids the one before. @returns its id */
  async function issue(transaction: Connection, email: string): Promise<string> {
    const id = randomUUID();
    await transaction.$executeRaw`
      INSERT INTO email_codes (email, id, key_id, attempts, expires_at)
      VALUES (${email}, ${id}::uuid, ${secrets.keyId}, 0, now() + make_interval(secs => ${codeTtl}))
      ON CONFLICT (email) DO UPDATE
        SET id = excluded.id, key_id = excluded.key_id, attempts = 0, expires_at = excluded.expires_at`;
    return id;
  }

  /** The code and the address of an id, as long as it is the newest one of its address and has not been used. */
  async function find(
    connection: Connection,
    id: string,
  ): Promise<{ email: string; code: string } | undefined> {
    const [row] = await connection.$queryRaw<{ email: string; key_id: string }[]>`
      SELECT email, key_id FROM email_codes WHERE id = ${id}::uuid AND expires_at > now()`;
    const code = row && secrets.code(id, row.key_id);
    return row && code !== undefined ? { email: row.email, code } : undefined;
  }

  /**
   * Tries a code and counts the try. A correct code is used up. The lock of the row puts parallel tries in a row.
   *
   * @param genuine false for an address whose mail held no code: nothing is correct then, and it looks the same
   */
  async function tryCode(
    transaction: Connection,
    email: string,
    code: string,
    genuine: boolean,
  ): Promise<CodeResult> {
    const [row] = await transaction.$queryRaw<{ id: string; key_id: string; attempts: number }[]>`
      SELECT id, key_id, attempts FROM email_codes WHERE email = ${email} AND expires_at > now() FOR UPDATE`;
    if (row === undefined) return { correct: false, attemptsLeft: 0, exhausted: false };
    if (row.attempts >= maxCodeAttempts) return { correct: false, attemptsLeft: 0, exhausted: true };
    if (secretsEqual(secrets.code(row.id, row.key_id), code) && genuine) {
      await transaction.emailCode.deleteMany({ where: { email } });
      return { correct: true };
    }
    await transaction.emailCode.updateMany({ where: { email }, data: { attempts: { increment: 1 } } });
    return { correct: false, attemptsLeft: maxCodeAttempts - row.attempts - 1, exhausted: false };
  }

  /** Makes a token that proves, once, that an address was verified. */
  async function issueProof(transaction: Connection, email: string): Promise<string> {
    const id = randomUUID();
    await transaction.$executeRaw`
      INSERT INTO email_proofs (id, email, key_id, expires_at)
      VALUES (${id}::uuid, ${email}, ${secrets.keyId}, now() + make_interval(secs => ${verificationTokenTtl}))`;
    return `${id}.${secrets.token('email proof', id, secrets.keyId)}`;
  }

  /** Uses a proof up. @returns whether it was one for this address */
  async function useProof(transaction: Connection, email: string, token: string): Promise<boolean> {
    const [, id, given] = /^([0-9a-f-]{36})\.([\w-]{43})$/.exec(token) ?? [];
    if (id === undefined || given === undefined || !isUuid(id)) return false;
    const [row] = await transaction.$queryRaw<{ key_id: string }[]>`
      SELECT key_id FROM email_proofs WHERE id = ${id}::uuid AND email = ${email} AND expires_at > now() FOR UPDATE`;
    if (row === undefined || !secretsEqual(secrets.token('email proof', id, row.key_id), given)) return false;
    await transaction.emailProof.delete({ where: { id } });
    return true;
  }

  /** Voids whatever code and proofs an address has. */
  async function forget(transaction: Connection, email: string): Promise<void> {
    await transaction.emailCode.deleteMany({ where: { email } });
    await transaction.emailProof.deleteMany({ where: { email } });
  }

  return { issue, find, tryCode, issueProof, useProof, forget };
}
