import type { Queryable } from '../../database/client.ts';
import type { PageRequest } from '../../database/keyset.ts';
import { lateralById } from '../../database/search/keyset-page.ts';
import { type SearchableList, searchPageSql } from '../../database/search/search-page.ts';
import { sql } from '../../database/sql.ts';
import { isOpenStore } from '../../stores/sql.ts';
import { type PostRow, postColumns } from './posts.ts';

/** Which posts to list. */
export interface PostFilter extends PageRequest {
  /** Only of this user's store. */
  ownerId: number | undefined;
  storeId: number | undefined;
  categoryId: number | undefined;
  /** A part of title or content; empty for all. */
  q: string;
}

const existingPosts: SearchableList = {
  table: 'posts',
  storeColumn: 'store_id',
  baseFilter: sql`item.deleted_at IS NULL`,
  foldedText: sql`item.search_text`,
};

// Scalar subqueries, because the planner may answer EXISTS by reading the whole table of stores.
const ofOpenStore = sql`(SELECT ${isOpenStore('s')} FROM stores s WHERE s.id = item.store_id)`;

export type PostLists = ReturnType<typeof createPostListRepository>;

/** Lists of posts. */
export function createPostListRepository(database: Queryable) {
  /** Posts of open stores, newest first. */
  async function list({ ownerId, storeId, ...filter }: PostFilter): Promise<PostRow[]> {
    const ofOneStore = [
      ...(ownerId === undefined
        ? []
        : [sql`item.store_id = (SELECT id FROM stores WHERE owner_id = ${ownerId}::int)`]),
      ...(storeId === undefined ? [] : [sql`item.store_id = ${storeId}::int`]),
    ];
    const page = searchPageSql(existingPosts, { ...filter, ofOneStore, conditions: [ofOpenStore] });
    return database.query<PostRow>(sql`
      WITH page AS MATERIALIZED (${page})
      SELECT ${postColumns}
      FROM page ${lateralById('posts', 'p', 'page.id')} ${lateralById('stores', 's', 'p.store_id')}
      ORDER BY p.created_at DESC, p.id DESC`);
  }

  return { list };
}
