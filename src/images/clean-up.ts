import pLimit from 'p-limit';
import type { Database } from '../database/client.ts';
import { sql } from '../database/sql.ts';
import type { ImageService } from './service.ts';

const batchSize = 100;
/** The next run continues where this one stops. */
const maxBatches = 50;

/** Files that are deleted at once. */
const maxConcurrent = 4;

/** Minutes for which pictures belong to the run that deletes their files; after a crash, another run takes them then. */
const leaseMinutes = 10;

interface CleanUpOptions {
  database: Database;
  service: Pick<ImageService, 'erase'>;
  /** Logs that the files of a picture could not be deleted. */
  reportLeft(error: unknown, imageId: number): void;
}

/**
 * Deletes pictures that no post uses 24 hours after the upload, those of deleted accounts, and uploads that did not finish: first
 * the files, then the rows. Any number of instances may run it at once: each takes rows that no other one has locked.
 */
export function createImageCleanUp({ database, service, reportLeft }: CleanUpOptions) {
  /**
   * Decides about the next pictures that are due: deleted where no post uses them, else not due until a post lets them go.
   *
   * @returns how many there were
   */
  function settleBatch(): Promise<number> {
    return database.runStatements(async (tx) => {
      const due = await tx.query<{ id: number }>(sql`
        SELECT id FROM images WHERE check_after <= now() AND state IN ('pending', 'ready')
        ORDER BY check_after LIMIT ${batchSize}::int FOR UPDATE SKIP LOCKED`);
      const ids = due.map(({ id }) => id);
      // A statement of its own: it sees the links of all transactions that locked these pictures before.
      if (ids.length > 0) {
        await tx.execute(sql`
          UPDATE images i SET
            state = CASE WHEN l.used THEN i.state ELSE 'deleted' END,
            check_after = CASE WHEN l.used THEN NULL ELSE now() END
          FROM (
            SELECT id, EXISTS (SELECT FROM post_images p WHERE p.image_id = images.id) AS used
            FROM images WHERE id = ANY (${ids}::int[])) l
          WHERE i.id = l.id`);
      }
      return ids.length;
    });
  }

  /** Takes the next deleted pictures whose files are there. */
  function claimBatch(): Promise<{ id: number; key: string }[]> {
    return database.query<{ id: number; key: string }>(sql`
      UPDATE images SET check_after = now() + make_interval(mins => ${leaseMinutes}) WHERE id = ANY (ARRAY(
        SELECT id FROM images WHERE check_after <= now() AND state = 'deleted'
        ORDER BY check_after LIMIT ${batchSize}::int FOR UPDATE SKIP LOCKED))
      RETURNING id, key`);
  }

  /** @returns how many pictures were deleted */
  async function cleanUpImages(): Promise<number> {
    for (let batch = 0; batch < maxBatches && (await settleBatch()) === batchSize; batch++);
    const limit = pLimit(maxConcurrent);
    let deleted = 0;
    for (let batch = 0; batch < maxBatches; batch++) {
      const claimed = await claimBatch();
      const results = await Promise.all(
        claimed.map((image) =>
          limit(() => service.erase(image)).then(
            () => true,
            (error: unknown) => {
              reportLeft(error, image.id);
              return false;
            },
          ),
        ),
      );
      deleted += results.filter(Boolean).length;
      // A storage that fails is left alone until the next run.
      if (claimed.length < batchSize || results.includes(false)) break;
    }
    return deleted;
  }

  return cleanUpImages;
}

/** Rows of pictures whose files are gone and that do not count for a quota any more. */
export const erasedImages = { table: 'images', condition: sql`state = 'erased' AND check_after <= now()` };
