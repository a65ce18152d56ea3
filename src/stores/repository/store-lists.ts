import type { Database } from '../../database/client.ts';
import {
  hasGramsOf,
  holdsText,
  newestFirst,
  newestFirstValues,
  oneOf,
  type Shortcuts,
} from '../../database/search/keyset-page.ts';
import type { Position } from '../../http/pagination.ts';
import { isOfCategory, rareCategory } from '../category-sql.ts';
import type { StoreSummary } from '../schemas.ts';
import { storeCategoriesSql } from '../summary-sql.ts';

/** Which stores to list: those after a position, where there is one. */
export interface StoreFilter {
  /** In the name; empty for all. */
  q: string;
  categoryId: number | undefined;
  after: Position | undefined;
  limit: number;
}

export interface ListedStore extends StoreSummary {
  created_at: Date;
}

const foldedName = 'search_fold(item.name)';

/** @param q and category: the parameters of what is asked for */
function shortcutsOf(q: string | undefined, category: string | undefined): Shortcuts {
  const byName = (when: string) => (begun: string) =>
    `stores item WHERE ${when}${hasGramsOf(foldedName, q ?? '')} AND ${begun}`;
  // `OFFSET 0` keeps the order of the two: from the category's links to their stores.
  const byCategory = (when: string) => (begun: string) =>
    `
    (SELECT store_id FROM store_category_links WHERE ${when}category_id = ${category} OFFSET 0) link
    ${oneOf('stores', 'item', 'link.store_id')} WHERE ${begun}`;
  if (category && q) {
    const isRare = rareCategory(category);
    return [byCategory(`${isRare} AND `), byName(`NOT ${isRare} AND `)];
  }
  if (category) return [byCategory('')];
  return q ? [byName('')] : [];
}

/** @param q and category: the parameters of what is asked for */
function listSql(q: string | undefined, category: string | undefined): string {
  const ids = newestFirst({
    table: 'stores',
    present: 'item.closed_at IS NULL',
    conditions: [
      ...(q ? [holdsText(foldedName, q)] : []),
      ...(category ? [isOfCategory('item.id', category)] : []),
    ],
    shortcuts: shortcutsOf(q, category),
  });
  return `
    WITH page AS MATERIALIZED (${ids})
    SELECT s.id, s.name, ${storeCategoriesSql} AS store_categories, s.created_at
    FROM page ${oneOf('stores', 's', 'page.id')}
    ORDER BY s.created_at DESC, s.id DESC`;
}

export type StoreLists = ReturnType<typeof createStoreListRepository>;

/** The directory of stores. */
export function createStoreListRepository(database: Pick<Database, 'query'>) {
  /** Stores that are open, newest first. */
  async function list({ q, categoryId, after, limit }: StoreFilter): Promise<ListedStore[]> {
    const values: unknown[] = newestFirstValues(after, limit);
    const bind = (value: unknown, type: string) => `$${values.push(value)}::${type}`;
    const text = q === '' ? undefined : bind(q, 'text');
    const category = categoryId === undefined ? undefined : bind(categoryId, 'int');
    const name = `list_stores${text ? '_by_text' : ''}${category ? '_of_category' : ''}`;
    return (await database.query<ListedStore>(name, listSql(text, category), values)).rows;
  }

  return { list };
}
