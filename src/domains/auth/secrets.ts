import * as crypto from 'node:crypto';
import { serviceUnavailable } from '../../http/errors.ts';
import type { Secret } from '../../infrastructure/config/config.ts';
import { pagesOfRun } from '../../infrastructure/database/clean-up.ts';
import type { Database } from '../../infrastructure/database/client.ts';
import type { LoginFlowKind } from '../../infrastructure/database/generated/enums.ts';
import type { Sql } from '../../infrastructure/database/sql.ts';

/** What a derived secret is for. Part of the HMAC, so that the id of a code gives no link. */
type Purpose = 'email code' | FlowSecret | LinkPurpose;
type LinkPurpose = 'email link' | 'email proof' | 'password reset' | 'email change' | `${LoginFlowKind} flow`;
/** What a login flow sends to a provider or an authenticator besides its token. */
type FlowSecret = 'state' | 'nonce' | 'code verifier' | 'challenge';

/** The id of nothing. */
export const noId = '00000000-0000-0000-0000-000000000000';

export type DerivedSecrets = ReturnType<typeof createDerivedSecrets>;
/**
 * Codes and link tokens of emails. They are not stored but derived from the random id of their row, with the secret of its time: a
 * retried email has the same code, and a copy of the database reveals none. Undefined when that secret is no longer configured.
 */
export function createDerivedSecrets(secrets: readonly [Secret, ...Secret[]]) {
  const find = (keyId: string) => secrets.find(({ id }) => id === keyId);
  const digest = ({ key }: Secret, purpose: Purpose, id: string) =>
    crypto.createHmac('sha256', key).update(`dure ${purpose}:${id}`).digest();

  function code(id: string, keyId: string): string | undefined {
    const secret = find(keyId);
    // 48 bits over a million values: the bias is below one in 10^8.
    const number = secret && digest(secret, 'email code', id).readUIntBE(0, 6);
    return number === undefined ? undefined : String(number % 1_000_000).padStart(6, '0');
  }

  /** The id of the row, a dot, and 256 bits, URL-safe. */
  const newToken = (purpose: LinkPurpose, id: string, secret = secrets[0]) =>
    `${id}.${digest(secret, purpose, id).toString('base64url')}`;

  function token(purpose: LinkPurpose, id: string, keyId: string): string | undefined {
    const secret = find(keyId);
    return secret && newToken(purpose, id, secret);
  }

  /** What a flow sends to a provider or an authenticator. One whose secret is no longer configured is not found by its token. */
  const derive = ({ id, keyId }: { id: string; keyId: string }, purpose: FlowSecret) =>
    digest(find(keyId) ?? secrets[0], purpose, id).toString('base64url');

  /** The row that a token is of, which may be gone; that of {@link noId} for every other text. */
  function open(purpose: LinkPurpose, given: string): { id: string; keyId: string } {
    const [id = ''] = given.split('.');
    const secret = secrets.find((one) => secretsEqual(newToken(purpose, id, one), given));
    return { id: secret ? id : noId, keyId: secret?.id ?? '' };
  }

  /** `keyId` is that of new rows. */
  return { keyId: secrets[0].id, code, token, newToken, derive, open };
}

export type Sealer = ReturnType<typeof createSealer>;
/** Encrypts what must be read again: with a key of the first secret, while each secret opens what it sealed (AES-256-GCM). */
export function createSealer(secrets: readonly [Secret, ...Secret[]]) {
  const toKey = ({ id, key }: Secret) => ({
    id,
    key: Buffer.from(crypto.hkdfSync('sha256', key, '', 'dure sealed values', 32)),
  });
  const sealing = toKey(secrets[0]);
  const keys = [sealing, ...secrets.slice(1).map(toKey)];

  /** @param context what the value is and whose, without which it does not open */
  function seal(text: string, context: string): string {
    const { id, key } = sealing;
    const iv = crypto.randomBytes(12);
    const cipher = crypto.createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(context));
    const sealed = Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return `${id}.${sealed.toString('base64url')}`;
  }

  /** @returns undefined when no secret opens it, or it was sealed for another context */
  function unseal(sealed: string, context: string): string | undefined {
    const [id, text = ''] = sealed.split('.');
    const key = keys.find((one) => one.id === id)?.key;
    const bytes = Buffer.from(text, 'base64url');
    if (key === undefined || bytes.length < 28) return undefined;
    try {
      const decipher = crypto
        .createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12))
        .setAAD(Buffer.from(context))
        .setAuthTag(bytes.subarray(-16));
      return decipher.update(bytes.subarray(12, -16), undefined, 'utf8') + decipher.final('utf8');
    } catch {
      return undefined;
    }
  }

  /** @param name for the log @throws {ApiError} `service_unavailable` when no secret opens it */
  function unsealNeeded(sealed: string, context: string, name: string): string {
    const text = unseal(sealed, context);
    if (text === undefined) throw serviceUnavailable(new Error(`no JWT_SECRET opens ${name}`));
    return text;
  }

  /** `prefix` is the start of everything that the first secret sealed. */
  return { seal, unseal, unsealNeeded, prefix: `${sealing.id}.` };
}

/** Where sealed values are. */
interface SealedTable<Row extends { sealed: string }> {
  table: string;
  /** Those in some pages of the table that do not begin with a prefix. */
  find(pages: Sql, prefix: string): Promise<Row[]>;
  contextOf(row: Row): string;
  /** Replaces a value that is still the same. */
  save(row: Row, sealed: string): Promise<unknown>;
}

/** Part of the clean-up: seals with the first JWT_SECRET what an earlier one sealed, so that a rotation can drop that. */
export async function* sealAgain<Row extends { sealed: string }>(
  database: Database,
  { seal, unseal, prefix }: Sealer,
  { table, find, contextOf, save }: SealedTable<Row>,
): AsyncGenerator<number, void> {
  for await (const pages of pagesOfRun(database, table)) {
    for (const row of await find(pages, prefix)) {
      const text = unseal(row.sealed, contextOf(row));
      if (text !== undefined) await save(row, seal(text, contextOf(row)));
    }
    yield 0;
  }
}

/** Compares in constant time. An undefined expected value equals nothing. */
export function secretsEqual(expected: string | undefined, given: string): boolean {
  if (expected === undefined) return false;
  const [a, b] = [Buffer.from(expected), Buffer.from(given)];
  return a.length === b.length && crypto.timingSafeEqual(a, b);
}
