import type { ExpiredRows } from '../../infrastructure/database/clean-up.ts';
import { raw, type Sql, sql } from '../../infrastructure/database/sql.ts';

/**
 * True where a store exists for readers: it was not closed by the deletion of its account, and its owner is not suspended.
 *
 * @param alias of the store in the query
 */
export function isOpenStore(alias: 's' | 'v' | 'item'): Sql {
  return raw(`${alias}.closed_at IS NULL AND ${alias}.suspended_at IS NULL`);
}

/** The same for Prisma's client. */
export const openStore = { closedAt: null, suspendedAt: null };

/** The categories of the store `s` as JSON, in the order its owner gave. */
export const storeCategoriesSql = sql`
  coalesce((
    SELECT json_agg(json_build_object('id', c.id, 'name', c.name) ORDER BY l.position)
    FROM store_category_links l JOIN store_categories c ON c.id = l.category_id
    WHERE l.store_id = s.id), '[]')`;

/** The store `s` as a StoreSummary in JSON, for the queries of every domain. */
export const storeSummarySql = sql`
  json_build_object('id', s.id, 'name', s.name, 'store_categories', ${storeCategoriesSql})`;

const editPeriod = sql`interval '24 hours'`;

/** Counts of edits whose 24 hours are over. */
export const expiredStoreEdits: ExpiredRows = {
  table: 'store_edits',
  condition: sql`since < now() - ${editPeriod}`,
};

/**
 * SQL that counts an edit of a store or of its posts and returns the `id` of the store; no row when the quota is used up. It comes
 * before the edit, because a rollback leaves what the edit added to the indexes. Concurrent edits of a store wait here.
 *
 * @param store a query for the `id` of the store
 * @param quota edits within 24 hours from the first one; 0: no quota
 */
export function countEditSql(store: Sql, quota: number): Sql {
  if (quota === 0) return store;
  const isOver = sql`e.since < now() - ${editPeriod}`;
  return sql`
    INSERT INTO store_edits AS e (store_id) ${store}
    ON CONFLICT (store_id) DO UPDATE SET
      since = CASE WHEN ${isOver} THEN now() ELSE e.since END,
      edits = CASE WHEN ${isOver} THEN 1 ELSE e.edits + 1 END
    WHERE ${isOver} OR e.edits < ${quota}
    RETURNING store_id AS id`;
}
