import type { PageRequest } from '../keyset.ts';
import { raw, type Sql, sql } from '../sql.ts';
import {
  allOf,
  type Budget,
  conditionsOnStore,
  type FilteredList,
  newestFirst,
  rowsAfter,
} from './filtered-list.ts';

/** What a lookup examines. Where there is more, a scan in order finds matches soon. */
const budget: Budget = { rows: 5_000, textBytes: 2_000_000 };
/** How many stores of a category are looked at one by one. */
const maxStores = 2_000;
/** One row of so many is in the sample index; as in the migrations. */
const sampledOf = 503;
/** How many rows of the sample have the keys of a text that counts as rare. */
const maxSampled = Math.floor(budget.rows / sampledOf);
/** How many keys of a text are looked up: of a longer text every second, third and so on. More cost more than they leave out. */
const maxKeys = 5;

/**
 * Finds rows by their text through the GIN index, which reads the entries of all rows that have one of the keys. So it is asked
 * only where a sample says that few rows have all of them; otherwise nothing is read, and the outcome is not complete.
 *
 * @returns common table expressions as those of a scan
 */
export function textLookupSql(list: FilteredList, q: string, request: PageRequest): Sql {
  const table = raw(list.table);
  const keysOfRow = sql`search_keys(${list.searchText})`;
  const candidates = sql`
    SELECT item.* FROM (
      SELECT item.* FROM ${table} item WHERE ${keysOfRow} @> (SELECT keys FROM rare) AND ${list.baseFilter}
    ) item
    WHERE ${rowsAfter(list, request.after)}`;
  const storeId = sql`item.store_id`;
  const conditions = [
    ...(list.ofStore === undefined ? [] : [sql`${storeId} = ${list.ofStore}`]),
    ...conditionsOnStore(list, storeId),
  ];
  // The pairs come first; a single character has none.
  return sql`
    part AS MATERIALIZED (
      SELECT ARRAY(SELECT keys[place] FROM generate_series(1, pairs, 1 + (pairs - 1) / ${raw(String(maxKeys))}) place) AS keys
      FROM search_key(${q}::text) AS folded, greatest(char_length(folded) - 1, 1) AS pairs, search_keys(folded) AS keys
    ), rare AS MATERIALIZED (
      SELECT keys FROM part WHERE (
        SELECT count(*) <= ${raw(String(maxSampled))} FROM (
          SELECT FROM ${table} item
          WHERE ${list.baseFilter} AND item.id % ${raw(String(sampledOf))} = 0 AND ${keysOfRow} @> (SELECT keys FROM part)
          LIMIT ${raw(String(maxSampled + 1))}
        ) sampled)
    ), ${pageOf(list, { candidates, conditions, precondition: sql`EXISTS (SELECT FROM rare)` }, request)}`;
}

/**
 * Finds the rows of the stores of a category, store by store. Where these are many, none is read, and the outcome is not
 * complete.
 *
 * @returns common table expressions as those of a scan
 */
export function categoryLookupSql(list: FilteredList, categoryId: number, request: PageRequest): Sql {
  const isRare = sql`(SELECT count(*) <= ${raw(String(maxStores))} FROM link)`;
  // From the stores to their rows.
  const candidates = sql`
    SELECT item.*
    FROM (
      SELECT store_id FROM link WHERE ${allOf([isRare, ...list.storeConditions(sql`link.store_id`)])}
    ) link
    CROSS JOIN LATERAL (
      SELECT item.* FROM ${raw(list.table)} item
      WHERE item.${raw(list.storeColumn)} = link.store_id AND ${rowsAfter(list, request.after)}
    ) item`;
  return sql`
    link AS MATERIALIZED (
      SELECT store_id FROM store_category_links WHERE category_id = ${categoryId}::int LIMIT ${raw(String(maxStores + 1))}
    ), ${pageOf(list, { candidates, conditions: [], precondition: isRare }, request)}`;
}

/** What is common to the lookups. */
interface Lookup {
  /** A query for `item.*`, the rows to examine. */
  candidates: Sql;
  /** Whether the lookup reads anything at all. */
  precondition: Sql;
  /** Conditions that are asked in the order of the list until the page is full, on `id`, `created_at` and `store_id`. */
  conditions: Sql[];
}

/** Where candidates are more than the budget, only so many are read, and the outcome is not complete. */
function pageOf(list: FilteredList, lookup: Lookup, { limit }: PageRequest): Sql {
  const maxText = raw(String(budget.textBytes));
  const storeColumn = raw(list.storeColumn);
  return sql`
    candidate AS MATERIALIZED (
      SELECT id, created_at, ${storeColumn} AS store_id, text_read,
        CASE WHEN text_read < ${maxText} THEN ${allOf(list.textConditions)} END AS matches
      FROM (
        SELECT item.*, sum(${list.textBytes}) OVER (ROWS UNBOUNDED PRECEDING) AS text_read
        FROM (${lookup.candidates} LIMIT ${raw(String(budget.rows + 1))}) item
      ) item
    ), outcome AS MATERIALIZED (
      SELECT ${lookup.precondition} AND count(*) <= ${raw(String(budget.rows))}
          AND coalesce(max(text_read) < ${maxText}, true) AS is_complete,
        NULL::timestamptz AS stopped_time, NULL::bigint AS stopped_id
      FROM candidate
    ), page AS MATERIALIZED (
      SELECT id, created_at FROM (
        SELECT id, created_at, store_id FROM candidate
        WHERE (SELECT is_complete FROM outcome) AND matches ${newestFirst}
      ) item
      WHERE ${allOf(lookup.conditions)} ${newestFirst} LIMIT ${limit}
    )`;
}
