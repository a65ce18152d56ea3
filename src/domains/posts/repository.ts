import type { Reader, Tx } from '../../infrastructure/database/client.ts';
import {
  lockQuota,
  ofLastDay,
  quotaFullUntil,
  secondsUntil,
} from '../../infrastructure/database/daily-quota.ts';
import type { PartnerRequestStatus } from '../../infrastructure/database/generated/enums.ts';
import type { BoundedPage, PageRequest } from '../../infrastructure/database/keyset.ts';
import { raw, type Sql, sql } from '../../infrastructure/database/sql.ts';
import type { Near } from '../../infrastructure/search/near.ts';
import { findPage } from '../../infrastructure/search/page.ts';
import { type SearchableList, scanBudgets } from '../../infrastructure/search/sources.ts';
import { countEditSql, isOpenStore, storeSummarySql } from '../stores/index.ts';
import { isOpenPost, ofStatus, setClosing } from './closing.ts';
import { newestStatusSql } from './request-status.ts';
import type { NewPost, Post, PostChanges, PostQuery } from './schemas.ts';

/** The columns of the post `p` of the store `s`, as a user sees it. */
function postColumns(userId: number): Sql {
  return sql`
    p.id, p.title, p.content, p.images, p.created_at AS "createdAt", p.updated_at AS "updatedAt", ${storeSummarySql} AS store,
    to_char(p.closes_on, 'YYYY-MM-DD') AS "closesOn", ${isOpenPost('p')} AS "isOpen",
    s.owner_id = ${userId} AS "isMine", ${newestStatusSql(userId, sql`p.id`)} AS "myRequestStatus"`;
}

export interface PostRow extends Pick<Post, 'id' | 'title' | 'content' | 'images' | 'store'> {
  /** As `2026-01-31`. */
  closesOn: string | null;
  isOpen: boolean;
  isMine: boolean;
  myRequestStatus: PartnerRequestStatus | null;
  createdAt: Date;
  updatedAt: Date;
}

/** A post in a list, and its distance in millimetres from the place of the filter; null without one. */
export type ListedPostRow = PostRow & { distance: number | null };

/** A post, and a user. */
export interface OwnPost {
  id: number;
  userId: number;
}

/** A post to change; with a version, its `updated_at`, only while it has that. */
interface PostVersion extends OwnPost {
  version?: string | undefined;
}

/** When the store `s` may write a post again; null while it may. All posts count, each kind read by its own index. */
function postQuotaFullUntil(quota: number): Sql {
  const written = sql`SELECT created_at FROM posts WHERE store_id = s.id AND ${ofLastDay}`;
  return quotaFullUntil(sql`${written} AND is_visible UNION ALL ${written} AND NOT is_visible`, quota);
}

/** Which posts to list. */
export interface PostFilter extends PageRequest {
  /** The user who sees the posts. */
  userId: number;
  /** Only of this user's store. */
  ownerId: number | undefined;
  storeId: number | undefined;
  categoryId: number | undefined;
  status: NonNullable<PostQuery['status']>;
  /** A region of the store; empty for all. */
  region: string;
  near: Near | undefined;
  /** A part of title or content, or of name or address of the store; empty for all. */
  q: string;
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

const selectPosts = (userId: number) => sql`
  SELECT ${postColumns(userId)}, page.distance
  FROM page JOIN posts p ON p.id = page.id JOIN stores s ON s.id = p.store_id`;

/** Also checked again when a concurrent change was waited for, so that of two changes of one version one succeeds. */
const hasVersion = (version: string | undefined) =>
  sql`p.updated_at = coalesce(${version ?? null}::timestamptz, p.updated_at)`;

export type Posts = ReturnType<typeof createPostRepository>;

/** Posts. Deleted and hidden posts and those of closed or suspended stores do not exist for readers. */
export function createPostRepository(database: Tx, budgets = scanBudgets) {
  /** A post as a user sees it. */
  async function find({ id, userId }: OwnPost, tx: Reader = database): Promise<PostRow | undefined> {
    const [row] = await tx.query<PostRow>(sql`
      SELECT ${postColumns(userId)} FROM posts p JOIN stores s ON s.id = p.store_id
      WHERE p.id = ${id} AND p.is_visible AND ${isOpenStore('s')}`);
    return row;
  }

  /**
   * Writes a post; waits for a store that is being closed or suspended. Of concurrent calls for one store, the quota allows
   * as many as of consecutive ones.
   *
   * @param quota posts of a store in 24 hours; 0: no quota
   * @returns undefined when the user has no store, or its quota is used up
   */
  async function create(
    tx: Tx,
    userId: number,
    { title, content, images = [], closes_on: closesOn = null }: NewPost,
    quota: number,
  ): Promise<PostRow | undefined> {
    const store = await tx.prisma.store.findFirst({ where: { ownerId: userId }, select: { id: true } });
    if (store) await lockQuota(tx, 'store', store.id);
    const [row] = await tx.query<PostRow>(sql`
      WITH created AS (
        INSERT INTO posts (store_id, title, content, images, closes_on)
        SELECT s.id, ${title}, ${content}, ${images}::text[], ${closesOn}::date FROM stores s
        WHERE s.owner_id = ${userId} AND ${isOpenStore('s')} AND ${postQuotaFullUntil(quota)} IS NULL
        FOR SHARE
        RETURNING *
      )
      SELECT ${postColumns(userId)} FROM created p JOIN stores s ON s.id = p.store_id`);
    return row;
  }

  /** How long a user has to wait for the next post. @returns undefined when the user has no store */
  async function secondsUntilRoom(
    connection: Tx,
    userId: number,
    quota: number,
  ): Promise<number | undefined> {
    const [store] = await connection.query<{ seconds: number | null }>(sql`
      SELECT ${secondsUntil(postQuotaFullUntil(quota))} AS seconds
      FROM stores s WHERE s.owner_id = ${userId} AND ${isOpenStore('s')}`);
    return store && (store.seconds ?? 0);
  }

  /**
   * Changes the given fields.
   *
   * @param quota edits of a store in 24 hours; 0: no quota
   * @returns undefined when the user has no such post, or the quota is used up
   */
  async function change(
    tx: Tx,
    { id, userId, version }: PostVersion,
    changes: PostChanges,
    quota: number,
  ): Promise<PostRow | undefined> {
    const { title, content, images } = changes;
    const store = sql`
      SELECT s.id FROM posts p JOIN stores s ON s.id = p.store_id
      WHERE p.id = ${id} AND p.is_visible AND s.owner_id = ${userId} AND ${isOpenStore('s')}`;
    const [row] = await tx.query<PostRow>(sql`
      WITH edited AS (${countEditSql(store, quota)}), changed AS (
        UPDATE posts p SET
          title = coalesce(${title ?? null}, p.title),
          content = coalesce(${content ?? null}, p.content),
          images = coalesce(${images ?? null}::text[], p.images),
          ${setClosing(changes)},
          updated_at = clock_timestamp()
        FROM edited WHERE p.id = ${id} AND p.is_visible AND p.store_id = edited.id AND ${hasVersion(version)}
        RETURNING p.*
      )
      SELECT ${postColumns(userId)} FROM changed p JOIN stores s ON s.id = p.store_id`);
    return row;
  }

  /** Deletes a post, whose row and title stay for the requests that answer it. @returns whether the user had such a post */
  async function remove(tx: Tx, { id, userId, version }: PostVersion): Promise<boolean> {
    const deleted = await tx.execute(sql`
      UPDATE posts p SET deleted_at = now(), content = '', images = '{}' FROM stores s
      WHERE s.id = p.store_id AND p.is_visible AND p.id = ${id} AND s.owner_id = ${userId} AND ${isOpenStore('s')}
        AND ${hasVersion(version)}`);
    return deleted > 0;
  }

  /**
   * Deletes all posts of a store, hidden ones included. The store must be locked, so that no post is hidden or shown again
   * meanwhile. Each kind is read by its own index.
   */
  async function removeOfStore(tx: Tx, storeId: number): Promise<void> {
    const data = { deletedAt: new Date(), content: '', images: [] };
    await tx.prisma.post.updateMany({ where: { storeId, isVisible: true }, data });
    await tx.prisma.post.updateMany({ where: { storeId, isVisible: false, deletedAt: null }, data });
  }

  /** Posts of open stores, newest first; around a place, nearest first. */
  function list(
    { userId, ownerId, storeId, status, ...filter }: PostFilter,
    tx: Reader = database,
  ): Promise<BoundedPage<ListedPostRow>> {
    return findPage<ListedPostRow>(
      tx,
      { ...visiblePosts, ...ofStatus(status), select: selectPosts(userId) },
      { ...filter, ofStore: storeOf(ownerId, storeId) },
      budgets,
    );
  }

  return { find, list, create, secondsUntilRoom, change, remove, removeOfStore };
}

/**
 * The id of the one store whose posts are asked for. A subquery in any case, because a plan for the id of a store with many
 * posts could read those of all stores.
 */
function storeOf(ownerId: number | undefined, storeId: number | undefined): Sql | undefined {
  if (ownerId === undefined && storeId === undefined) return undefined;
  const [owner, store] = [sql`${ownerId ?? null}::int`, sql`${storeId ?? null}::int`];
  return sql`(
    SELECT id FROM stores WHERE id = coalesce(${store}, (SELECT id FROM stores WHERE owner_id = ${owner}))
      AND (${owner} IS NULL OR owner_id = ${owner}))`;
}
