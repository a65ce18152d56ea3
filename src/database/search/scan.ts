import type { PageRequest } from '../keyset.ts';
import { join, raw, type Sql, sql } from '../sql.ts';
import { type FilteredList, newestFirst, rowsAfter } from './filtered-list.ts';

/**
 * Walks an ordered index, of the whole list or of one store, from the position of the page. Stops at a full page, or
 * after a number of rows.
 *
 * @param maxRows how many rows to examine; a constant, because the planner needs its value
 * @returns common table expressions: `page` (`id`, `created_at`) and `outcome`, which is always one row
 */
export function scanSql(list: FilteredList, { after, limit }: PageRequest, maxRows: number): Sql {
  const rows = sql`
    FROM ${raw(list.table)} item
    WHERE ${join([...list.constants, rowsAfter(list, after, 'in order')], ' AND ')}`;
  return sql`
    page AS MATERIALIZED (
      SELECT item.id, item.created_at FROM (SELECT item.* ${rows} ${newestFirst} LIMIT ${raw(String(maxRows))}) item
      WHERE ${list.matches} ${newestFirst} LIMIT ${limit}
    ), stop AS MATERIALIZED (
      SELECT item.created_at, item.id ${rows} AND (SELECT count(*) FROM page) < ${limit}
      ${newestFirst} OFFSET ${raw(String(maxRows - 1))} LIMIT 1
    ), outcome AS (
      SELECT true AS is_complete, stop.created_at AS stopped_time, stop.id AS stopped_id
      FROM (SELECT) request LEFT JOIN stop ON true
    )`;
}
