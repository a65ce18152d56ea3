import { type Static, type TObject, type TProperties, type TSchema, Type } from '@sinclair/typebox';
import type { BoundedPage, KeysetPosition, PageRequest } from '../infrastructure/database/keyset.ts';
import { ApiError, httpErrors } from './errors.ts';
import { Base64url, Int32, List, OrNull } from './schemas.ts';

/** Bytes of the items of a page, so that with its envelope it ends before 1 MiB. */
const maxPageBytes = 1_000_000;

/** Items that are always below that: the longest, a post, has 43 kB. They are not measured, which costs 5 % of a short page. */
const unmeasured = 20;

const maxItems = 100;

/** Query parameters of every list. */
export const PageQuery = {
  limit: Int32('The most items of a page. A page of long items ends earlier, before 1 MiB.', {
    minimum: 1,
    maximum: maxItems,
    default: 20,
  }),
  // What is no cursor has an error of its own.
  cursor: Type.Optional(Base64url('`next_cursor` of the previous page', 100)),
};

export type PageQuery = Static<TObject<typeof PageQuery>>;

/** One page of a list, newest first. @param fields of the page besides its items and cursor */
export function Page<T extends TSchema, Fields extends TProperties = Record<never, never>>(
  $id: string,
  item: T,
  fields = {} as Fields,
) {
  const nextCursor =
    'Send it as `cursor` for the next page. A page may have fewer items than `limit`, or none: only `null` is the end.';
  const page = {
    items: List(item, maxItems, 'Newest first, where the operation says nothing else'),
    next_cursor: OrNull(Base64url(nextCursor, 100)),
  };
  return Type.Object({ ...page, ...fields }, { $id, description: 'One page of a list' });
}

interface ListedRow {
  id: string | number | bigint;
  createdAt: Date | string;
  /** In millimetres, where the nearest rows come first. */
  distance?: number | null;
}

interface Pagination<Row, Item> {
  /** Whether a text is an id of this list's rows. */
  isId(id: string): boolean;
  /** Reads rows, newest first; with a bound on the rows that it examines, it also says where it stopped. */
  find(page: PageRequest): Promise<Row[] | BoundedPage<Row>>;
  /** What the API shows of a row. */
  present(row: Row): Item;
  /** The most rows to read at once, where they are long; a page that has many is read in steps. */
  step?: number;
}

/**
 * Reads one page of a list, which ends before 1 MiB, and one row more, to know whether there is another page. After a bounded read,
 * the next page continues after the last row that was examined. @throws {ApiError} `invalid_cursor`
 */
export async function paginate<Row extends ListedRow, Item>(
  { limit, cursor }: PageQuery,
  { isId, find, present, step = limit }: Pagination<Row, Item>,
) {
  const items: Item[] = [];
  const endingAt = (position: KeysetPosition | undefined) => ({
    items,
    next_cursor: position ? writeCursor(position) : null,
  });
  const start = readCursor(cursor, isId);
  let last: Row | undefined;
  const reached = () => (last ? positionOf(last) : start);
  for (let bytes = 0; ; ) {
    const wanted = Math.min(step, limit - items.length);
    const found = await find({ after: reached(), limit: wanted + 1 });
    const { rows, stoppedAt } = Array.isArray(found) ? { rows: found, stoppedAt: undefined } : found;
    for (const row of rows.slice(0, wanted)) {
      const item = present(row);
      if (limit > unmeasured) bytes += Buffer.byteLength(JSON.stringify(item));
      if (items.length > 0 && bytes > maxPageBytes) return endingAt(reached());
      items.push(item);
      last = row;
    }
    if (rows.length <= wanted) return endingAt(stoppedAt);
    if (items.length === limit) return endingAt(reached());
  }
}

function positionOf({ id, createdAt, distance }: ListedRow): KeysetPosition {
  return { time: distance ?? new Date(createdAt).getTime(), id: String(id) };
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
