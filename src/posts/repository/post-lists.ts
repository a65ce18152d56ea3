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
import { isOfCategory, rareCategory } from '../../stores/category-sql.ts';
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

// Scalar subqueries, and not EXISTS, which the planner may answer by reading the whole table that it asks.
function conditionsOf({ owner, store, category, text: q }: Parameters): string[] {
  return [
    ...(owner ? [`item.store_id = (SELECT id FROM stores WHERE owner_id = ${owner})`] : []),
    ...(store ? [`item.store_id = ${store}`] : []),
    ...(q ? [holdsText(text, q)] : []),
    ...(category ? [isOfCategory('item.store_id', category)] : []),
    '(SELECT closed_at IS NULL FROM stores WHERE id = item.store_id)',
  ];
}

function shortcutsOf({ owner, store, category, text: q }: Parameters): Shortcuts {
  // The posts of one store are walked by their own index.
  if (owner || store) return [];
  const byText = (when: string) => (begun: string) =>
    `posts item WHERE ${when}${hasGramsOf(text, q ?? '')} AND ${begun}`;
  // `OFFSET 0` keeps the order of the two: from the stores of the category to their posts.
  const byCategory = (when: string) => (begun: string) =>
    `
    (SELECT store_id FROM store_category_links WHERE ${when}category_id = ${category} OFFSET 0) link
    CROSS JOIN LATERAL (SELECT * FROM posts item WHERE item.store_id = link.store_id AND ${begun} OFFSET 0) item`;
  if (category && q) {
    const isRare = rareCategory(category);
    return [byCategory(`${isRare} AND `), byText(`NOT ${isRare} AND `)];
  }
  if (category) return [byCategory('')];
  return q ? [byText('')] : [];
}

function listSql(parameters: Parameters): string {
  const ids = newestFirst({
    table: 'posts',
    present: 'item.deleted_at IS NULL',
    conditions: conditionsOf(parameters),
    shortcuts: shortcutsOf(parameters),
  });
  return `
    WITH page AS MATERIALIZED (${ids})
    SELECT ${postColumns}
    FROM page ${oneOf('posts', 'p', 'page.id')} ${oneOf('stores', 's', 'p.store_id')}
    ORDER BY p.created_at DESC, p.id DESC`;
}

export type PostLists = ReturnType<typeof createPostListRepository>;

/** Lists of posts. */
export function createPostListRepository(database: Pick<Database, 'query'>) {
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
