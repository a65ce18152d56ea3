import { createHmac } from 'node:crypto';
import { Type } from '@sinclair/typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Secret } from '../config/config.ts';
import type { ExpiredRows } from '../database/clean-up.ts';
import type { Database, Queryable, Tx } from '../database/client.ts';
import { sql } from '../database/sql.ts';
import { ApiError, httpErrors, serviceUnavailable } from './errors.ts';
import { type Language, languages } from './language.ts';
import { pattern } from './text.ts';

/** How long a key is remembered. */
const retentionHours = 24;

/** Rows of `idempotency_keys` that are of no use any more. */
export const expiredIdempotencyKeys: ExpiredRows = {
  table: 'idempotency_keys',
  condition: sql`created_at < now() - make_interval(hours => ${retentionHours})`,
};

/** Headers of an operation with `idempotent: true`. */
export const IdempotencyHeaders = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      ...pattern('^[!-~]+$', {
        ko: '공백 없이 영문·숫자·기호만 쓸 수 있습니다.',
        en: 'Must contain only visible ASCII characters.',
      }),
      description:
        'The same key with the same body within 24 hours returns the first answer again and changes nothing',
    }),
  ),
});

/** The header of a replayed answer. */
export const IdempotencyReplayed = {
  'Idempotency-Replayed': {
    type: 'string',
    enum: ['true'],
    description: '`true` when this is the first answer to the same `Idempotency-Key` again; absent otherwise',
  },
};

/** A request that carries an `Idempotency-Key`. */
export interface IdempotencyKey {
  /** The caller and the operation to which the key belongs. */
  scope: string;
  key: string;
  /** Parameters and body; never stored as they are. */
  content: string;
  language: Language;
}

/** What an operation answers, and whether it is the first answer again. */
export interface Outcome<Data> {
  data: Data;
  /** Of a replay: the language of the first answer. */
  replayedIn?: Language;
}

export type Idempotency = ReturnType<typeof createIdempotency>;

/**
 * The idempotency key of a request, or undefined without one.
 *
 * @param callerId of the user; undefined for anonymous callers
 */
export function idempotencyKey(
  request: FastifyRequest,
  callerId: number | undefined,
): IdempotencyKey | undefined {
  const key = request.headers['idempotency-key'];
  if (typeof key !== 'string') return undefined;
  return {
    scope: `${callerId ?? 'anonymous'}:${request.routeOptions.schema?.operationId}`,
    key,
    content: JSON.stringify([request.params, request.body], sortedKeys),
    language: request.language,
  };
}

/** Answers an idempotent operation with 201. A replay keeps the language of the first answer and has a header. */
export function sendCreated<Data>(reply: FastifyReply, { data, replayedIn }: Outcome<Data>): Data {
  reply.code(201);
  if (replayedIn !== undefined) {
    reply.request.language = replayedIn;
    reply.header('content-language', replayedIn).header('idempotency-replayed', 'true');
  }
  return data;
}

/**
 * Runs operations once per idempotency key. The key is claimed in the transaction that does the work: a concurrent request
 * with the same key waits at the unique index until the first one commits, and a rollback frees the key.
 */
export function createIdempotency(database: Database, secrets: readonly [Secret, ...Secret[]]) {
  /**
   * Runs work in a transaction, or replays the first answer to the same key.
   *
   * @param work makes the change and returns the `data` of the response; throws when nothing is changed, which frees the key
   * @throws {ApiError} `idempotency_conflict` when the key was used with another body
   */
  function run<Data extends object>(key: IdempotencyKey | undefined, work: (tx: Tx) => Promise<Data>) {
    return runIn<Tx, Data>(database.runInTransaction, key, work);
  }

  /** Like {@link run}, in a transaction of hand-written statements only. */
  function runStatements<Data extends object>(
    key: IdempotencyKey | undefined,
    work: (tx: Queryable) => Promise<Data>,
  ) {
    return runIn<Queryable, Data>(database.runStatements, key, work);
  }

  async function runIn<Transaction extends Queryable, Data extends object>(
    transaction: <Result>(work: (tx: Transaction) => Promise<Result>) => Promise<Result>,
    key: IdempotencyKey | undefined,
    work: (tx: Transaction) => Promise<Data>,
  ): Promise<Outcome<Data>> {
    if (key === undefined) return { data: await transaction(work) };
    const first = await transaction(async (tx) => {
      if (!(await claim(tx, key))) return undefined;
      const data = await work(tx);
      await keepAnswer(tx, key, data);
      return { data };
    });
    const outcome = first ?? (await findReplay<Data>(key));
    // The first request was rolled back after this one had waited for it.
    if (outcome === undefined) throw serviceUnavailable(new Error('the idempotency key was released'), 1);
    return outcome;
  }

  /**
   * The first answer to a key, if it was used. {@link run} looks it up as well; call this first where the work before the transaction is expensive.
   *
   * @throws {ApiError} `idempotency_conflict` when the key was used with another body
   */
  async function findReplay<Data>(key: IdempotencyKey | undefined): Promise<Outcome<Data> | undefined> {
    if (key === undefined) return undefined;
    const [kept] = await database.query<{ request_hash: string; body: { data: Data; language: string } }>(sql`
      SELECT request_hash, body FROM idempotency_keys
      WHERE scope = ${key.scope} AND key = ${key.key}
        AND created_at > now() - make_interval(hours => ${retentionHours})`);
    if (kept === undefined) return undefined;
    if (!hashes(key).includes(kept.request_hash)) throw new ApiError(httpErrors.idempotencyConflict);
    const { data, language } = kept.body;
    return { data, replayedIn: languages.find((known) => known === language) ?? key.language };
  }

  /** @returns false when another request has used the key; waits for one that is in progress */
  async function claim(tx: Queryable, key: IdempotencyKey): Promise<boolean> {
    const claimed = await tx.execute(sql`
      INSERT INTO idempotency_keys AS k (scope, key, request_hash, body)
      VALUES (${key.scope}, ${key.key}, ${hashes(key)[0]}, '{}')
      ON CONFLICT (scope, key) DO UPDATE SET request_hash = excluded.request_hash, body = '{}', created_at = now()
        WHERE k.created_at < now() - make_interval(hours => ${retentionHours})`);
    return claimed === 1;
  }

  async function keepAnswer(
    tx: Queryable,
    { scope, key, language }: IdempotencyKey,
    data: object,
  ): Promise<void> {
    const body = JSON.stringify({ data, language });
    await tx.execute(sql`
      UPDATE idempotency_keys SET body = ${body}::jsonb WHERE scope = ${scope} AND key = ${key}`);
  }

  /** One hash per secret, the current one first. Keyed, so that a guessed password cannot be checked against a stored hash. */
  function hashes({ content }: IdempotencyKey): string[] {
    return secrets.map(({ key }) =>
      createHmac('sha256', key).update(`dure request:${content}`).digest('hex'),
    );
  }

  /** Deletes the kept answers to a user's requests, the sign-up included. */
  async function deleteAnswersOf(tx: Tx, userId: number): Promise<void> {
    await tx.execute(sql`
      DELETE FROM idempotency_keys WHERE scope LIKE ${`${userId}:%`}
        OR scope = 'anonymous:signUp' AND body #>> '{data,id}' = ${String(userId)}`);
  }

  /**
   * Replaces fields of an object in the kept answers to an operation of a user. The keys stay, so that a late retry does not
   * repeat the operation.
   *
   * @param fields the new values
   */
  async function eraseFromAnswers(
    tx: Queryable,
    { userId, operationId, id }: { userId: number; operationId: string; id: number },
    fields: Record<string, unknown>,
  ): Promise<void> {
    await tx.execute(sql`
      UPDATE idempotency_keys
      SET body = jsonb_set(body, '{data}', (body -> 'data') || ${JSON.stringify(fields)}::jsonb)
      WHERE scope = ${`${userId}:${operationId}`} AND body #>> '{data,id}' = ${String(id)}`);
  }

  return { run, runStatements, findReplay, deleteAnswersOf, eraseFromAnswers };
}

/** For `JSON.stringify`: the order of properties does not matter. */
function sortedKeys(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
