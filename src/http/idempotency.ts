import { createHmac } from 'node:crypto';
import { Type } from '@sinclair/typebox';
import type { FastifyRequest } from 'fastify';
import type { Secret } from '../config/config.ts';
import type { Connection, Database } from '../database/client.ts';
import { ApiError, httpErrors } from './errors.ts';
import { type Language, languages } from './language.ts';

/** Runs work in one transaction. */
export type Transaction = <Result>(work: (transaction: Connection) => Promise<Result>) => Promise<Result>;

export type Idempotency = ReturnType<typeof createIdempotency>;

/** Headers of an operation that can be repeated safely. */
export const IdempotencyHeaders = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      pattern: '^[!-~]+$',
      description:
        'The same key with the same body within 24 hours returns the first answer again and changes nothing',
    }),
  ),
});

/** What is kept of a first answer: its data, and the language its message was in. */
interface KeptAnswer {
  request_hash: string;
  body: { data?: unknown; language?: string };
}

/**
 * Answers a repeated request with the first answer. The key is claimed at the start of the very transaction that does the
 * work: a second request waits at the unique index until the first one has committed, and a crash frees the key.
 */
export function createIdempotency(database: Database, secrets: readonly [Secret, ...Secret[]]) {
  /**
   * Runs an operation once for its key.
   *
   * @param caller whose key it is
   * @param operation makes the change in the transaction it is given, and returns the `data` of the answer
   * @throws {ApiError} `idempotency_conflict` when the key came with another body before
   */
  return async function once<Data>(
    request: FastifyRequest,
    caller: { id: number } | null,
    operation: (transaction: Transaction) => Promise<Data>,
  ): Promise<Data> {
    const key = request.headers['idempotency-key'];
    if (typeof key !== 'string') return operation(database.transaction);
    const scope = `${caller?.id ?? 'anonymous'}:${request.routeOptions.schema?.operationId}`;
    // Asked first, so that a repetition costs no password hash.
    const kept = await find(scope, key);
    if (kept) return replay<Data>(kept, request);

    const claimed: Transaction = async (work) => {
      const outcome = await database.transaction(async (transaction) => {
        if (!(await claim(transaction, scope, key, hashes(request)[0] ?? ''))) return undefined;
        const result = await work(transaction);
        const body = JSON.stringify({ data: result, language: request.language });
        await transaction.$executeRaw`
          UPDATE idempotency_keys SET body = ${body}::jsonb WHERE scope = ${scope} AND key = ${key}`;
        return { result };
      });
      if (outcome) return outcome.result;
      const first = await find(scope, key);
      if (first === undefined)
        throw new ApiError(httpErrors.serviceUnavailable, { headers: { 'retry-after': '1' } });
      return replay(first, request);
    };
    return operation(claimed);
  };

  /** @returns false when another request has the key; if that one is not done yet, waits for it */
  async function claim(transaction: Connection, scope: string, key: string, hash: string): Promise<boolean> {
    const claimed = await transaction.$executeRaw`
      INSERT INTO idempotency_keys AS k (scope, key, request_hash, body) VALUES (${scope}, ${key}, ${hash}, '{}')
      ON CONFLICT (scope, key) DO UPDATE SET request_hash = excluded.request_hash, body = '{}', created_at = now()
        WHERE k.created_at < now() - interval '24 hours'`;
    return claimed === 1;
  }

  async function find(scope: string, key: string): Promise<KeptAnswer | undefined> {
    const [kept] = await database.client.$queryRaw<KeptAnswer[]>`
      SELECT request_hash, body FROM idempotency_keys
      WHERE scope = ${scope} AND key = ${key} AND created_at > now() - interval '24 hours'`;
    return kept;
  }

  function replay<Data>(kept: KeptAnswer, request: FastifyRequest): Data {
    if (!hashes(request).includes(kept.request_hash)) throw new ApiError(httpErrors.idempotencyConflict);
    request.language =
      languages.find((language: Language) => language === kept.body.language) ?? request.language;
    // Written by the same operation from the same type.
    return kept.body.data as Data;
  }

  /** One hash for each secret, today's first. A plain digest would let a guessed password be checked against it. */
  function hashes(request: FastifyRequest): string[] {
    const content = JSON.stringify([request.params, request.body], sortedKeys);
    return secrets.map(({ key }) =>
      createHmac('sha256', key).update(`dure request:${content}`).digest('hex'),
    );
  }
}

/** For `JSON.stringify`: the order in which a client writes its fields means nothing. */
function sortedKeys(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
