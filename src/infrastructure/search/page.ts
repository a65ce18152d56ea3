import type { Reader } from '../database/client.ts';
import { type BoundedPage, boundedPage, newestFirst, type PageEnd } from '../database/keyset.ts';
import { allOf, constant, join, raw, type Sql, sql } from '../database/sql.ts';
import { nearestFirst } from './near.ts';
import {
  conditionsOf,
  lookupsOf,
  type SearchableList,
  type SearchFilter,
  type Source,
  scan,
  type scanBudgets,
} from './sources.ts';

/*
 * Stores and posts are listed newest first, and filtered by text and by the category and region of the store. Text search needs no
 * extension: `search_keys` hashes the pairs of neighbouring characters of a text, a GIN index finds the rows that have those of the
 * query, and `position` decides whether they stand together. The functions are in the migrations.
 */

/** The two orders of rows, by `key` and id. */
const newest = {
  key: raw('created_at'),
  order: newestFirst,
  ofFound: raw('found."createdAt" DESC, found.id DESC'),
  position: raw('(extract(epoch FROM created_at) * 1000)::bigint'),
  distance: raw('NULL::bigint AS distance'),
};
const nearest = {
  key: raw('distance'),
  order: nearestFirst,
  ofFound: raw('found.distance, found.id DESC'),
  position: raw('distance'),
  distance: raw('distance'),
};

/**
 * Reads one page of a searchable list.
 *
 * No single plan suits both rare and frequent matches, and the planner cannot distinguish them, because it assumes that words
 * are independent. So there are three ways, each with a bound on the rows that it examines, and each runs only when those
 * before it did not suffice:
 *
 * 1. Scan a few rows in order, which fills a page where matches are frequent.
 * 2. Look up the rows through the index of the text, region or category, which finds all matches where candidates are few.
 * 3. Scan more rows in order. The page may remain short; the next one continues after the last row that was examined.
 *
 * Around a place, the scans walk the nearest stores instead of an index in order. The list ends after as many as the largest scan
 * examines, unless the index of a text, region or category finds all of its rows.
 */
export async function findPage<Row extends { id: number; createdAt: Date }>(
  database: Reader,
  list: SearchableList,
  { ofStore, ...others }: SearchFilter,
  budgets: typeof scanBudgets,
): Promise<BoundedPage<Row>> {
  const { near } = others;
  // One store is asked once whether it fits; one that does not has no rows to examine.
  const { isInRegion, hasCategory } = conditionsOf(others);
  const store = sql`(
    SELECT s.id FROM stores s WHERE s.id = ${ofStore} AND ${list.storeExists}
      AND ${isInRegion(sql`s.region_keys`)} AND ${hasCategory(sql`s.id`)})`;
  const filter =
    ofStore === undefined ? others : { ...others, ofStore: store, region: '', categoryId: undefined };
  const find = async (source: Source) => {
    const rows = await database.query<Row & PageEnd & { isUsable: boolean }>(pageSql(list, filter, source));
    return { isUsable: rows[0]?.isUsable ?? false, page: boundedPage<Row>(rows) };
  };
  const lookups = lookupsOf(list, filter, budgets.most);
  let short: BoundedPage<Row> | undefined;
  if (lookups.length > 0 || near !== undefined) {
    const { page, isUsable } = await find(scan(list, filter, budgets.first));
    const isEnough = isUsable || page.rows.length === filter.limit;
    if (isEnough && page.stoppedAt === undefined) return page;
    // Around a place the last scan costs several times as much, and examines hardly more.
    if (near !== undefined && page.stoppedAt !== undefined) short = page;
  }
  for (const lookup of lookups) {
    const { page, isUsable } = await find(lookup);
    if (isUsable) return page;
  }
  return short ?? (await find(scan(list, filter, budgets.most))).page;
}

/**
 * One page of the rows of a source. Stops at a full page, or where the budget is used up. Filters that are not given are values,
 * too, so that a source has one text, whatever the filters are.
 */
function pageSql(list: SearchableList, filter: SearchFilter, source: Source): Sql {
  const { q, limit } = filter;
  const { expressions, rows, isUsable, budget } = source;
  const maxText = constant(budget.textBytes);
  const { isListed = sql`true`, storeId } = list;
  const ofFilter = conditionsOf(filter);
  const conditions = [
    isListed,
    ...(filter.ofStore === undefined ? [] : [sql`${storeId} = ${filter.ofStore}`]),
    list.matches(ofFilter),
  ];
  const { key, order, position, distance, ofFound } = filter.near === undefined ? newest : nearest;
  // Running totals in the order of the index need no sort, and end with the page. `walked` has the matches, and the last row
  // that may be examined.
  const walked = sql`walked AS (
    SELECT id, ${key}, is_last, NOT is_last OR matches AS matches FROM (
      SELECT item.id, item.${key}, place = ${constant(budget.rows)} OR text_read >= ${maxText} AS is_last,
        CASE WHEN text_read - text_bytes < ${maxText} THEN ${allOf(conditions)} END AS matches
      FROM (
        SELECT item.*, row_number() OVER running AS place, sum(text_bytes) OVER running AS text_read
        FROM (
          SELECT item.*, CASE WHEN ${q}::text = '' THEN 0 ELSE ${list.textBytes} END AS text_bytes
          FROM (${list.withStores(rows, ofFilter)}) item
        ) item
        WINDOW running AS (${order} ROWS UNBOUNDED PRECEDING)
      ) item
    ) item
    WHERE matches OR is_last ${order} LIMIT ${limit}
  ), page AS (
    SELECT id, ${distance} FROM walked WHERE matches
  ), stopped AS (
    SELECT ${position} AS "stoppedTime", id AS "stoppedId" FROM walked
    WHERE is_last AND (SELECT count(*) FROM page) < ${limit} ${order} LIMIT 1
  )`;
  return sql`/* ${raw(list.table)}.search */
    WITH ${join([...expressions, walked])}
    SELECT found.*, stopped.*, ${isUsable} AS "isUsable"
    FROM (SELECT) one_row LEFT JOIN stopped ON true LEFT JOIN (${list.select}) found ON true
    ORDER BY ${ofFound}`;
}
