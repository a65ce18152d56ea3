import { Type } from '@sinclair/typebox';
import type { FastifyRequest } from 'fastify';
import { maxId } from './schemas.ts';

/** An id in a path. Needs {@link readPathIds} in the scope of the route. */
export const PathId = (description: string) => Type.Integer({ description, examples: [1] });

/** Whether a text is an id that a 32-bit column can hold. */
export function isId(text: string): boolean {
  return /^[1-9]\d{0,9}$/.test(text) && Number(text) <= maxId;
}

/** Whether a text is a UUID in the form that PostgreSQL and this service write. */
export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text);
}

/**
 * Reads the ids in a path, as a `preValidation` hook. What cannot be an id becomes 0, which no row has, so that it ends as
 * that resource's 404 after authentication and validation, like any unknown id.
 */
export async function readPathIds(request: FastifyRequest): Promise<void> {
  const params = request.params as Record<string, unknown>;
  for (const [name, value] of Object.entries(params)) {
    params[name] = typeof value === 'string' && isId(value) ? Number(value) : 0;
  }
}
