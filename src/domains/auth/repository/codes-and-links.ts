import { randomUUID } from 'node:crypto';
import type { Config } from '../../../infrastructure/config/config.ts';
import type { ExpiredRows } from '../../../infrastructure/database/clean-up.ts';
import type { Database, Tx } from '../../../infrastructure/database/client.ts';
import { sql } from '../../../infrastructure/database/sql.ts';
import { type DerivedSecrets, secretsEqual, splitToken } from '../tokens.ts';

/*
 * What mails prove an address with. Expiry is decided by the database's clock wherever a code or link is used, because those of
 * instances differ.
 */

/** Tries per code. */
const maxAttempts = 5;

/** How long a change of e-mail can be undone. */
export const undoDays = 7;

const isExpired = sql`expires_at < now()`;

/** Codes, proofs and links that can no longer be used. */
export const expiredCodesAndLinks: ExpiredRows[] = [
  { table: 'email_codes', condition: isExpired },
  { table: 'email_proofs', condition: isExpired },
  { table: 'password_resets', condition: isExpired },
  { table: 'email_changes', condition: isExpired },
];

/** The filter of rows that a mail is still to be sent for. */
const unexpired = () => ({ expiresAt: { gt: new Date() } });

/** The result of trying a code. */
export type CodeResult =
  | { correct: true; email: string }
  | { correct: false; attemptsLeft: number; exhausted: boolean };

export type EmailCodes = ReturnType<typeof createEmailCodeRepository>;

/** Verification codes, one per address, with their links, and proofs that one was used. The rows reveal none of them. */
export function createEmailCodeRepository(
  database: Database,
  secrets: DerivedSecrets,
  { codeTtl, verificationTokenTtl }: Config['email'],
) {
  /** Creates a code with its link, which voids those before. @returns its id */
  async function issue(tx: Tx, email: string): Promise<string> {
    const id = randomUUID();
    await tx.execute(sql`
      INSERT INTO email_codes (email, id, key_id, attempts, expires_at)
      VALUES (${email}, ${id}::uuid, ${secrets.keyId}, 0, now() + make_interval(secs => ${codeTtl}))
      ON CONFLICT (email) DO UPDATE
        SET id = excluded.id, key_id = excluded.key_id, attempts = 0, expires_at = excluded.expires_at`);
    return id;
  }

  /** @returns undefined when the code was used, replaced or has expired */
  async function find(id: string) {
    const row = await database.prisma.emailCode.findUnique({ where: { id, ...unexpired() } });
    const code = row && secrets.code(id, row.keyId);
    if (!row || !code) return undefined;
    return { email: row.email, code, token: `${id}.${secrets.token('email link', id, row.keyId)}` };
  }

  /**
   * Tries a code and counts the attempt; a correct code is used up. The row lock serialises concurrent attempts.
   *
   * @param isMailed where it is false every code is wrong, and the response looks the same: the mail to the address had none
   */
  async function tryCode(tx: Database, email: string, code: string, isMailed: boolean): Promise<CodeResult> {
    const [row] = await tx.query<{ id: string; keyId: string; attempts: number }>(sql`
      SELECT id, key_id AS "keyId", attempts FROM email_codes
      WHERE email = ${email} AND expires_at > now() FOR UPDATE`);
    if (row === undefined) return { correct: false, attemptsLeft: 0, exhausted: false };
    if (row.attempts >= maxAttempts) return { correct: false, attemptsLeft: 0, exhausted: true };
    if (secretsEqual(secrets.code(row.id, row.keyId), code) && isMailed) {
      await tx.prisma.emailCode.delete({ where: { email } });
      return { correct: true, email };
    }
    await tx.prisma.emailCode.update({ where: { email }, data: { attempts: { increment: 1 } } });
    return { correct: false, attemptsLeft: maxAttempts - row.attempts - 1, exhausted: false };
  }

  /** Uses up a code by the token of its link, which has no limit of attempts and works after the last one of the code. */
  async function useLink(tx: Database, token: string): Promise<CodeResult> {
    const invalid = { correct: false, attemptsLeft: 0, exhausted: false } as const;
    const { id, digest } = splitToken(token) ?? {};
    if (id === undefined || digest === undefined) return invalid;
    const [row] = await tx.query<{ email: string; keyId: string }>(sql`
      SELECT email, key_id AS "keyId" FROM email_codes WHERE id = ${id}::uuid AND expires_at > now() FOR UPDATE`);
    if (!row || !secretsEqual(secrets.token('email link', id, row.keyId), digest)) return invalid;
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
  async function useProof(tx: Database, email: string, token: string): Promise<boolean> {
    const { id, digest } = splitToken(token) ?? {};
    if (id === undefined || digest === undefined) return false;
    const [row] = await tx.query<{ keyId: string }>(sql`
      SELECT key_id AS "keyId" FROM email_proofs
      WHERE id = ${id}::uuid AND email = ${email} AND expires_at > now() FOR UPDATE`);
    if (!row || !secretsEqual(secrets.token('email proof', id, row.keyId), digest)) return false;
    await tx.prisma.emailProof.delete({ where: { id } });
    return true;
  }

  /** Locks the codes of some addresses until the transaction ends. */
  async function lock(tx: Tx, emails: string[]): Promise<void> {
    await tx.execute(sql`SELECT FROM email_codes WHERE email = ANY (${emails}) ORDER BY email FOR UPDATE`);
  }

  /** Voids the code and the proofs of a verified address whose account is deleted or leaves it. */
  async function revoke(tx: Database, email: string): Promise<void> {
    // A code is locked before a proof, as everywhere.
    await tx.prisma.emailCode.deleteMany({ where: { email } });
    await tx.prisma.emailProof.deleteMany({ where: { email } });
  }

  return { issue, find, tryCode, useLink, issueProof, useProof, lock, revoke };
}

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

export type PasswordResets = ReturnType<typeof createPasswordResetRepository>;

/** Reset links, one per address, kept for every address alike so that the table does not reveal which have an account. */
export function createPasswordResetRepository(
  database: Database,
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
  async function find(id: string) {
    const row = await database.prisma.passwordReset.findUnique({ where: { id, ...unexpired() } });
    const token = row && secrets.token('password reset', id, row.keyId);
    return row && token ? { email: row.email, uid: id, token } : undefined;
  }

  /**
   * Finds the account of a link and locks the link until the transaction ends, so that of concurrent uses one succeeds.
   *
   * @returns undefined when the link is wrong, expired, used or replaced, or its address has no account
   */
  async function open(tx: Tx, { uid, token }: ResetLinkParts): Promise<ValidLink | undefined> {
    const [row] = await tx.query<ValidLink & { keyId: string }>(sql`
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
  async function revoke(tx: Database, email: string): Promise<void> {
    await tx.prisma.passwordReset.deleteMany({ where: { email } });
  }

  return { issue, find, open, lock, revoke };
}

/** A link that undoes a change of e-mail. */
export interface UndoLink {
  id: string;
  userId: number;
  /** The address that the link brings back. */
  oldEmail: string;
}

export type UndoLinks = ReturnType<typeof createUndoLinkRepository>;

/** Links that bring the old address of an account back. The rows do not reveal them. */
export function createUndoLinkRepository(database: Database, secrets: DerivedSecrets) {
  /** Creates a link that undoes a change. @returns its id */
  async function issue(
    tx: Tx,
    userId: number,
    { oldEmail, newEmail }: { oldEmail: string; newEmail: string },
  ): Promise<string> {
    const id = randomUUID();
    // Not the time at which the transaction began: an earlier change may have been waited for.
    await tx.execute(sql`
      INSERT INTO email_changes (id, user_id, old_email, new_email, key_id, expires_at)
      VALUES (${id}::uuid, ${userId}, ${oldEmail}, ${newEmail}, ${secrets.keyId},
        clock_timestamp() + make_interval(days => ${undoDays}))`);
    return id;
  }

  /** What the mail of a link needs. @returns undefined when the link was used, is void or has expired */
  async function find(id: string) {
    const row = await database.prisma.emailChange.findUnique({ where: { id, ...unexpired() } });
    const digest = row && secrets.token('email change', id, row.keyId);
    return row && digest ? { ...row, token: `${id}.${digest}` } : undefined;
  }

  /** Reads a link without locking it. @returns undefined when it is wrong, used, void or expired */
  async function open(token: string): Promise<UndoLink | undefined> {
    const { id, digest } = splitToken(token) ?? {};
    if (id === undefined || digest === undefined) return undefined;
    const row = await database.prisma.emailChange.findUnique({ where: { id, ...unexpired() } });
    return row && secretsEqual(secrets.token('email change', id, row.keyId), digest) ? row : undefined;
  }

  /**
   * Uses up a link of an account that is locked, and voids the links of later changes: who made those may not have been the
   * owner.
   *
   * @returns false when the link was used or voided meanwhile, or has expired
   */
  async function use(tx: Tx, { id, userId }: UndoLink): Promise<boolean> {
    const voided = await tx.execute(sql`
      DELETE FROM email_changes WHERE user_id = ${userId}
        AND expires_at >= (SELECT expires_at FROM email_changes WHERE id = ${id}::uuid AND expires_at > now())`);
    return voided > 0;
  }

  return { issue, find, open, use };
}
