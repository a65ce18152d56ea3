import { raw, type Sql, sql } from './sql.ts';

/** A position in a list that is ordered by time and id, newest first, or by distance and id, nearest first. */
export interface KeysetPosition {
  /** Milliseconds since 1970, or millimetres. */
  time: number;
  id: string;
}

/** One page of a list: the rows after a position, or the first ones. */
export interface PageRequest {
  after: KeysetPosition | undefined;
  limit: number;
}

/** The rows of a page of a list that examines a bounded number of rows per request. */
export interface BoundedPage<Row> {
  /** At most `limit` rows. */
  rows: Row[];
  /** The last row that was examined, where that is neither the end of the list nor a full page. */
  stoppedAt: KeysetPosition | undefined;
}

/** Where a page stopped that has examined as many rows as it may, in each of its rows: `time` and `id` of a position. */
export type PageEnd = { stoppedTime: number | null; stoppedId: number | null };

/** The page that a statement returned. The end of an empty page is a row without columns of its own. */
export function boundedPage<Row extends { id: number }>(rows: (Row & PageEnd)[]): BoundedPage<Row> {
  const { stoppedTime: time = null, stoppedId: id } = rows[0] ?? {};
  const stoppedAt = time !== null && id ? { time, id: String(id) } : undefined;
  return { rows: rows.filter((row) => row.id !== null), stoppedAt };
}

/** The order of every list that is not around a place. */
export const newestFirst = raw('ORDER BY created_at DESC, id DESC');

/** The same for Prisma's client: the rows after a position, by `createdAt` and `id`, newest first. */
export function olderThan(after: KeysetPosition | undefined) {
  const time = new Date(after?.time ?? 0);
  return after && { createdAt: { lte: time }, NOT: { createdAt: time, id: { gte: Number(after.id) } } };
}

/** SQL of the time after which a page continues; before every row without a position. */
export function afterTime(after: KeysetPosition | undefined): Sql {
  return sql`${after === undefined ? 'infinity' : new Date(after.time).toISOString()}::timestamptz`;
}

/** SQL of the id after which a page continues. */
export function afterId(after: KeysetPosition | undefined): Sql {
  return sql`${after?.id ?? '0'}::bigint`;
}
