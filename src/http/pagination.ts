import { type TSchema, Type } from '@sinclair/typebox';
import type { KeysetPosition, PageRequest } from '../database/keyset.ts';
import { ApiError, httpErrors } from './errors.ts';

/** Query parameters of every list. */
export const PageQuery = {
  limit: Type.Integer({
    minimum: 1,
    maximum: 100,
    default: 20,
    description: 'Maximum number of items per page',
  }),
  cursor: Type.Optional(Type.String({ description: '`next_cursor` of the previous page' })),
};

/** One page of a list, newest first; `next_cursor` is null on the last one. */
export function Page<T extends TSchema>(item: T) {
  return Type.Object({
    items: Type.Array(item),
    next_cursor: Type.Union([Type.String(), Type.Null()], { description: 'Opaque; `null` on the last page' }),
  });
}

interface Pagination<Row, Item> {
  /** Whether a text is an id of this list's rows. */
  isId(id: string): boolean;
  /** Reads rows, newest first. */
  find(page: PageRequest): Promise<Row[]>;
  /** What the API shows of a row. */
  present(row: Row): Item;
}

/**
 * Reads one page of a list. One row more than the page holds is read, to know whether there is another page.
 *
 * @throws {ApiError} `invalid_cursor`
 */
export async function paginate<Row extends { id: string | number; created_at: Date }, Item>(
  { limit, cursor }: { limit: number; cursor?: string },
  { isId, find, present }: Pagination<Row, Item>,
) {
  const rows = await find({ after: readCursor(cursor, isId), limit: limit + 1 });
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  return {
    items: shown.map(present),
    next_cursor: last ? writeCursor({ time: last.created_at.getTime(), id: String(last.id) }) : null,
  };
}

function readCursor(cursor: string | undefined, isId: (id: string) => boolean): KeysetPosition | undefined {
  if (cursor === undefined) return undefined;
  const [, time, id] = /^(\d{1,13})_(.+)$/.exec(Buffer.from(cursor, 'base64url').toString('latin1')) ?? [];
  if (time === undefined || id === undefined || !isId(id)) throw new ApiError(httpErrors.invalidCursor);
  const position = { time: Number(time), id };
  // Decoding base64url ignores what it cannot read, so other texts could mean the same position.
  if (cursor !== writeCursor(position)) throw new ApiError(httpErrors.invalidCursor);
  return position;
}

function writeCursor({ time, id }: KeysetPosition): string {
  return Buffer.from(`${time}_${id}`, 'latin1').toString('base64url');
}
