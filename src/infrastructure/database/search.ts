import type { Reader } from './client.ts';
import type { BoundedPage } from './keyset.ts';
import {
  allOf,
  conditionsOnStore,
  constant,
  lookupsOf,
  newestFirst,
  onStore,
  type SearchableList,
  type SearchFilter,
  type Source,
  scan,
  type scanBudgets,
  searchText,
} from './search-sources.ts';
import { join, type Sql, sql } from './sql.ts';

/*
 * Stores and posts are listed newest first, and filtered by text and by the category and region of the store. Text search needs no
 * extension: `search_keys` hashes the pairs of neighbouring characters of a text, a GIN index finds the rows that have those of the
 * query, and `position` decides whether they stand together. The functions are in the migrations.
 */

interface Outcome {
  isUsable: boolean;
  stoppedTime: Date | null;
  stoppedId: number | null;
}

/**
 * Reads one page of a searchable list.
 *
 * No single plan suits both rare and frequent matches, and the planner cannot distinguish them, because it assumes that words
 * are independent. So there are three ways, each with a bound on the rows that it examines, and each runs only when those
 * before it did not suffice:
 *
 * 1. Scan a few rows in order, which fills a page where matches are frequent.
 * 2. Look up the rows through the index of the text or of the category, which finds all matches where candidates are few.
 * 3. Scan more rows in order. The page may remain short; the next one continues after the last row that was examined.
 */
export async function findPage<Row extends { id: number; createdAt: Date }>(
  database: Reader,
  list: SearchableList,
  filter: SearchFilter,
  budgets: typeof scanBudgets,
): Promise<BoundedPage<Row>> {
  const find = async (source: Source) => {
    const rows = await database.query<Row & Outcome>(pageSql(list, filter, source));
    const { isUsable = false, stoppedTime: time, stoppedId: id } = rows[0] ?? {};
    const stoppedAt = time && id ? { time: time.getTime(), id: String(id) } : undefined;
    // The outcome of an empty page is a row without columns of its own.
    return { isUsable, page: { rows: rows.filter((row) => row.id !== null), stoppedAt } };
  };
  const lookups = lookupsOf(list, filter, budgets.most);
  if (lookups.length > 0) {
    const { page } = await find(scan(list, filter, budgets.first));
    if (page.stoppedAt === undefined) return page;
  }
  for (const lookup of lookups) {
    const { page, isUsable } = await find(lookup);
    if (isUsable) return page;
  }
  return (await find(scan(list, filter, budgets.most))).page;
}

/** One page of the rows of a source. Stops at a full page, or where the budget is used up. */
function pageSql(list: SearchableList, filter: SearchFilter, source: Source): Sql {
  const { q, limit } = filter;
  const { expressions, rows, isUsable, budget } = source;
  const maxText = constant(budget.textBytes);
  const textBytes = q === '' ? sql`0` : sql`octet_length(${searchText})`;
  const { isListed = sql`true` } = list;
  const conditions = [
    isListed,
    ...(q === '' ? [] : [hasText(list, filter)]),
    ...conditionsOnStore(list, filter),
  ];
  // Running totals in the order of the index need no sort, and end with the page. `walked` has the matches, and the last row
  // that may be examined.
  const walked = sql`walked AS (
    SELECT id, created_at, is_last, NOT is_last OR matches AS matches FROM (
      SELECT item.id, item.created_at, place = ${constant(budget.rows)} OR text_read >= ${maxText} AS is_last,
        CASE WHEN text_read - ${textBytes} < ${maxText} THEN ${allOf(conditions)} END AS matches
      FROM (
        SELECT item.*, row_number() OVER running AS place, sum(${textBytes}) OVER running AS text_read
        FROM (${rows}) item
        WINDOW running AS (${newestFirst} ROWS UNBOUNDED PRECEDING)
      ) item
    ) item
    WHERE matches OR is_last ${newestFirst} LIMIT ${limit}
  ), page AS (
    SELECT id, created_at FROM walked WHERE matches
  ), stopped AS (
    SELECT created_at AS "stoppedTime", id AS "stoppedId" FROM walked
    WHERE is_last AND (SELECT count(*) FROM page) < ${limit} ${newestFirst} LIMIT 1
  )`;
  return sql`
    WITH ${join([...expressions, walked])}
    SELECT found.*, stopped.*, ${isUsable} AS "isUsable"
    FROM (SELECT) one_row LEFT JOIN stopped ON true LEFT JOIN (${list.select}) found ON true
    ORDER BY found."createdAt" DESC, found.id DESC`;
}

/** Whether a row contains the text. */
function hasText(list: SearchableList, filter: SearchFilter): Sql {
  // The subquery makes PostgreSQL compute the key of the query once instead of once a row.
  const isIn = (text: Sql) => sql`position((SELECT search_key(${filter.q}::text)) IN ${text}) > 0`;
  const ofItem = isIn(searchText);
  return list.storeText === undefined
    ? ofItem
    : sql`(${ofItem} OR ${onStore(list, filter, isIn(list.storeText))})`;
}
