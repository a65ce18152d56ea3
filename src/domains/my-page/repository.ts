import type { Tx } from '../../infrastructure/database/client.ts';
import type { PartnerRequestStatus } from '../../infrastructure/database/generated/enums.ts';
import { raw, sql } from '../../infrastructure/database/sql.ts';
import { isOpenStore, type StoreSummary, storeSummarySql } from '../stores/index.ts';
import { type MyPage, myPageLimit } from './schemas.ts';

type SentRequest = MyPage['sent_requests'][number];

export interface MyPageRow {
  store: StoreSummary;
  posts: (Omit<MyPage['posts'][number], 'thumbnail'> & { first_image: string | null })[];
  sent_requests: (Omit<SentRequest, 'box' | 'status'> & { status: PartnerRequestStatus })[];
}

/** What my-page shows, in one round trip. */
export function createMyPageRepository(database: Tx) {
  /**
   * The store of a user with its latest posts and sent requests, newest first. Both lists walk an ordered index of the store
   * (`posts_store_feed_idx`, `partner_requests_sender_store_id_created_at_id_idx`) up to the limit.
   */
  async function find(userId: number): Promise<MyPageRow | undefined> {
    const limit = raw(String(myPageLimit));
    const [page] = await database.query<MyPageRow>(sql`
      SELECT ${storeSummarySql} AS store,
        (SELECT coalesce(json_agg(
            json_build_object('id', p.id, 'title', p.title, 'first_image', p.images[1], 'created_at', p.created_at)
            ORDER BY p.created_at DESC, p.id DESC), '[]')
          FROM (
            SELECT id, title, images, created_at FROM posts
            WHERE store_id = s.id AND is_visible
            ORDER BY created_at DESC, id DESC LIMIT ${limit}
          ) p) AS posts,
        (SELECT coalesce(json_agg(
            json_build_object('id', r.id, 'post_id', r.post_id, 'post_title', (SELECT title FROM posts WHERE id = r.post_id),
              'receiver_store_id', r.receiver_store_id, 'receiver_store_name',
              (SELECT name FROM stores WHERE id = r.receiver_store_id), 'status', r.status,
              'message', r.message, 'created_at', r.created_at, 'updated_at', r.updated_at)
            ORDER BY r.created_at DESC, r.id DESC), '[]')
          FROM (
            SELECT id, post_id, receiver_store_id, status, message, created_at, updated_at FROM partner_requests
            WHERE sender_store_id = s.id
            ORDER BY created_at DESC, id DESC LIMIT ${limit}
          ) r) AS sent_requests
      FROM stores s
      WHERE s.owner_id = ${userId} AND ${isOpenStore('s')}`);
    return page;
  }

  return { find };
}
