import { Type } from '@sinclair/typebox';
import { Int32, Int64, maxId } from './schemas.ts';

/** An id in a path. What cannot be an id is that resource's 404. */
export const PathId = (description: string) => Int32({ description, examples: [1] });

/** The same of a 64-bit column. */
export const BigPathId = (description: string) => Int64({ description, examples: [1] });

/** A UUID in a path, in lower case. What cannot be one is that resource's 404. */
export const PathUuid = (description: string) => Type.String({ format: 'uuid', description });

/** Whether a text is an id that a 32-bit column can hold. */
export function isId(text: string): boolean {
  return /^[1-9]\d{0,9}$/.test(text) && Number(text) <= maxId;
}

/** Whether a text is an id of a 64-bit column that is exact as a number. */
export function isBigId(text: string): boolean {
  return /^[1-9]\d{0,15}$/.test(text) && Number.isSafeInteger(Number(text));
}

/** Whether a text is a UUID in the form that PostgreSQL and this service write. */
export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text);
}
