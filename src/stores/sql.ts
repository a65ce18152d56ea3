import { raw, type Sql, sql } from '../database/sql.ts';

/**
 * True where a store exists for readers: it was not closed by the deletion of its account, and its owner is not suspended.
 *
 * @param alias of the store in the query
 */
export function isOpenStore(alias: 's' | 'o' | 'item'): Sql {
  return raw(`${alias}.closed_at IS NULL AND ${alias}.suspended_at IS NULL`);
}

/** The categories of the store `s` as JSON, in the order its owner gave. */
export const storeCategoriesSql = sql`
  coalesce((
    SELECT json_agg(json_build_object('id', c.id, 'name', c.name) ORDER BY l.position)
    FROM store_category_links l JOIN store_categories c ON c.id = l.category_id
    WHERE l.store_id = s.id), '[]')`;

/** The store `s` as a StoreSummary in JSON, for the queries of every domain. */
export const storeSummarySql = sql`
  json_build_object('id', s.id, 'name', s.name, 'store_categories', ${storeCategoriesSql})`;
