import { createHmac } from 'node:crypto';
import type { Secret } from '../config/config.ts';
import type { ExpiredRows } from '../database/clean-up.ts';
import type { Database, Tx } from '../database/client.ts';
import { sql } from '../database/sql.ts';

/** How long a key is remembered. */
const retentionHours = 24;

/** Rows of `idempotency_keys` that are of no use any more. */
export const expiredIdempotencyKeys: ExpiredRows = {
  table: 'idempotency_keys',
  condition: sql`created_at < now() - make_interval(hours => ${retentionHours})`,
};

/** The key was used with another request. */
export class IdempotencyConflictError extends Error {
  override readonly name = 'IdempotencyConflictError';
}

/** The first request with the key was rolled back after another one had waited for it; a retry makes sense. */
export class IdempotencyKeyReleasedError extends Error {
  override readonly name = 'IdempotencyKeyReleasedError';
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

/** What an operation created, and whether this is the stored response. */
export interface Created<Data> {
  data: Data;
  /** Of a replay: the language of the first response. */
  replayedIn?: string;
}

export type Idempotency = ReturnType<typeof createIdempotency>;

/**
 * Runs operations once per idempotency key. The key is claimed in the transaction that does the work: a concurrent request
 * with the same key waits at the unique index until the first one commits, and a rollback frees the key.
 */
export function createIdempotency(database: Database, secrets: readonly [Secret, ...Secret[]]) {
  /**
   * Runs work in a transaction, or replays the first response to the same key.
   *
   * @param transaction of the database: `transaction` or `prismaTransaction`
   * @param work makes the change and returns the `data` of the response; throws when nothing is changed, which frees the key
   * @throws {IdempotencyConflictError} when the key was used with another body
   */
  async function run<Transaction extends Tx, Data extends object>(
    transaction: <Result>(work: (tx: Transaction) => Promise<Result>) => Promise<Result>,
    key: IdempotencyKey | undefined,
    work: (tx: Transaction) => Promise<Data>,
  ): Promise<Created<Data>> {
    if (key === undefined) return { data: await transaction(work) };
    const first = await transaction(async (tx) => {
      if (!(await claim(tx, key))) return undefined;
      const data = await work(tx);
      const body = JSON.stringify({ data, language: key.language });
      await tx.execute(sql`
        UPDATE idempotency_keys SET body = ${body}::jsonb WHERE scope = ${key.scope} AND key = ${key.key}`);
      return { data };
    });
    const created = first ?? (await findReplay<Data>(key));
    if (created === undefined) throw new IdempotencyKeyReleasedError('the idempotency key was released');
    return created;
  }

  /**
   * The stored response to a key, if it was used. {@link run} looks it up as well; call this first where the work before
   * the transaction is expensive.
   *
   * @throws {IdempotencyConflictError} when the key was used with another body
   */
  async function findReplay<Data>(key: IdempotencyKey | undefined): Promise<Created<Data> | undefined> {
    if (key === undefined) return undefined;
    const [stored] = await database.query<{
      request_hash: string;
      body: { data: Data; language: string };
    }>(sql`
      SELECT request_hash, body FROM idempotency_keys
      WHERE scope = ${key.scope} AND key = ${key.key}
        AND created_at > now() - make_interval(hours => ${retentionHours})`);
    if (stored === undefined) return undefined;
    if (!hashes(key).includes(stored.request_hash)) throw new IdempotencyConflictError();
    return { data: stored.body.data, replayedIn: stored.body.language };
  }

  /** @returns false when another request has used the key; waits for one that is in progress */
  async function claim(tx: Tx, key: IdempotencyKey): Promise<boolean> {
    const claimed = await tx.execute(sql`
      INSERT INTO idempotency_keys AS k (scope, key, request_hash, body)
      VALUES (${key.scope}, ${key.key}, ${hashes(key)[0]}, '{}')
      ON CONFLICT (scope, key) DO UPDATE SET request_hash = excluded.request_hash, body = '{}', created_at = now()
        WHERE k.created_at < now() - make_interval(hours => ${retentionHours})`);
    return claimed === 1;
  }

  /** One hash per secret, the current one first. Keyed, so that a guessed password cannot be checked against a stored hash. */
  function hashes({ content }: IdempotencyKey): string[] {
    return secrets.map(({ key }) =>
      createHmac('sha256', key).update(`dure request:${content}`).digest('hex'),
    );
  }

  /** Deletes the stored responses to a user's requests, the sign-up included. */
  async function deleteResponsesOf(tx: Database, userId: number): Promise<void> {
    await tx.execute(sql`
      DELETE FROM idempotency_keys WHERE scope LIKE ${`${userId}:%`}
        OR scope = 'anonymous:signUp' AND body #>> '{data,id}' = ${String(userId)}`);
  }

  /**
   * Replaces fields of an object in the stored responses to an operation of a user. The keys stay, so that a late retry does not
   * repeat the operation.
   *
   * @param fields the new values
   */
  async function eraseFromResponses(
    tx: Tx,
    { userId, operationId, id }: { userId: number; operationId: string; id: number },
    fields: Record<string, unknown>,
  ): Promise<void> {
    await tx.execute(sql`
      UPDATE idempotency_keys
      SET body = jsonb_set(body, '{data}', (body -> 'data') || ${JSON.stringify(fields)}::jsonb)
      WHERE scope = ${`${userId}:${operationId}`} AND body #>> '{data,id}' = ${String(id)}`);
  }

  return { run, findReplay, deleteResponsesOf, eraseFromResponses };
}
