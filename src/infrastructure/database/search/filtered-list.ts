import { afterId, afterTime, type KeysetPosition } from '../keyset.ts';
import { join, raw, type Sql, sql } from '../sql.ts';

/** A list with its filters, ordered by time and id, newest first. Conditions call a row `item`. */
export interface FilteredList {
  /** A table with `id` and `created_at`. */
  table: 'posts' | 'stores';
  /** The column of the table that holds the store's id. */
  storeColumn: 'id' | 'store_id';
  /** Which rows exist for readers: the condition of the partial index on `created_at` and `id`. */
  baseFilter: Sql;
  /** The text that is searched, as in the GIN indexes of the table. */
  searchText: Sql;
  /** The size of the searched text, which must be cheap; 0 where no text is read. */
  textBytes: Sql;
  /** The conditions on the text of a row. */
  textConditions: Sql[];
  /** The conditions on the store with an id, apart from its category. They must be cheap. */
  storeConditions(storeId: Sql): Sql[];
  /** The category of the stores whose rows are listed. */
  categoryId: number | undefined;
  /** The id of the one store whose rows are listed, from an index of each store in order. */
  ofStore: Sql | undefined;
}

/** What a statement may examine. The last row may go beyond the bytes. */
export interface Budget {
  rows: number;
  textBytes: number;
}

/** The order of every list. */
export const newestFirst = raw('ORDER BY created_at DESC, id DESC');

/** The condition of the rows from which a page takes its own. */
export function rowsAfter(
  { baseFilter }: Pick<FilteredList, 'baseFilter'>,
  after: KeysetPosition | undefined,
): Sql {
  return sql`${baseFilter} AND (item.created_at, item.id) < (${afterTime(after)}, ${afterId(after)})`;
}

/** All conditions on the store with an id. */
export function conditionsOnStore({ categoryId, storeConditions }: FilteredList, storeId: Sql): Sql[] {
  // A scalar subquery, because the planner may answer EXISTS by reading all links; and false instead of NULL, so that the
  // conditions after it are not evaluated.
  const isOfCategory = sql`(
    SELECT true FROM store_category_links WHERE store_id = ${storeId} AND category_id = ${categoryId}::int) IS NOT NULL`;
  return [...(categoryId === undefined ? [] : [isOfCategory]), ...storeConditions(storeId)];
}

/** True where all conditions are. */
export function allOf(conditions: Sql[]): Sql {
  return conditions.length > 0 ? join(conditions, ' AND ') : sql`true`;
}
