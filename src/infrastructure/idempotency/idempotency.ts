import { createHmac } from 'node:crypto';
import type { Secret } from '../config/config.ts';
import { advisoryLocks } from '../database/advisory-locks.ts';
import type { Database, Tx } from '../database/client.ts';
import { hasCode } from '../database/errors.ts';
import { raw, type Sql, sql } from '../database/sql.ts';

/**
 * The partition of a day: there are three, used in turns. Those of today and yesterday have all keys of the last 24 hours; the
 * third one is emptied before it is tomorrow's. The day is that of the statement, in UTC, by the clock of the database.
 */
const slotOf = (daysAgo: 0 | 1 | 2): Sql => sql`
  mod((statement_timestamp() AT TIME ZONE 'UTC')::date - date '1970-01-01' - ${raw(String(daysAgo))}, 3)::smallint`;

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

/** What an operation created, and whether this is the stored response. */
export interface Created<Data> {
  data: Data;
  /** Of a replay: the language of the first response. */
  replayedIn?: string;
}

export type Idempotency = ReturnType<typeof createIdempotency>;

/**
 * Runs operations once per idempotency key. The response is stored in the transaction that does the work, in which a concurrent
 * request with the same key waits until the first one ends; a rollback leaves the key free.
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
    return database.transaction(async (tx) => {
      await lock(tx, key);
      const stored = await findReplay<Data>(key, tx);
      if (stored) return stored;
      const data = await work(tx);
      await store(tx, key, data);
      return { data };
    });
  }

  /**
   * Waits for a concurrent request with the key. A lock of its own, because two requests before and after midnight have their rows
   * in different partitions, where no unique index settles which is the first.
   */
  async function lock(tx: Tx, { scope, key }: IdempotencyKey): Promise<void> {
    await tx.execute(sql`
      SELECT pg_advisory_xact_lock(${advisoryLocks.idempotencyKeys}::int, hashtext(${`${scope} ${key}`}))`);
  }

  /**
   * The stored response to a key, if it was used within 24 hours. {@link run} looks it up as well; call this first where the work
   * before the transaction is expensive.
   *
   * @throws {IdempotencyConflictError} when the key was used with another body
   */
  async function findReplay<Data>(
    key: IdempotencyKey | undefined,
    tx: Tx = database,
  ): Promise<Created<Data> | undefined> {
    if (key === undefined) return undefined;
    const [stored] = await tx.query<{ request_hash: string; body: { data: Data; language: string } }>(sql`
      SELECT request_hash, body FROM idempotency_keys
      WHERE day_slot IN (${slotOf(0)}, ${slotOf(1)}) AND scope = ${key.scope} AND key = ${key.key}
        AND created_at > now() - interval '24 hours'`);
    if (stored === undefined) return undefined;
    if (!hashes(key).includes(stored.request_hash)) throw new IdempotencyConflictError();
    return { data: stored.body.data, replayedIn: stored.body.language };
  }

  /** Stores a response. It replaces one that has expired, where the partition was not emptied in time. */
  async function store(tx: Tx, key: IdempotencyKey, data: object): Promise<void> {
    const body = JSON.stringify({ data, language: key.language });
    await tx.execute(sql`
      INSERT INTO idempotency_keys (day_slot, scope, key, request_hash, body)
      VALUES (${slotOf(0)}, ${key.scope}, ${key.key}, ${hashes(key)[0]}, ${body}::jsonb)
      ON CONFLICT (scope, key, day_slot) DO UPDATE
        SET request_hash = excluded.request_hash, body = excluded.body, created_at = excluded.created_at`);
  }

  /** One hash per secret, the current one first. Keyed, so that a guessed password cannot be checked against a stored hash. */
  function hashes({ content }: IdempotencyKey): string[] {
    return secrets.map(({ key }) =>
      createHmac('sha256', key).update(`dure request:${content}`).digest('hex'),
    );
  }

  /** Deletes the stored responses to a user's requests, the sign-up included, in all partitions. */
  async function deleteResponsesOf(tx: Tx, userId: number): Promise<void> {
    // All scopes of the user in the order of the index: `;` is the character after `:`.
    await tx.execute(sql`
      DELETE FROM idempotency_keys WHERE scope >= ${`${userId}:`} AND scope < ${`${userId};`}
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

  /**
   * Part of the clean-up: gives the storage of the day before yesterday back. The day is looked at again with the partition locked,
   * because at midnight it becomes that of today. A request that uses the partition for longer makes the next run try again.
   *
   * Yields how many days were given back.
   */
  async function* truncateExpired(): AsyncGenerator<number, void> {
    const [expired] = await database.query<{ slot: number }>(sql`
      SELECT slot FROM (SELECT ${slotOf(2)} AS slot) day
      WHERE pg_relation_size(('idempotency_keys_' || slot)::regclass) > 0`);
    if (expired === undefined) return;
    const partition = raw(`idempotency_keys_${expired.slot}`);
    const truncated = database.transaction(async (tx) => {
      await tx.execute(sql`SET LOCAL lock_timeout = '200ms'`);
      await tx.execute(sql`LOCK TABLE ${partition}`);
      const isExpired = (await tx.execute(sql`SELECT WHERE ${slotOf(2)} = ${expired.slot}`)) === 1;
      if (isExpired) await tx.execute(sql`TRUNCATE ${partition}`);
      return isExpired ? 1 : 0;
    });
    yield await truncated.catch((error: unknown) => {
      if (hasCode(error, '55P03')) return 0;
      throw error;
    });
  }

  return { run, findReplay, deleteResponsesOf, eraseFromResponses, truncateExpired };
}
