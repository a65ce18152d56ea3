import { type TSchema, Type } from '@sinclair/typebox';
import { ApiError, httpErrors } from './errors.ts';

/** Query parameters of every list. */
export const PageQuery = {
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'How many items at most' }),
  cursor: Type.Optional(Type.String({ description: '`next_cursor` of the page before' })),
};

/** One page of a list, newest first; `next_cursor` is null on the last one. */
export function Page<T extends TSchema>(item: T) {
  return Type.Object({
    items: Type.Array(item),
    next_cursor: Type.Union([Type.String(), Type.Null()], { description: 'Opaque; `null` on the last page' }),
  });
}

/** A place in a list that is ordered by time and id, newest first. */
export interface Position {
  /** Milliseconds since 1970. */
  time: number;
  id: string;
}

/**
 * Reads a cursor.
 *
 * @throws {ApiError} `invalid_cursor`
 */
export function readCursor(cursor: string | undefined, isId: (id: string) => boolean): Position | undefined {
  if (cursor === undefined) return undefined;
  const [, time, id] = /^(\d{1,13})_(.+)$/.exec(Buffer.from(cursor, 'base64url').toString('latin1')) ?? [];
  const canonical =
    time !== undefined && id !== undefined && cursor === writeCursor({ time: Number(time), id });
  if (!canonical || !isId(id)) throw new ApiError(httpErrors.invalidCursor);
  return { time: Number(time), id };
}

function writeCursor({ time, id }: Position): string {
  return Buffer.from(`${time}_${id}`, 'latin1').toString('base64url');
}

/**
 * Makes a page of rows that were read with a limit one above the page's: the row too many tells that there is more.
 */
export function toPage<Row, Item>(
  rows: Row[],
  limit: number,
  position: (row: Row) => Position,
  toItem: (row: Row) => Item,
) {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return {
    items: shown.map(toItem),
    next_cursor: rows.length > limit && last !== undefined ? writeCursor(position(last)) : null,
  };
}
