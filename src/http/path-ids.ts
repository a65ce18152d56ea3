import { Type } from '@sinclair/typebox';
import { Int32, maxId } from './schemas.ts';

/** An id in a path. What cannot be an id is that resource's 404. */
export const PathId = (description: string) => Int32({ description, examples: [1] });

/** A UUID in a path, in lower case. What cannot be one is that resource's 404. */
export const PathUuid = (description: string) => Type.String({ format: 'uuid', description });

/** Whether a text is an id that a 32-bit column can hold. */
export function isId(text: string): boolean {
  return /^[1-9]\d{0,9}$/.test(text) && Number(text) <= maxId;
}

/** Whether a text is a UUID in the form that PostgreSQL and this service write. */
export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text);
}
