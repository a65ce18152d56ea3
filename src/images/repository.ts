import type { Database, Queryable } from '../database/client.ts';
import { lockQuotaSql, ofLastDay, quotaFullUntil, secondsUntilRoom } from '../database/daily-quota.ts';
import { type Sql, sql } from '../database/sql.ts';

/** Uploads of one user within any 24 hours, also of images that were deleted or rejected, and those that were cut. */
const picturesPerDay = 200;

/** Minutes after which an upload that did not finish is given up. */
const pendingMinutes = 60;

/** Minutes for which a storage may still write the file of an upload that failed. */
const abandonedMinutes = 10;

/** Hours for which a picture may be without a post. */
const unusedHours = 24;

export interface ImageRow {
  id: number;
  key: string;
  width: number;
  height: number;
}

/** When a user may upload a picture again; null while they may. */
function quotaUntil(userId: number): Sql {
  const uploaded = sql`SELECT created_at FROM images WHERE user_id = ${userId} AND ${ofLastDay}`;
  return quotaFullUntil(uploaded, picturesPerDay);
}

export type Images = ReturnType<typeof createImageRepository>;

/** Rows of uploaded pictures. */
export function createImageRepository(database: Database) {
  /**
   * Adds the row of a picture whose files do not exist yet. Of concurrent calls for one user, the quota allows as many as of
   * consecutive ones.
   *
   * @returns its id; undefined when the quota is used up, or the account was deleted meanwhile
   */
  async function insertPending(userId: number, key: string): Promise<number | undefined> {
    return database.runStatements(async (tx) => {
      await tx.execute(sql`SELECT ${lockQuotaSql(sql`${userId}::int`, 'user')}`);
      const [row] = await tx.query<{ id: number }>(sql`
        INSERT INTO images (user_id, key, check_after)
        SELECT u.id, ${key}, now() + make_interval(mins => ${pendingMinutes}) FROM users u
        WHERE u.id = ${userId} AND ${quotaUntil(userId)} IS NULL
        FOR KEY SHARE
        RETURNING id`);
      return row?.id;
    });
  }

  /** Makes a picture usable once its files are there. @returns whether it was still pending and has an owner */
  async function markReady(id: number, { width, height }: { width: number; height: number }) {
    const updated = await database.execute(sql`
      UPDATE images SET state = 'ready', width = ${width}, height = ${height},
        check_after = created_at + make_interval(hours => ${unusedHours})
      WHERE id = ${id} AND state = 'pending' AND user_id IS NOT NULL`);
    return updated === 1;
  }

  /** Gives up an upload whose files may have been written: the clean-up deletes them. It does not count for the quota. */
  async function abandon(id: number): Promise<void> {
    await database.execute(sql`
      UPDATE images SET state = 'deleted', user_id = NULL, check_after = now() + make_interval(mins => ${abandonedMinutes})
      WHERE id = ${id} AND state = 'pending'`);
  }

  /** Gives up an upload that was cut or rejected. It has no files, and counts for the quota. */
  async function markRefused(id: number): Promise<void> {
    await database.execute(sql`
      UPDATE images SET state = 'erased', check_after = created_at + interval '24 hours'
      WHERE id = ${id} AND state = 'pending'`);
  }

  /** Forgets an upload without files; it does not count for the quota. */
  async function forget(id: number): Promise<void> {
    await database.execute(sql`DELETE FROM images WHERE id = ${id} AND state = 'pending'`);
  }

  /**
   * Marks an own picture as deleted, unless a post uses it. A post that gets the picture at the same time is waited for, by the
   * foreign key of the link.
   *
   * @returns its key, or why it was not deleted
   */
  async function markDeleted(id: number, userId: number): Promise<{ key: string } | 'in use' | 'not found'> {
    const own = sql`id = ${id} AND user_id = ${userId} AND state = 'ready'`;
    try {
      const [row] = await database.query<{ key: string }>(sql`
        UPDATE images SET state = 'deleted', check_after = now() WHERE ${own} RETURNING key`);
      return row ?? 'not found';
    } catch (error) {
      if (isReferenced(error)) return 'in use';
      throw error;
    }
  }

  /** Keeps the row of a deleted picture whose files are gone for the quota, else deletes it. */
  async function markErased(id: number): Promise<void> {
    await database.execute(sql`
      WITH erased AS (
        UPDATE images SET state = 'erased', check_after = created_at + interval '24 hours'
        WHERE id = ${id} AND state = 'deleted' AND user_id IS NOT NULL AND ${ofLastDay})
      DELETE FROM images WHERE id = ${id} AND state = 'deleted' AND (user_id IS NULL OR NOT ${ofLastDay})`);
  }

  /** Gives up all pictures of an account that is being deleted; its posts must not use them any more. */
  async function releaseAllOf(tx: Queryable, userId: number): Promise<void> {
    await tx.execute(sql`
      UPDATE images SET user_id = NULL, check_after = now() FROM (
        SELECT id FROM images WHERE user_id = ${userId} ORDER BY id FOR UPDATE) own
      WHERE images.id = own.id`);
  }

  return {
    insertPending,
    /** How long a user has to wait for the next upload. @returns undefined when the quota has room */
    secondsUntilRoom: (userId: number) => secondsUntilRoom(database, quotaUntil(userId)),
    markReady,
    abandon,
    markRefused,
    forget,
    markDeleted,
    markErased,
    releaseAllOf,
  };
}

/** Whether a foreign key refused a change: PostgreSQL 18 has a code of its own for `RESTRICT`. */
function isReferenced(error: unknown): boolean {
  return error instanceof Error && 'code' in error && ['23001', '23503'].includes(String(error.code));
}
