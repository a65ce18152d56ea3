import { createHash } from 'node:crypto';
import { Type } from '@sinclair/typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Created, IdempotencyKey } from '../infrastructure/database/idempotency.ts';
import { ApiError, httpErrors } from './errors.ts';
import { type Language, languages } from './language.ts';
import { pattern } from './text.ts';

/* Conditional requests (RFC 9110, section 13). @fastify/etag knows neither `If-Match` nor lists of tags. */

/** Headers of a `GET` that ends with `sendIfChanged`, and its response without a body. */
export const ReadConditions = Type.Object({
  'if-none-match': Type.Optional(
    Type.String({ description: 'The `ETag` of a previous response: 304 while it is the current one' }),
  ),
});
export const NotModified = Type.Unsafe<undefined>(Type.Null({ description: 'It has not changed' }));

/** Headers of a `PATCH` or `DELETE` that has a {@link Precondition}. */
export const WriteConditions = Type.Object({
  'if-match': Type.Optional(
    Type.String({
      description:
        'An `ETag` from reading or changing it, or a list of them: 412, and nothing is changed, unless it is the current one. `*`: any version',
    }),
  ),
});

/** Checks that what is to be changed is what the client knows. @throws {ApiError} `precondition_failed` */
export type Precondition = (current: object) => void;

/** A strong tag: a hash of all that the caller sees, other objects and the language of the `message` included. */
function entityTag(data: object, language: Language): string {
  const hash = createHash('sha256').update(JSON.stringify(data)).digest('base64url').slice(0, 22);
  return `"${hash}-${language}"`;
}

/** Gives a response its `ETag`. */
export function sendTagged<Data extends object>(reply: FastifyReply, data: Data): Data {
  reply.header('etag', entityTag(data, reply.request.language));
  return data;
}

/** The same, or 304 where the client has this response: `If-None-Match` is a list of tags, compared weakly, or `*`. */
export async function sendIfChanged<Data extends object>(
  reply: FastifyReply,
  data: Data,
): Promise<Data | undefined> {
  const known = reply.request.headers['if-none-match'];
  const tag = entityTag(data, reply.request.language);
  const isKnown = known?.trim() === '*' || known?.match(/"[^"]*"/g)?.includes(tag);
  return isKnown ? reply.header('etag', tag).code(304).send() : sendTagged(reply, data);
}

/**
 * The precondition of a request, or undefined where every version may be changed: `If-Match` is a list of tags, compared strongly, or
 * `*`. A tag counts in any language, because the object is the same.
 */
export function preconditionOf({ headers }: FastifyRequest): Precondition | undefined {
  const known = headers['if-match'];
  if (known === undefined || known.trim() === '*') return undefined;
  const tags: string[] = known.match(/(?:W\/)?"[^"]*"/g) ?? [];
  return (current) => {
    const isKnown = languages.some((language) => tags.includes(entityTag(current, language)));
    if (!isKnown) throw new ApiError(httpErrors.preconditionFailed);
  };
}

/* Requests that are sent again. */

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
        'The same key with the same body within 24 hours returns the first response again and changes nothing',
    }),
  ),
});

/** The idempotency key of a request, or undefined without one. Each user has keys of their own; all others share theirs. */
function idempotencyKey(request: FastifyRequest): IdempotencyKey | undefined {
  const key = request.headers['idempotency-key'];
  if (typeof key !== 'string') return undefined;
  return {
    scope: `${request.currentUser?.id ?? 'anonymous'}:${request.routeOptions.schema?.operationId}`,
    key,
    content: JSON.stringify([request.params, request.body], sortedKeys),
    language: request.language,
  };
}

/** The `data` of an idempotent operation that creates something. A replay keeps the language of the first response and has a header. */
export async function sendCreated<Data extends { id: number }>(
  reply: FastifyReply,
  create: (key: IdempotencyKey | undefined) => Promise<Created<Data>>,
): Promise<Data> {
  const { data, replayedIn } = await create(idempotencyKey(reply.request));
  const { url, config } = reply.request.routeOptions;
  if (config.location) reply.header('location', `${url}${data.id}/`);
  if (replayedIn) {
    const language = languages.find((known) => known === replayedIn) ?? reply.request.language;
    reply.request.language = language;
    reply.header('content-language', language).header('idempotency-replayed', 'true');
  }
  return data;
}

/** For `JSON.stringify`: the order of properties does not matter. */
function sortedKeys(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
