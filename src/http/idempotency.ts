import { Type } from '@sinclair/typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Created, IdempotencyKey } from '../infrastructure/database/idempotency.ts';
import { languages } from './language.ts';
import { pattern } from './text.ts';

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
export function idempotencyKey(request: FastifyRequest): IdempotencyKey | undefined {
  const key = request.headers['idempotency-key'];
  if (typeof key !== 'string') return undefined;
  return {
    scope: `${request.currentUser?.id ?? 'anonymous'}:${request.routeOptions.schema?.operationId}`,
    key,
    content: JSON.stringify([request.params, request.body], sortedKeys),
    language: request.language,
  };
}

/** Responds to an idempotent operation with 201. A replay keeps the language of the first response and has a header. */
export async function sendCreated<Data extends { id: number }>(
  reply: FastifyReply,
  created: Promise<Created<Data>>,
): Promise<Data> {
  const { data, replayedIn } = await created;
  reply.code(201);
  const { url, config } = reply.request.routeOptions;
  if (config.location) reply.header('location', `${url}${data.id}/`);
  if (replayedIn !== undefined) {
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
