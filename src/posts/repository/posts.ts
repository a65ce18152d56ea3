import type { Connection, Database } from '../../database/client.ts';
import { Prisma } from '../../database/generated/client.ts';
import type { NewPost, Post, PostChanges } from '../schemas.ts';
import { type PostRow, postColumns, toPost } from './row.ts';

const findPost = `
  SELECT ${postColumns} FROM posts p JOIN stores s ON s.id = p.store_id
  WHERE p.id = $1 AND p.deleted_at IS NULL AND s.closed_at IS NULL`;

const columns = Prisma.raw(postColumns);

export type Posts = ReturnType<typeof createPostRepository>;

/** Posts one by one. A deleted one, and one of a closed store, is as if it were not there. */
export function createPostRepository(database: Database) {
  async function findById(id: number): Promise<Post | undefined> {
    const { rows } = await database.query<PostRow>('find_post', findPost, [id]);
    return rows[0] && toPost(rows[0]);
  }

  async function exists(connection: Connection, id: number): Promise<boolean> {
    const where = { id, deletedAt: null, store: { closedAt: null } };
    return (await connection.post.count({ where })) > 0;
  }

  /** @returns undefined when the user has no store; one that is being closed is waited for */
  async function create(
    transaction: Connection,
    userId: number,
    { title, content, images }: NewPost,
  ): Promise<Post | undefined> {
    const [row] = await transaction.$queryRaw<PostRow[]>`
      WITH created AS (
        INSERT INTO posts (store_id, title, content, images)
        SELECT id, ${title}, ${content}, ${images}::text[] FROM stores
        WHERE owner_id = ${userId} AND closed_at IS NULL FOR SHARE
        RETURNING *
      )
      SELECT ${columns} FROM created p JOIN stores s ON s.id = p.store_id`;
    return row && toPost(row);
  }

  /** Changes what is given. @returns undefined when the user has no such post */
  async function change(
    connection: Connection,
    { id, userId }: { id: number; userId: number },
    { title, content, images }: PostChanges,
  ): Promise<Post | undefined> {
    const [row] = await connection.$queryRaw<PostRow[]>`
      WITH changed AS (
        UPDATE posts p SET
          title = coalesce(${title ?? null}, p.title),
          content = coalesce(${content ?? null}, p.content),
          images = coalesce(${images ?? null}::text[], p.images),
          updated_at = clock_timestamp()
        FROM stores s
        WHERE p.id = ${id} AND p.deleted_at IS NULL
          AND s.id = p.store_id AND s.owner_id = ${userId} AND s.closed_at IS NULL
        RETURNING p.*
      )
      SELECT ${columns} FROM changed p JOIN stores s ON s.id = p.store_id`;
    return row && toPost(row);
  }

  /** Deletes a post; its row and its title stay for the requests that answer it. @returns whether the user had such a post */
  async function remove(
    transaction: Connection,
    { id, userId }: { id: number; userId: number },
  ): Promise<boolean> {
    const removed = await transaction.$executeRaw`
      UPDATE posts p SET deleted_at = now(), content = '', images = '{}' FROM stores s
      WHERE p.id = ${id} AND p.deleted_at IS NULL
        AND s.id = p.store_id AND s.owner_id = ${userId} AND s.closed_at IS NULL`;
    return removed > 0;
  }

  return { findById, exists, create, change, remove };
}
