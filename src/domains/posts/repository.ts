import type { ExpiredRows } from '../../infrastructure/database/clean-up.ts';
import type { Reader, Tx } from '../../infrastructure/database/client.ts';
import { countDaily } from '../../infrastructure/database/daily-quota.ts';
import type { PartnerRequestStatus } from '../../infrastructure/database/generated/enums.ts';
import { raw, type Sql, sql } from '../../infrastructure/database/sql.ts';
import { findPage } from '../../infrastructure/search/page.ts';
import { type SearchableList, type SearchFilter, scanBudgets } from '../../infrastructure/search/sources.ts';
import { isOpenStore, openStore, openStoreOf, storeSummarySql } from '../stores/index.ts';
import type { NewPost, Post, PostChanges, PostQuery } from './schemas.ts';

const today = raw(`(now() AT TIME ZONE 'Asia/Seoul')::date`);

/** True where a post, by its alias, takes requests: its author has not closed it, and its last day is not over. */
export function isOpenPost(alias: 'p' | 'item'): Sql {
  const post = raw(alias);
  return sql`(${post}.closed_at IS NULL AND (${post}.closes_on IS NULL OR ${post}.closes_on >= ${today}))`;
}

/** Posts whose last day is over. That they are marked keeps them out of the indexes of open posts; it changes nothing else. */
export const duePosts: ExpiredRows = {
  table: 'posts',
  condition: sql`closed_at IS NULL AND closes_on < ${today}`,
  update: sql`closed_at = now()`,
};

/** Sets `closed_at` and `closes_on` of the post `p` to what its author asks for. What is closed stays closed until it is opened. */
function setClosing({ status, closes_on: date }: PostChanges): Sql {
  const closesOn = date === undefined ? raw('p.closes_on') : sql`${date}::date`;
  if (status === 'open') {
    return sql`closed_at = NULL, closes_on = CASE WHEN ${closesOn} >= ${today} THEN ${closesOn} END`;
  }
  const isClosed = status === 'closed' ? raw('true') : sql`NOT ${isOpenPost('p')}`;
  return sql`closed_at = CASE WHEN ${isClosed} THEN coalesce(p.closed_at, now()) END, closes_on = ${closesOn}`;
}

/** The post `p` of the store `s`, as a user sees it. Requests of a store are created one by one, so the newest has the largest id. */
const postColumns = (userId: number) => sql`
  p.id, p.title, p.content, p.images, p.created_at AS "createdAt", p.updated_at AS "updatedAt", ${storeSummarySql} AS store,
  to_char(p.closes_on, 'YYYY-MM-DD') AS closes_on, ${isOpenPost('p')} AS "isOpen", s.owner_id = ${userId} AS is_mine, (
    SELECT r.status FROM partner_requests r
    WHERE r.sender_store_id = (SELECT id FROM stores WHERE owner_id = ${userId}) AND r.post_id = p.id
    ORDER BY r.id DESC LIMIT 1) AS my_request_status`;

export interface PostRow
  extends Pick<Post, 'id' | 'title' | 'content' | 'images' | 'store' | 'closes_on' | 'is_mine'> {
  isOpen: boolean;
  my_request_status: PartnerRequestStatus | null;
  createdAt: Date;
  updatedAt: Date;
}

/** With the distance in millimetres from the place of the filter; null without one. */
export type ListedPostRow = PostRow & { distance: number | null };

/** A post, and a user. */
export type OwnPost = { id: number; userId: number };
/** A post to change; with a version, its `updated_at`, only while it has that. */
type PostVersion = OwnPost & { version?: string | undefined };
type PostEdit = PostChanges & PostVersion & { quota: number };

/** Which posts to list: of all stores, or of one by its id or owner. */
interface PostFilter extends Omit<SearchFilter, 'ofStore'> {
  userId: number;
  ownerId: number | undefined;
  storeId: number | undefined;
  status: NonNullable<PostQuery['status']>;
}

/** Reading a store costs as much as so many bytes of text. */
const storeBytes = raw('500');

/** Posts are also found by name and address of their store. */
const visiblePosts: Omit<SearchableList, 'select'> = {
  table: 'posts',
  storeId: sql`item.store_id`,
  exists: sql`item.is_visible`,
  storeExists: isOpenStore('s'),
  // `OFFSET 0` makes PostgreSQL look at the category first, and read no store that does not have it.
  withStores: (rows, { hasCategory }) => sql`
    SELECT item.*, s.* FROM (${rows}) item LEFT JOIN LATERAL (
      SELECT s.search_text AS store_text, s.region_keys FROM stores s
      WHERE s.id = item.store_id AND ${isOpenStore('s')} AND ${hasCategory(sql`item.store_id`)} OFFSET 0
    ) s ON true`,
  matches: ({ contains, isInRegion }) => sql`
    item.region_keys IS NOT NULL AND ${isInRegion(sql`item.region_keys`)} AND ${contains(
      sql`item.search_text`,
      sql`split_part(item.store_text, E'\\n', 1)`,
      sql`split_part(item.store_text, E'\\n', 2)`,
    )}`,
  textBytes: sql`octet_length(item.search_text) + ${storeBytes} + coalesce(octet_length(item.store_text), 0)`,
};

/** Which posts a search examines, and which it lists. Closed ones are among all: no index has those whose last day is over. */
function ofStatus(status: PostFilter['status']): Pick<SearchableList, 'isExamined' | 'isListed'> {
  if (status === 'open') return { isExamined: sql`item.closed_at IS NULL`, isListed: isOpenPost('item') };
  return { isListed: sql`(${status === 'all'}::bool OR NOT ${isOpenPost('item')})` };
}

/** Deleted and hidden posts and those of closed or suspended stores do not exist for readers. */
export async function find(tx: Reader, { id, userId }: OwnPost): Promise<PostRow | undefined> {
  const [row] = await tx.query<PostRow>(sql`/* posts.find */
    SELECT ${postColumns(userId)} FROM posts p JOIN stores s ON s.id = p.store_id
    WHERE p.id = ${id} AND p.is_visible AND ${isOpenStore('s')}`);
  return row;
}

/** Writes a post; waits for a store that is being closed. @returns undefined without a store, or when its quota is used up */
export async function create(tx: Tx, input: NewPost & { userId: number; quota: number }) {
  const { userId, quota, title, content, images = [], closes_on: closesOn = null } = input;
  const [post] = await tx.query<PostRow>(sql`/* posts.create */
    WITH counted AS (${countDaily('post', openStoreOf(userId), quota)}), created AS (
      INSERT INTO posts (store_id, title, content, images, closes_on)
      SELECT s.id, ${title}, ${content}, ${images}::text[], ${closesOn}::date
      FROM counted JOIN stores s USING (id) WHERE ${isOpenStore('s')}
      FOR SHARE OF s
      RETURNING *
    )
    SELECT ${postColumns(userId)} FROM created p JOIN stores s ON s.id = p.store_id`);
  return post;
}

/** Changes the given fields. @returns undefined when the user has no such post, or the quota of edits is used up; 0: no quota */
export async function change(tx: Tx, { id, userId, version, quota, ...changes }: PostEdit) {
  const { title, content, images } = changes;
  const store = sql`
    SELECT s.id FROM posts p JOIN stores s ON s.id = p.store_id
    WHERE p.id = ${id} AND p.is_visible AND s.owner_id = ${userId} AND ${isOpenStore('s')}`;
  // The version is checked again after a concurrent change was waited for, so that of two changes of one version one succeeds.
  const [row] = await tx.query<PostRow>(sql`/* posts.change */
    WITH edited AS (${countDaily('edit', store, quota)}), changed AS (
      UPDATE posts p SET
        title = coalesce(${title ?? null}, p.title),
        content = coalesce(${content ?? null}, p.content),
        images = coalesce(${images ?? null}::text[], p.images),
        ${setClosing(changes)},
        updated_at = clock_timestamp()
      FROM edited WHERE p.id = ${id} AND p.is_visible AND p.store_id = edited.id
        AND p.updated_at = coalesce(${version ?? null}::timestamptz, p.updated_at)
      RETURNING p.*
    )
    SELECT ${postColumns(userId)} FROM changed p JOIN stores s ON s.id = p.store_id`);
  return row;
}

/** Deletes a post, whose row and title stay for the requests that answer it. @returns whether the user had such a post */
export async function remove(tx: Tx, { id, userId, version }: PostVersion): Promise<boolean> {
  const store = { ownerId: userId, ...openStore };
  const where = { id, isVisible: true, store, ...(version && { updatedAt: version }) };
  const data = { deletedAt: new Date(), content: '', images: [] };
  return (await tx.prisma.post.updateMany({ where, data })).count > 0;
}

/** Deletes all posts of a locked store, hidden ones included; each kind is read by its own index. */
export async function deletePostsOfStore(tx: Tx, storeId: number): Promise<void> {
  const removal = sql`
    UPDATE posts SET deleted_at = now(), content = '', images = '{}' WHERE store_id = ${storeId}`;
  await tx.execute(sql`/* posts.removeVisible */ ${removal} AND is_visible`);
  await tx.execute(sql`/* posts.removeHidden */ ${removal} AND NOT is_visible AND deleted_at IS NULL`);
}

/** Posts of open stores, newest first; around a place, nearest first. */
export async function list(tx: Reader, wanted: PostFilter, budgets = scanBudgets) {
  const { userId, ownerId, storeId, status, ...filter } = wanted;
  const select = sql`
    SELECT ${postColumns(userId)}, page.distance
    FROM page JOIN posts p ON p.id = page.id JOIN stores s ON s.id = p.store_id`;
  const listed = { ...visiblePosts, ...ofStatus(status), select };
  return await findPage<ListedPostRow>(
    tx,
    listed,
    { ...filter, ofStore: storeOf(ownerId, storeId) },
    budgets,
  );
}

/** The one store whose posts are asked for, as a subquery: a plan for an id of a store with many posts could read those of all. */
function storeOf(ownerId: number | undefined, storeId: number | undefined): Sql | undefined {
  if (ownerId === undefined && storeId === undefined) return undefined;
  const [owner, store] = [sql`${ownerId ?? null}::int`, sql`${storeId ?? null}::int`];
  return sql`(
    SELECT id FROM stores WHERE id = coalesce(${store}, (SELECT id FROM stores WHERE owner_id = ${owner}))
      AND (${owner} IS NULL OR owner_id = ${owner}))`;
}
