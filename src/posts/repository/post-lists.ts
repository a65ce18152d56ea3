import type { Database } from '../../database/client.ts';
import { hasGramsOf, holdsText, newestFirst, newestFirstValues } from '../../database/newest-first.ts';
import type { Position } from '../../http/pagination.ts';
import { type PostRow, postColumns } from './row.ts';

/** Which posts to list: those after a position, where there is one. */
export interface PostFilter {
  /** Only of this user's store. */
  ownerId: number | undefined;
  storeId: number | undefined;
  categoryId: number | undefined;
  /** In title or content; empty for all. */
  q: string;
  after: Position | undefined;
  limit: number;
}

/** The parameters of what is asked for. */
type Parameters = Partial<Record<'owner' | 'store' | 'category' | 'text', string>>;

const text = 'item.search_text';

function conditionsOf({ owner, store, category, text: q }: Parameters): string[] {
  return [
    ...(owner ? [`item.store_id = (SELECT id FROM stores WHERE owner_id = ${owner})`] : []),
    ...(store ? [`item.store_id = ${store}`] : []),
    ...(q ? [holdsText(text, q)] : []),
    ...(category
      ? [
          `EXISTS (SELECT FROM store_category_links l WHERE l.store_id = item.store_id AND l.category_id = ${category})`,
        ]
      : []),
    'EXISTS (SELECT FROM stores s WHERE s.id = item.store_id AND s.closed_at IS NULL)',
  ];
}

function candidatesOf({ owner, store, category, text: q }: Parameters): string | undefined {
  // The posts of one store are walked by their own index.
  if (owner || store) return undefined;
  if (q) return `(SELECT * FROM posts item WHERE item.deleted_at IS NULL AND ${hasGramsOf(text, q)}) item`;
  if (category) {
    return `(SELECT store_id FROM store_category_links WHERE category_id = ${category} OFFSET 0) link
      CROSS JOIN LATERAL (SELECT * FROM posts WHERE store_id = link.store_id AND deleted_at IS NULL OFFSET 0) item`;
  }
  return undefined;
}

function listSql(parameters: Parameters): string {
  const ids = newestFirst({
    table: 'posts',
    present: 'item.deleted_at IS NULL',
    conditions: conditionsOf(parameters),
    candidates: candidatesOf(parameters),
  });
  return `
    WITH page AS MATERIALIZED (${ids})
    SELECT ${postColumns}
    FROM page JOIN posts p ON p.id = page.id JOIN stores s ON s.id = p.store_id
    ORDER BY p.created_at DESC, p.id DESC`;
}

export type PostLists = ReturnType<typeof createPostListRepository>;

/** Lists of posts. */
export function createPostListRepository(database: Database) {
  /** Posts of open stores, newest first. */
  async function list({ ownerId, storeId, categoryId, q, after, limit }: PostFilter): Promise<PostRow[]> {
    const values: unknown[] = newestFirstValues(after, limit);
    const asked = { owner: ownerId, store: storeId, category: categoryId, text: q === '' ? undefined : q };
    const parameters: Parameters = Object.fromEntries(
      Object.entries(asked)
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => [name, `$${values.push(value)}::${name === 'text' ? 'text' : 'int'}`]),
    );
    const name = ['list_posts', ...Object.keys(parameters)].join('_by_');
    return (await database.query<PostRow>(name, listSql(parameters), values)).rows;
  }

  return { list };
}
