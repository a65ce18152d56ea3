import type { Queryable } from '../../database/client.ts';
import type { BoundedPage, PageRequest } from '../../database/keyset.ts';
import { lateralById } from '../../database/search/filtered-list.ts';
import { findPage, type SearchableList, scanBudgets } from '../../database/search/search.ts';
import { sql } from '../../database/sql.ts';
import type { StoreSummary } from '../schemas.ts';
import { isOpenStore, storeCategoriesSql } from '../sql.ts';

/** Which stores to list. */
export interface StoreFilter extends PageRequest {
  /** A part of the name; empty for all. */
  q: string;
  categoryId: number | undefined;
}

export interface ListedStoreRow extends StoreSummary {
  created_at: Date;
}

const openStores: SearchableList = {
  table: 'stores',
  storeColumn: 'id',
  baseFilter: isOpenStore('item'),
  foldedText: sql`search_fold(item.name)`,
  textBytes: sql`0`,
  storeConditions: () => [],
  select: sql`
    SELECT s.id, s.name, ${storeCategoriesSql} AS store_categories, s.created_at
    FROM page ${lateralById('stores', 's', 'page.id')}`,
};

export type StoreLists = ReturnType<typeof createStoreListRepository>;

/** The directory of stores. */
export function createStoreListRepository(database: Queryable, budgets = scanBudgets) {
  /** Open stores, newest first. */
  function list(filter: StoreFilter): Promise<BoundedPage<ListedStoreRow>> {
    return findPage<ListedStoreRow>(database, openStores, filter, budgets);
  }

  return { list };
}
