import { afterId, afterTime, type KeysetPosition, type PageRequest } from '../keyset.ts';
import { join, raw, type Sql, sql } from '../sql.ts';

/** A filtered list that is ordered by time and id, newest first. Its conditions call a row `item`. */
interface FilteredList {
  /** A table with `id` and `created_at`. */
  table: 'posts' | 'stores';
  /** Which rows exist for readers: the condition of the partial index on `created_at` and `id`. */
  baseFilter: Sql;
  /** The filters that the caller asked for. */
  conditions: Sql[];
  /**
   * Queries for `item.*` of {@link rowsAfter} that read an index of a condition. Together they yield at least the rows that
   * meet the conditions, and no row twice. Empty where scanning in order is always cheap.
   */
  indexPaths: Sql[];
}

/** How many of the newest rows are tried first: enough for a page that every twentieth row matches. */
const recentRows = raw('500');
/** How many candidates are read through the index paths. Where there are more, a scan in order fills a page soon. */
const maxCandidates = raw('2000');
/** The largest page plus one row to know whether there is another page. A constant, because the planner needs its value. */
const maxPage = raw('101');

const newestFirst = raw('ORDER BY created_at DESC, id DESC');

/**
 * Selects the ids of one page.
 *
 * No single plan suits both rare and frequent matches, and the planner cannot distinguish them, because it assumes that words
 * are independent. So the statement tries three ways, and each runs only when the one before did not suffice:
 *
 * 1. `recent`: filter the newest rows.
 * 2. `candidates`: read through the index paths, up to a limit.
 * 3. `scan`: walk the ordered index from newest to oldest.
 *
 * @returns a query with the columns `id` and `created_at`, in no order
 */
export function keysetPageSql(list: FilteredList, { after, limit }: PageRequest): Sql {
  const { baseFilter, conditions, indexPaths } = list;
  const table = raw(list.table);
  const matches = conditions.length > 0 ? join(conditions, ' AND ') : sql`true`;
  // `walk_from` makes every plan but a scan of the ordered index look expensive to the planner.
  const scan = (precondition: Sql) => sql`
    SELECT id, created_at FROM (
      SELECT item.id, item.created_at FROM ${table} item
      WHERE ${precondition} AND ${baseFilter}
        AND (item.created_at, item.id) < (walk_from(${afterTime(after)}), ${afterId(after)}) AND ${matches}
      ${newestFirst} LIMIT ${maxPage}
    ) scanned LIMIT ${limit}`;
  if (indexPaths.length === 0) return scan(sql`true`);
  return sql`
    WITH recent AS MATERIALIZED (
      SELECT item.id, item.created_at
      FROM (SELECT * FROM ${table} item WHERE ${rowsAfter(baseFilter, after)} ${newestFirst} LIMIT ${recentRows}) item
      WHERE ${matches} ${newestFirst} LIMIT ${limit}
    ), candidates AS MATERIALIZED (
      SELECT * FROM (${join(indexPaths, ' UNION ALL ')}) item
      WHERE (SELECT count(*) FROM recent) < ${limit} LIMIT ${maxCandidates}
    ), scan AS MATERIALIZED (${scan(sql`(SELECT count(*) FROM candidates) = ${maxCandidates}`)})
    SELECT * FROM (
      SELECT * FROM recent WHERE (SELECT count(*) FROM recent) = ${limit}
      UNION ALL
      SELECT item.id, item.created_at FROM candidates item
      WHERE (SELECT count(*) FROM candidates) < ${maxCandidates} AND ${matches}
      UNION ALL
      SELECT * FROM scan
    ) page ${newestFirst} LIMIT ${limit}`;
}

/** The condition of the rows from which a page takes its own. */
export function rowsAfter(baseFilter: Sql, after: KeysetPosition | undefined): Sql {
  return sql`${baseFilter} AND (item.created_at, item.id) < (${afterTime(after)}, ${afterId(after)})`;
}

/** SQL that joins the row with an id, row by row: `OFFSET 0` keeps the planner from reading the whole table. */
export function lateralById(table: 'posts' | 'stores', alias: string, id: string): Sql {
  return raw(`CROSS JOIN LATERAL (SELECT * FROM ${table} WHERE id = ${id} OFFSET 0) ${alias}`);
}
