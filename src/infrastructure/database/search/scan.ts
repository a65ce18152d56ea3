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

/**
 * Walks an ordered index, of the whole list or of one store, from the position of the page. Stops at a full page, or where
 * the budget is used up.
 *
 * @returns common table expressions: `page` (`id`, `created_at`) and `outcome`, which is always one row
 */
export function scanSql(list: FilteredList, { after, limit }: PageRequest, budget: Budget): Sql {
  const maxRows = raw(String(budget.rows));
  const maxText = raw(String(budget.textBytes));
  const { ofStore, textConditions } = list;
  const storeId = sql`item.${raw(list.storeColumn)}`;
  // What is asked of one store is asked once, before its rows are read.
  const [constants, conditions] =
    ofStore === undefined
      ? [[], [...textConditions, ...conditionsOnStore(list, storeId)]]
      : [[sql`${storeId} = ${ofStore}`, ...conditionsOnStore(list, ofStore)], textConditions];
  // Running totals in the order of the index need no sort, and end with the page. `walked` has the matches, and the last row
  // that may be examined.
  return sql`
    walked AS MATERIALIZED (
      SELECT id, created_at, is_last, NOT is_last OR matches AS matches FROM (
        SELECT item.id, item.created_at, place = ${maxRows} OR text_read >= ${maxText} AS is_last,
          CASE WHEN text_read - ${list.textBytes} < ${maxText} THEN ${allOf(conditions)} END AS matches
        FROM (
          SELECT item.*, row_number() OVER running AS place, sum(${list.textBytes}) OVER running AS text_read
          FROM (
            SELECT item.* FROM ${raw(list.table)} item
            WHERE ${allOf([...constants, rowsAfter(list, after)])} ${newestFirst} LIMIT ${maxRows}
          ) item
          WINDOW running AS (${newestFirst} ROWS UNBOUNDED PRECEDING)
        ) item
      ) item
      WHERE matches OR is_last ${newestFirst} LIMIT ${limit}
    ), page AS MATERIALIZED (
      SELECT id, created_at FROM walked WHERE matches
    ), outcome AS (
      SELECT true AS is_complete, stop.created_at AS stopped_time, stop.id AS stopped_id
      FROM (SELECT) request LEFT JOIN (
        SELECT created_at, id FROM walked WHERE is_last AND (SELECT count(*) FROM page) < ${limit}
        ${newestFirst} LIMIT 1
      ) stop ON true
    )`;
}
