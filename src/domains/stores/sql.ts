import { createDailyCounter } from '../../infrastructure/database/daily-quota.ts';
import { raw, type Sql, sql } from '../../infrastructure/database/sql.ts';

/** True where a store, by its alias, exists for readers: its account was not deleted, and its owner is not suspended. */
export function isOpenStore(alias: 's' | 'v' | 'item'): Sql {
  return raw(`${alias}.closed_at IS NULL AND ${alias}.suspended_at IS NULL`);
}

/** The same for Prisma's client. */
export const openStore = { closedAt: null, suspendedAt: null };

/** A query for the id of a user's store, where that exists for readers. */
export const openStoreOf = (ownerId: number) =>
  sql`SELECT s.id FROM stores s WHERE s.owner_id = ${ownerId} AND ${isOpenStore('s')}`;

/** The categories of the store `s` as JSON, in the order its owner gave. */
export const storeCategoriesSql = sql`
  coalesce((
    SELECT json_agg(json_build_object('id', c.id, 'name', c.name) ORDER BY l.position)
    FROM store_category_links l JOIN store_categories c ON c.id = l.category_id
    WHERE l.store_id = s.id), '[]')`;

/** The store `s` as a StoreSummary in JSON, for the queries of every domain. */
export const storeSummarySql = sql`
  json_build_object('id', s.id, 'name', s.name, 'store_categories', ${storeCategoriesSql})`;

/** Edits of a store and of its posts. They are counted before the edit, because a rollback leaves what it added to the indexes. */
export const storeEdits = createDailyCounter({ table: 'store_edits', owner: 'store_id', count: 'edits' });
