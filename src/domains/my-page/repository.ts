import type { Tx } from '../../infrastructure/database/client.ts';
import { newestFirst } from '../../infrastructure/database/keyset.ts';
import { readTogether } from '../../infrastructure/database/shared-reads.ts';
import { constant, sql } from '../../infrastructure/database/sql.ts';
import type { InJson } from '../../infrastructure/times.ts';
import { type SentRequestRow, sentColumns } from '../partner-requests/index.ts';
import type { PostSummaryRow } from '../posts/index.ts';
import { isOpenStore, type StoreSummary, storeSummarySql } from '../stores/index.ts';

/** The most posts and the most requests on my-page. */
export const myPageLimit = 100;

interface MyPageRow {
  ownerId: number;
  /** Null while an operator hides it. */
  store: StoreSummary | null;
  posts: PostSummaryRow[];
  sentRequests: InJson<SentRequestRow>[];
}

/** Pages that are read with one statement, because a page may have 200 rows. */
const maxTogether = 8;

/**
 * What my-page shows, in one round trip. Both lists walk an ordered index of the store up to the limit: `posts_store_feed_idx`,
 * `…_sender_store_id_created_at_id_idx`.
 */
export const createMyPageReader = (database: Tx) =>
  readTogether(
    (userIds: number[]) => {
      const latest = sql`${newestFirst} LIMIT ${constant(myPageLimit)}`;
      return database.query<MyPageRow>(sql`/* my-page.read */
        SELECT s.owner_id AS "ownerId", CASE WHEN ${isOpenStore('s')} THEN ${storeSummarySql} END AS store,
          (SELECT coalesce(json_agg(post), '[]') FROM (
            SELECT id, title, images[1] AS "firstImage", created_at AS "createdAt" FROM posts
            WHERE store_id = s.id AND is_visible ${latest}
          ) post) AS posts,
          (SELECT coalesce(json_agg(request), '[]') FROM (
            SELECT ${sentColumns} FROM (SELECT * FROM partner_requests WHERE sender_store_id = s.id ${latest}) r
          ) request) AS "sentRequests"
        FROM stores s
        WHERE s.owner_id = ANY (${userIds})`);
    },
    ({ ownerId }) => ownerId,
    maxTogether,
  );
