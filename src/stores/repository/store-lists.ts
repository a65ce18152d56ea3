import type { Database } from '../../database/client.ts';
import { hasGramsOf, holdsText, newestFirst, newestFirstValues } from '../../database/newest-first.ts';
import type { Position } from '../../http/pagination.ts';
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

/** Looked up by the rarer of the two as a rule: the name, then the category. */
function candidatesOf(q: string | undefined, category: string | undefined): string | undefined {
  if (q)
    return `(SELECT * FROM stores item WHERE item.closed_at IS NULL AND ${hasGramsOf(foldedName, q)}) item`;
  if (category) {
    // `OFFSET 0` keeps the order of the two: from the category's links to their stores.
    return `(SELECT store_id FROM store_category_links WHERE category_id = ${category} OFFSET 0) link
      CROSS JOIN LATERAL (SELECT * FROM stores WHERE id = link.store_id OFFSET 0) item`;
  }
  return undefined;
}

/** @param q and category: the parameters of what is asked for */
function listSql(q: string | undefined, category: string | undefined): string {
  const ids = newestFirst({
    table: 'stores',
    present: 'item.closed_at IS NULL',
    conditions: [
      ...(category
        ? [
            `EXISTS (SELECT FROM store_category_links l WHERE l.store_id = item.id AND l.category_id = ${category})`,
          ]
        : []),
      ...(q ? [holdsText(foldedName, q)] : []),
    ],
    candidates: candidatesOf(q, category),
  });
  return `
    WITH page AS MATERIALIZED (${ids})
    SELECT s.id, s.name, ${storeCategoriesSql} AS store_categories, s.created_at
    FROM page JOIN stores s ON s.id = page.id
    ORDER BY s.created_at DESC, s.id DESC`;
}

export type StoreLists = ReturnType<typeof createStoreListRepository>;

/** The directory of stores. */
export function createStoreListRepository(database: Database) {
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
