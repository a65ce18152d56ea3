import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Secret } from '../config/config.ts';

/** What a derived secret is for. Part of the HMAC, so that the id of a code gives no link. */
type Purpose = 'email code' | 'email link' | 'email proof' | 'password reset' | 'email change';

export type DerivedSecrets = ReturnType<typeof createDerivedSecrets>;

/**
 * Codes and link tokens. They are not stored: a row has a random id, and the secret is derived from it whenever it is mailed
 * or checked. So a retried mail holds the same code, and a copy of the database reveals none.
 */
export function createDerivedSecrets(secrets: readonly [Secret, ...Secret[]]) {
  function digest(purpose: Purpose, id: string, keyId: string): Buffer | undefined {
    const secret = secrets.find((candidate) => candidate.id === keyId);
    return secret && createHmac('sha256', secret.key).update(`dure ${purpose}:${id}`).digest();
  }

  /** Six digits; undefined when the secret of the row's time is no longer configured. */
  function code(id: string, keyId: string): string | undefined {
    // 48 bits over a million values: the bias is below one in 10^8.
    const number = digest('email code', id, keyId)?.readUIntBE(0, 6);
    return number === undefined ? undefined : String(number % 1_000_000).padStart(6, '0');
  }

  /** 256 bits, URL-safe. */
  function token(purpose: Exclude<Purpose, 'email code'>, id: string, keyId: string): string | undefined {
    return digest(purpose, id, keyId)?.toString('base64url');
  }

  /** The id of the secret that new rows are derived with. */
  const keyId = secrets[0].id;

  return { keyId, code, token };
}

/** The parts of a token that has the id of its row in front of the secret; undefined for any other text. */
export function splitToken(token: string): { id: string; digest: string } | undefined {
  const [, id, digest] = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.([\w-]{43})$/.exec(token) ?? [];
  return id === undefined || digest === undefined ? undefined : { id, digest };
}

/** Compares in constant time. An undefined expected value equals nothing. */
export function secretsEqual(expected: string | undefined, given: string): boolean {
  if (expected === undefined) return false;
  const [a, b] = [Buffer.from(expected), Buffer.from(given)];
  return a.length === b.length && timingSafeEqual(a, b);
}
