import { afterId, afterTime, type KeysetPosition } from '../keyset.ts';
import { raw, type Sql, sql } from '../sql.ts';

/** A list with its filters, ordered by time and id, newest first. Conditions call a row `item`. */
export interface FilteredList {
  /** A table with `id` and `created_at`. */
  table: 'posts' | 'stores';
  /** The column of the table that holds the store's id. */
  storeColumn: 'id' | 'store_id';
  /** Which rows exist for readers: the condition of the partial index on `created_at` and `id`. */
  baseFilter: Sql;
  /** The text that is searched, with its case folded, as in the GIN indexes of the table. */
  foldedText: Sql;
  /** Conditions on the whole request. Where one is false, no row is read. */
  constants: Sql[];
  /** The condition on each row that is examined. */
  matches: Sql;
}

/** The order of every list. */
export const newestFirst = raw('ORDER BY created_at DESC, id DESC');

/**
 * The condition of the rows from which a page takes its own.
 *
 * @param access `in order`: makes every plan but a scan of the ordered index look expensive to the planner
 */
export function rowsAfter(
  { baseFilter }: Pick<FilteredList, 'baseFilter'>,
  after: KeysetPosition | undefined,
  access: 'in order' | 'any',
): Sql {
  const time = access === 'in order' ? sql`walk_from(${afterTime(after)})` : afterTime(after);
  return sql`${baseFilter} AND (item.created_at, item.id) < (${time}, ${afterId(after)})`;
}

/** SQL that joins the row with an id, row by row: `OFFSET 0` keeps the planner from reading the whole table. */
export function lateralById(table: 'posts' | 'stores', alias: string, id: string): Sql {
  return raw(`CROSS JOIN LATERAL (SELECT * FROM ${table} WHERE id = ${id} OFFSET 0) ${alias}`);
}
