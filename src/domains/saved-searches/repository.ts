import { expiredAfter } from '../../infrastructure/database/clean-up.ts';
import type { Database, Tx } from '../../infrastructure/database/client.ts';
import type { SavedSearch } from '../../infrastructure/database/generated/client.ts';
import type { PageRequest } from '../../infrastructure/database/keyset.ts';
import { lockRow } from '../../infrastructure/database/locks.ts';
import { constant, type Sql, sql } from '../../infrastructure/database/sql.ts';
import { distanceSql } from '../../infrastructure/search/near.ts';
import { isOpenPost } from '../posts/index.ts';
import { defaultRadius, isOpenStore } from '../stores/index.ts';
import { maxSavedSearches } from './schemas.ts';

export type SavedSearchRow = Omit<SavedSearch, 'qKey'>;

/** A user whose saved search a post matches: the oldest one, where several do. */
export type Match = { userId: number; savedSearchId: number };

/** How far users were notified of posts. The job of a post is over long before. */
export const expiredPostAlerts = expiredAfter('30 days', 'post_alerts');

const radius = sql`coalesce(f.radius_m, ${constant(defaultRadius)})`;

/**
 * The post, with its store as others see it, and what the list of posts searches: name and address of the store, too. The keys of a long
 * text cost milliseconds, and must not be computed for each search.
 */
const postToMatch = (id: number): Sql => sql`
  SELECT *, search_keys(text) AS keys FROM (
    SELECT p.created_at, s.id AS store_id, s.owner_id, s.region_keys,
      concat_ws(E'\\n', p.search_text, split_part(s.search_text, E'\\n', 1), split_part(s.search_text, E'\\n', 2)) AS text,
      CASE WHEN s.latitude IS NOT NULL THEN store_place(s.latitude, s.longitude, s.show_exact_location) END AS place
    FROM posts p JOIN stores s ON s.id = p.store_id
    WHERE p.id = ${id} AND p.is_visible AND ${isOpenPost('p')} AND ${isOpenStore('s')}
  ) post`;

/** @returns undefined when the user has as many as one can have, or is deleted meanwhile; concurrent calls of a user wait for each other */
export function create(
  database: Database,
  search: Omit<SavedSearchRow, 'id' | 'createdAt'>,
): Promise<SavedSearchRow | undefined> {
  const { userId } = search;
  return database.transaction(async (tx) => {
    const exists = await lockRow(tx, 'users', userId, 'NO KEY UPDATE');
    const count = await tx.prisma.savedSearch.count({ where: { userId } });
    return exists && count < maxSavedSearches ? tx.prisma.savedSearch.create({ data: search }) : undefined;
  });
}

export function list(
  { prisma }: Tx,
  userId: number,
  { after, limit }: PageRequest,
): Promise<SavedSearchRow[]> {
  const where = { userId, ...(after && { id: { lt: Number(after.id) } }) };
  return prisma.savedSearch.findMany({ where, orderBy: { id: 'desc' }, take: limit });
}

export const remove = async ({ prisma }: Tx, userId: number, id: number) =>
  (await prisma.savedSearch.deleteMany({ where: { id, userId } })).count > 0;

/** In the order of the users. Each search is looked up by its most selective filter, then checked for all, as the list does. */
export function findMatches(tx: Tx, postId: number, after: number): Promise<Match[]> {
  return tx.query<Match>(sql`/* saved-searches.findMatches */
    WITH post AS MATERIALIZED (${postToMatch(postId)}), candidate AS (
      SELECT f.* FROM post, saved_searches f
      WHERE f.latitude IS NOT NULL AND search_area(f.latitude, f.longitude, ${radius}) @> box(place, place)
      UNION ALL
      SELECT f.* FROM post, saved_searches f
      WHERE f.latitude IS NULL AND (region_words(f.region))[1] = ANY (region_keys)
      UNION ALL
      SELECT f.* FROM post, saved_searches f
      WHERE f.latitude IS NULL AND f.region IS NULL AND (search_keys(search_key(f.q)))[1] = ANY (keys)
      UNION ALL
      SELECT f.* FROM post, store_category_links l, saved_searches f
      WHERE l.store_id = post.store_id AND f.category_id = l.category_id
        AND f.latitude IS NULL AND f.region IS NULL AND f.q IS NULL
    ), matching AS MATERIALIZED (
      SELECT f.user_id, min(f.id) AS id FROM post, candidate f
      WHERE f.user_id > ${after} AND f.user_id <> post.owner_id AND f.created_at <= post.created_at
      AND (f.latitude IS NULL OR ${distanceSql([sql`place[1]`, sql`place[0]`], [sql`f.latitude`, sql`f.longitude`])} <= 1000 * ${radius})
      AND (f.region IS NULL OR region_words(f.region) <@ region_keys)
      AND (f.q IS NULL OR position(f.q_key IN text) > 0)
      AND (f.category_id IS NULL OR EXISTS (
        SELECT FROM store_category_links WHERE store_id = post.store_id AND category_id = f.category_id))
      GROUP BY 1
    )
    SELECT user_id AS "userId", m.id AS "savedSearchId" FROM matching m JOIN users u ON u.id = user_id
    WHERE suspended_at IS NULL ORDER BY user_id`);
}

/** What the email about a match says; undefined where the search or the post is not there any more. */
export async function findMatch(tx: Tx, { userId, savedSearchId, postId }: Match & { postId: number }) {
  const [match] = await tx.query<Record<'searchName' | 'storeName' | 'postTitle', string>>(sql`
    /* saved-searches.findMatch */ SELECT f.name AS "searchName", s.name AS "storeName", p.title AS "postTitle"
    FROM saved_searches f, posts p JOIN stores s ON s.id = p.store_id
    WHERE f.id = ${savedSearchId} AND f.user_id = ${userId}
      AND p.id = ${postId} AND p.is_visible AND ${isOpenPost('p')} AND ${isOpenStore('s')}`);
  return match;
}

/** The user who gets an email about matches; null for one who is gone, suspended or not verified. */
export function findRecipient({ prisma }: Tx, id: number) {
  return prisma.user.findFirst({
    where: { id, isVerified: true, suspendedAt: null },
    select: { email: true, name: true, language: true },
  });
}

/** Saves how far the users were notified of a post. @returns false when another run of the job did so since `before` */
export async function advance(tx: Tx, progress: Record<'postId' | 'before' | 'userId', number>) {
  const { postId, before, userId } = progress;
  const saved = await tx.execute(sql`/* saved-searches.advance */
    INSERT INTO post_alerts AS a (post_id, after_user_id) VALUES (${postId}, ${userId})
    ON CONFLICT (post_id) DO UPDATE SET after_user_id = excluded.after_user_id WHERE a.after_user_id = ${before}`);
  return saved > 0;
}

/** The last user who was notified of a post; 0 before the first one. */
export const notifiedUpTo = async ({ prisma }: Tx, postId: number) =>
  (await prisma.postAlerts.findFirst({ where: { postId } }))?.afterUserId ?? 0;
