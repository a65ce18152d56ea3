import type { Queryable } from '../database/client.ts';
import { sql } from '../database/sql.ts';

export type PostImages = typeof postImages;

/**
 * Which uploaded pictures a post uses. The links keep pictures from being deleted; what a post shows, and in which order, is in
 * the post itself.
 */
export const postImages = {
  /**
   * Links pictures to a post. One that is being deleted is waited for.
   *
   * @param keys of uploaded pictures; those that the user does not own, or that are not ready, are left out
   * @returns the keys that were linked
   */
  async link(
    tx: Queryable,
    { postId, userId, keys }: { postId: number; userId: number; keys: readonly string[] },
  ): Promise<string[]> {
    const linked = await tx.query<{ key: string }>(sql`
      WITH own AS (
        SELECT id, key FROM images WHERE key = ANY (${keys}) AND user_id = ${userId} AND state = 'ready' FOR KEY SHARE
      ), linked AS (
        INSERT INTO post_images (post_id, image_id) SELECT ${postId}::int, id FROM own ON CONFLICT DO NOTHING
      )
      SELECT key FROM own`);
    return linked.map(({ key }) => key);
  },

  /** The keys among these of pictures that the user can use. */
  async findOwn(connection: Queryable, userId: number, keys: readonly string[]): Promise<string[]> {
    const own = await connection.query<{ key: string }>(
      sql`SELECT key FROM images WHERE key = ANY (${keys}) AND user_id = ${userId} AND state = 'ready'`,
    );
    return own.map(({ key }) => key);
  },

  /**
   * Unlinks pictures from posts that are locked. The clean-up then looks at each of them: it is deleted 24 hours after the upload
   * where no other post uses it. Pictures are locked before their links, as a deletion of a picture does.
   *
   * @param kept keys of pictures that remain linked
   */
  async unlink(tx: Queryable, postIds: readonly number[], kept: readonly string[] = []): Promise<void> {
    await tx.execute(sql`
      WITH locked AS (
        SELECT id FROM images
        WHERE id IN (SELECT image_id FROM post_images WHERE post_id = ANY (${postIds}::int[]))
          AND NOT (key = ANY (${kept}))
        ORDER BY id FOR NO KEY UPDATE
      ), unlinked AS (
        DELETE FROM post_images WHERE post_id = ANY (${postIds}::int[]) AND image_id IN (SELECT id FROM locked)
      )
      UPDATE images SET check_after = greatest(now(), created_at + interval '24 hours')
      FROM locked WHERE images.id = locked.id`);
  },
};
