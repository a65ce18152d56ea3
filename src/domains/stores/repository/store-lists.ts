import type { Tx } from '../../../infrastructure/database/client.ts';
import type { BoundedPage, PageRequest } from '../../../infrastructure/database/keyset.ts';
import { newestFirst } from '../../../infrastructure/database/search/filtered-list.ts';
import {
  findPage,
  type SearchableList,
  scanBudgets,
} from '../../../infrastructure/database/search/search.ts';
import { sql } from '../../../infrastructure/database/sql.ts';
import type { StoreListItem } from '../schemas.ts';
import { isOpenStore, storeCategoriesSql } from '../sql.ts';

/** Which stores to list. */
export interface StoreFilter extends PageRequest {
  /** A part of name, address or description; empty for all. */
  q: string;
  categoryId: number | undefined;
}

export interface ListedStoreRow extends Omit<StoreListItem, 'thumbnail'> {
  /** The first picture of the newest post, as it is stored; null where there is none. */
  image: string | null;
  created_at: Date;
}

/** Read from the index of the posts of each store in order. */
const newestImageSql = sql`(
  SELECT p.images[1] FROM posts p WHERE p.store_id = s.id AND p.deleted_at IS NULL ${newestFirst} LIMIT 1)`;

const openStores: SearchableList = {
  table: 'stores',
  storeColumn: 'id',
  baseFilter: isOpenStore('item'),
  storeConditions: () => [],
  select: sql`
    SELECT s.id, s.name, ${storeCategoriesSql} AS store_categories, s.address, s.description,
      ${newestImageSql} AS image, s.created_at
    FROM page JOIN stores s USING (id)`,
};

export type StoreLists = ReturnType<typeof createStoreListRepository>;

/** The directory of stores. */
export function createStoreListRepository(database: Tx, budgets = scanBudgets) {
  /** Open stores, newest first. */
  function list(filter: StoreFilter): Promise<BoundedPage<ListedStoreRow>> {
    return findPage<ListedStoreRow>(database, openStores, filter, budgets);
  }

  return { list };
}
