import type { Queryable } from '../database/client.ts';
import { sql } from '../database/sql.ts';

export type PostImages = typeof postImages;

/**
 * Which uploaded pictures a post uses. The links keep pictures from being deleted; what a post shows, and in which order, is in
 * the post itself. A trigger on `posts` deletes the links of pictures that a post does not show any more.
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
};
