import { createHmac } from 'node:crypto';
import type { Secret } from '../config/config.ts';
import { expiredAfter } from './clean-up.ts';
import type { Database, Tx } from './client.ts';
import { sql } from './sql.ts';

export const expiredIdempotencyKeys = expiredAfter('24 hours', 'idempotency_keys');

/** The key was used with another request. */
export class IdempotencyConflictError extends Error {
  override readonly name = 'IdempotencyConflictError';
}

/** The key of a request. */
export interface IdempotencyKey {
  /** The caller and the operation to which the key belongs. */
  scope: string;
  key: string;
  /** Parameters and body; never stored as they are. */
  content: string;
  /** Of the response. */
  language: string;
}

/** A key as it is stored. */
export interface StoredKey extends Pick<IdempotencyKey, 'scope' | 'key' | 'language'> {
  /** Of the request, for each secret, the current one first. Keyed, so that a guessed password cannot be checked against one. */
  hashes: string[];
}

/** What an operation created, and whether this is the stored response. */
export interface Created<Data> {
  data: Data;
  /** Of a replay: the language of the first response; null or nothing otherwise. */
  replayedIn?: string | null;
}

export type Idempotency = ReturnType<typeof createIdempotency>;

/**
 * Runs operations once per idempotency key. The key is taken and the response stored in the transaction that does the work. A
 * concurrent request with the same key waits at its row until the first one ends; a rollback leaves the key free.
 */
export function createIdempotency(database: Database, secrets: readonly [Secret, ...Secret[]]) {
  /**
   * Runs work in a transaction, or replays the first response to the same key.
   *
   * @param work makes the change and returns the `data` of the response; throws when nothing is changed, which frees the key
   * @throws {IdempotencyConflictError} when the key was used with another body
   */
  async function run<Data extends object>(
    key: IdempotencyKey | undefined,
    work: (tx: Tx) => Promise<Data>,
  ): Promise<Created<Data>> {
    if (key === undefined) return { data: await database.transaction(work) };
    const { scope, hashes, language } = stored(key);
    return database.transaction(async (tx) => {
      const taken = await tx.execute(sql`/* idempotency.take */
        INSERT INTO idempotency_keys AS stored (scope, key, request_hash) VALUES (${scope}, ${key.key}, ${hashes[0]})
        ON CONFLICT (scope, key) DO UPDATE
          SET request_hash = excluded.request_hash, body = NULL, created_at = excluded.created_at
          WHERE stored.created_at <= now() - interval '24 hours'`);
      const replay = taken === 0 ? await findReplay<Data>(key, tx) : undefined;
      if (replay) return replay;
      const data = await work(tx);
      await tx.execute(sql`/* idempotency.keep */
        UPDATE idempotency_keys SET body = ${JSON.stringify({ data, language })}::jsonb
        WHERE scope = ${scope} AND key = ${key.key}`);
      return { data };
    });
  }

  /**
   * The stored response to a key, if it was used within 24 hours. {@link run} looks it up, too; call this first where the work before
   * the transaction is expensive. @throws {IdempotencyConflictError} when the key was used with another body
   */
  async function findReplay<Data>(
    key: IdempotencyKey | undefined,
    tx: Tx = database,
  ): Promise<Created<Data> | undefined> {
    if (key === undefined) return undefined;
    const { scope, hashes } = stored(key);
    const [found] = await tx.query<{ hash: string; body: { data: Data; language: string } | null }>(sql`
      /* idempotency.find */ SELECT request_hash AS hash, body FROM idempotency_keys
      WHERE scope = ${scope} AND key = ${key.key} AND created_at > now() - interval '24 hours'`);
    if (!found?.body) return undefined;
    if (!hashes.includes(found.hash)) throw new IdempotencyConflictError();
    return { data: found.body.data, replayedIn: found.body.language };
  }

  function stored({ scope, key, language, content }: IdempotencyKey): StoredKey {
    const hash = ({ key: secret }: Secret) =>
      createHmac('sha256', secret).update(`dure request:${content}`).digest('hex');
    return { scope, key, language, hashes: secrets.map(hash) };
  }

  /** Deletes the stored responses to a user's requests, the sign-up included. */
  async function deleteResponsesOf(tx: Tx, userId: number): Promise<void> {
    // All scopes of the user in the order of the index: `;` is the character after `:`.
    await tx.execute(sql`/* idempotency.deleteOfUser */
      DELETE FROM idempotency_keys WHERE scope >= ${`${userId}:`} AND scope < ${`${userId};`}
        OR scope = 'anonymous:signUp' AND body #>> '{data,id}' = ${String(userId)}`);
  }

  /** Replaces fields of an object in the stored responses to an operation. The keys stay: a late retry does not repeat it. */
  async function eraseFromResponses(
    tx: Tx,
    { userId, operationId, id }: { userId: number; operationId: string; id: number },
    fields: Record<string, unknown>,
  ): Promise<void> {
    await tx.execute(sql`/* idempotency.erase */
      UPDATE idempotency_keys
      SET body = jsonb_set(body, '{data}', (body -> 'data') || ${JSON.stringify(fields)}::jsonb)
      WHERE scope = ${`${userId}:${operationId}`} AND body #>> '{data,id}' = ${String(id)}`);
  }

  return { run, stored, findReplay, deleteResponsesOf, eraseFromResponses };
}
