import { type TSchema, Type } from '@sinclair/typebox';
import type { BoundedPage, KeysetPosition, PageRequest } from '../database/keyset.ts';
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
  return pageOf(item, 'Opaque; `null` on the last page');
}

/** One page of a list that examines a bounded number of rows; only `next_cursor` tells whether it is the last one. */
export function BoundedPageOf<T extends TSchema>(item: T) {
  return pageOf(item, 'Opaque; `null` on the last page, and only there');
}

function pageOf<T extends TSchema>(item: T, description: string) {
  return Type.Object({
    items: Type.Array(item),
    next_cursor: Type.Union([Type.String(), Type.Null()], { description }),
  });
}

interface Pagination<Row, Item, Found = Row[]> {
  /** Whether a text is an id of this list's rows. */
  isId(id: string): boolean;
  /** Reads rows, newest first. */
  find(page: PageRequest): Promise<Found>;
  /** What the API shows of a row. */
  present(row: Row): Item;
}

interface ListedRow {
  id: string | number;
  created_at: Date;
}

/**
 * Reads one page of a list. One row more than the page holds is read, to know whether there is another page.
 *
 * @throws {ApiError} `invalid_cursor`
 */
export async function paginate<Row extends ListedRow, Item>(
  query: { limit: number; cursor?: string },
  { find, ...pagination }: Pagination<Row, Item>,
) {
  return paginateBounded(query, {
    ...pagination,
    find: async (page) => ({ rows: await find(page), stoppedAt: undefined }),
  });
}

/**
 * Reads one page of a list that examines a bounded number of rows. Where that was not enough for a full page, the next one
 * continues after the last row that was examined.
 *
 * @throws {ApiError} `invalid_cursor`
 */
export async function paginateBounded<Row extends ListedRow, Item>(
  { limit, cursor }: { limit: number; cursor?: string },
  { isId, find, present }: Pagination<Row, Item, BoundedPage<Row>>,
) {
  const { rows, stoppedAt } = await find({ after: readCursor(cursor, isId), limit: limit + 1 });
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  const next = last ? { time: last.created_at.getTime(), id: String(last.id) } : stoppedAt;
  return { items: shown.map(present), next_cursor: next ? writeCursor(next) : null };
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
