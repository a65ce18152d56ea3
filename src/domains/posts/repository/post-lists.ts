import type { Tx } from '../../../infrastructure/database/client.ts';
import type { BoundedPage, PageRequest } from '../../../infrastructure/database/keyset.ts';
import {
  findPage,
  type SearchableList,
  scanBudgets,
} from '../../../infrastructure/database/search/search.ts';
import { empty, type Sql, sql } from '../../../infrastructure/database/sql.ts';
import { isOpenStore } from '../../stores/index.ts';
import { type PostRow, postColumns } from './posts.ts';

/** Which posts to list. */
export interface PostFilter extends PageRequest {
  /** The user who sees the posts. */
  userId: number;
  /** Only of this user's store. */
  ownerId: number | undefined;
  storeId: number | undefined;
  categoryId: number | undefined;
  /** A part of title or content; empty for all. */
  q: string;
}

const existingPosts: Omit<SearchableList, 'select'> = {
  table: 'posts',
  storeColumn: 'store_id',
  baseFilter: sql`item.deleted_at IS NULL`,
  // A scalar subquery, because the planner may answer EXISTS by reading the whole table of stores.
  storeConditions: (id) => [sql`(SELECT ${isOpenStore('s')} FROM stores s WHERE s.id = ${id})`],
};

const selectPosts = (userId: number) => sql`
  SELECT ${postColumns(userId)}
  FROM page JOIN posts p ON p.id = page.id JOIN stores s ON s.id = p.store_id`;

export type PostLists = ReturnType<typeof createPostListRepository>;

/** Lists of posts. */
export function createPostListRepository(database: Tx, budgets = scanBudgets) {
  /** Posts of open stores, newest first. */
  function list({ userId, ownerId, storeId, ...filter }: PostFilter): Promise<BoundedPage<PostRow>> {
    return findPage<PostRow>(
      database,
      { ...existingPosts, select: selectPosts(userId) },
      { ...filter, ofStore: storeOf(ownerId, storeId) },
      budgets,
    );
  }

  return { list };
}

/**
 * The id of the one store whose posts are asked for. A subquery in any case, because a plan for the id of a store with many
 * posts could read those of all stores.
 */
function storeOf(ownerId: number | undefined, storeId: number | undefined): Sql | undefined {
  if (ownerId === undefined) return storeId === undefined ? undefined : sql`(SELECT ${storeId}::int)`;
  const isAskedFor = storeId === undefined ? empty : sql`AND id = ${storeId}::int`;
  return sql`(SELECT id FROM stores WHERE owner_id = ${ownerId}::int ${isAskedFor})`;
}
