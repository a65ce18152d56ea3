import type { Database, Tx } from '../../infrastructure/database/client.ts';
import { countOfUser, uncountOfUser } from '../../infrastructure/database/daily-quota.ts';
import type { Image, Prisma } from '../../infrastructure/database/generated/client.ts';
import { lockRow } from '../../infrastructure/database/locks.ts';
import { sql } from '../../infrastructure/database/sql.ts';

/** Uploads of one user in 24 hours, also of images that were deleted or rejected, and those that were cut. */
const imagesPerDay = 200;

/** In minutes: when the clean-up looks at an image. */
const checks = {
  /** An upload that did not finish is given up. */
  pending: 60,
  /** A storage may still write the file of an upload that failed. */
  abandoned: 10,
  /** Images belong to the run that deletes their files; after a crash, another run takes them then. */
  leased: 10,
  /** An image may be without a post. */
  day: 24 * 60,
};

const fromNow = (minutes: number) => new Date(Date.now() + minutes * 60_000);

/** Images that the clean-up looks at in one step: few, because a storage that does not respond takes seconds for each. */
export const cleanUpBatchSize = 20;

export type ImageRow = Pick<Image, 'key' | 'width' | 'height'> & { id: number };

export type ImageRepository = ReturnType<typeof createImageRepository>;
/** Which uploaded images a post uses. */
export type PostImages = Pick<ImageRepository, 'link' | 'findOwn'>;

/** A deleted image whose files may still be there. */
export type DeletedImage = Pick<ImageRow, 'id' | 'key'>;

/** Uploaded images. All changes are conditional: races with posts, deletions and clean-ups depend on it. */
export function createImageRepository(database: Database) {
  const { image: images } = database.prisma;

  /** Ends an upload. @returns whether it was still pending */
  const settle = async (id: number, data: Prisma.ImageUncheckedUpdateManyInput, owner = {}) =>
    (await images.updateMany({ where: { id, state: 'pending', ...owner }, data })).count > 0;

  return {
    /** Counts an upload and adds its row. @returns its id, or the seconds until the next upload; neither when the account is deleted */
    insertPending(userId: number, key: string): Promise<{ id?: number; seconds?: number }> {
      return database.transaction(async (tx) => {
        if (!(await lockRow(tx, 'users', userId, 'KEY SHARE'))) return {};
        const seconds = await countOfUser(tx, 'image', { userId, quota: imagesPerDay });
        if (seconds !== undefined) return { seconds };
        const data = { userId, key, checkAfter: fromNow(checks.pending) };
        return tx.prisma.image.create({ data, select: { id: true } });
      });
    },

    /** Makes an image usable once its files are there. @returns whether it was still pending and has an owner */
    markReady: (id: number, size: Pick<Image, 'width' | 'height'>) =>
      settle(id, { state: 'ready', ...size, checkAfter: fromNow(checks.day) }, { userId: { not: null } }),

    /** Gives up an upload whose files may have been written: the clean-up deletes them. It does not count for the quota. */
    async abandon(id: number, userId: number): Promise<void> {
      const data = { state: 'deleted', userId: null, checkAfter: fromNow(checks.abandoned) } as const;
      await database.transaction(async (tx) => {
        if (await settle(id, data)) await uncountOfUser(tx, 'image', userId);
      });
    },

    /** Deletes the row of an upload that was cut or rejected. It has no files, and counts for the quota. */
    async deleteRejected(id: number): Promise<void> {
      await images.deleteMany({ where: { id, state: 'pending' } });
    },

    /** Marks an own image as deleted; waits for a post that gets it. @throws of a foreign key when a post uses it */
    async markDeleted(id: number, userId: number): Promise<DeletedImage | undefined> {
      const [deleted] = await images.updateManyAndReturn({
        where: { id, userId, state: 'ready' },
        data: { state: 'deleted', checkAfter: new Date() },
        select: { id: true, key: true },
      });
      return deleted;
    },

    /** Deletes the row of a deleted image whose files are gone. */
    async deleteErased(id: number): Promise<void> {
      await images.deleteMany({ where: { id, state: 'deleted' } });
    },

    /** Links own images that are ready to a post, which keeps them; waits for a deletion. A trigger unlinks. @returns their keys */
    async link(tx: Tx, { postId, userId, keys }: { postId: number; userId: number; keys: string[] }) {
      if (keys.length === 0) return [];
      const linked = await tx.query<{ key: string }>(sql`/* images.link */
        WITH own AS (
          SELECT id, key FROM images WHERE key = ANY (${keys}) AND user_id = ${userId} AND state = 'ready' FOR KEY SHARE
        ), linked AS (
          INSERT INTO post_images (post_id, image_id) SELECT ${postId}::bigint, id FROM own ON CONFLICT DO NOTHING
        )
        SELECT key FROM own`);
      return linked.map(({ key }) => key);
    },

    async findOwn(tx: Tx, userId: number, keys: string[]): Promise<string[]> {
      if (keys.length === 0) return [];
      const where = { key: { in: keys }, userId, state: 'ready' as const };
      const own = await tx.prisma.image.findMany({ where, select: { key: true } });
      return own.map(({ key }) => key);
    },

    /** Marks images that are due and that no post uses as deleted; the others are not due any more. @returns how many there were */
    markUnused(): Promise<number> {
      return database.transaction(async (tx) => {
        const due = await tx.query<{ id: number }>(sql`/* images.lockDue */
          SELECT id FROM images WHERE check_after <= now() AND state IN ('pending', 'ready')
          ORDER BY check_after LIMIT ${cleanUpBatchSize}::int FOR UPDATE SKIP LOCKED`);
        const ids = { in: due.map(({ id }) => id) };
        // Statements of their own: they see the links of all transactions that locked these images before.
        await tx.prisma.image.updateMany({
          where: { id: ids, posts: { none: {} } },
          data: { state: 'deleted', checkAfter: new Date() },
        });
        await tx.prisma.image.updateMany({
          where: { id: ids, state: { not: 'deleted' } },
          data: { checkAfter: null },
        });
        return due.length;
      });
    },

    /** Takes the next deleted images whose files are still there, so that no other run takes them. */
    claimDeleted(): Promise<DeletedImage[]> {
      return database.query<DeletedImage>(sql`/* images.claimDeleted */
        UPDATE images SET check_after = now() + make_interval(mins => ${checks.leased}) WHERE id = ANY (ARRAY(
          SELECT id FROM images WHERE check_after <= now() AND state = 'deleted'
          ORDER BY check_after LIMIT ${cleanUpBatchSize}::int FOR UPDATE SKIP LOCKED))
        RETURNING id, key`);
    },

    categoryName: async (id: number) =>
      (await database.prisma.storeCategory.findFirst({ where: { id } }))?.name,
  };
}

/** Gives up all images of an account that is being deleted; its posts must not use them any more. */
export async function releaseImagesOf(tx: Tx, userId: number): Promise<void> {
  await tx.execute(sql`/* images.releaseAllOf */
    UPDATE images SET user_id = NULL, check_after = now() FROM (
      SELECT id FROM images WHERE user_id = ${userId} ORDER BY id FOR UPDATE) own
    WHERE images.id = own.id`);
}
