import type { Database } from '../../database/client.ts';
import { type PartnerRequestState, partnerRequestStatuses } from '../../notifications/schemas.ts';
import { type MyPage, myPageLimit } from '../my-page-schemas.ts';
import type { StoreSummary } from '../schemas.ts';
import { storeSummarySql } from '../summary-sql.ts';

interface MyPageRow {
  store: StoreSummary;
  posts: MyPage['posts'];
  sent_requests: (Omit<MyPage['sent_requests'][number], 'status'> & { status: PartnerRequestState })[];
}

/**
 * Everything in one round trip. Both lists walk an index that begins with the store and goes on in their order
 * (`posts_store_feed_idx`, `partner_requests_sender_store_id_created_at_id_idx`) and stop at the limit, so that what lies
 * beyond costs nothing; `walk_from` keeps the planner at it. The names are asked for one by one, where a join might read all
 * stores.
 */
const findMyPage = `
  SELECT ${storeSummarySql} AS store,
    (SELECT coalesce(json_agg(
        json_build_object('id', p.id, 'title', p.title, 'thumbnail', p.images[1], 'created_at', p.created_at)
        ORDER BY p.created_at DESC, p.id DESC), '[]')
      FROM (
        SELECT id, title, images, created_at FROM posts
        WHERE store_id = s.id AND deleted_at IS NULL AND created_at <= walk_from('infinity')
        ORDER BY created_at DESC, id DESC LIMIT ${myPageLimit}
      ) p) AS posts,
    (SELECT coalesce(json_agg(
        json_build_object('id', r.id, 'post_id', r.post_id, 'receiver_store_name',
          (SELECT name FROM stores WHERE id = r.receiver_store_id), 'status', r.status,
          'message', r.message, 'created_at', r.created_at)
        ORDER BY r.created_at DESC, r.id DESC), '[]')
      FROM (
        SELECT id, post_id, receiver_store_id, status, message, created_at FROM partner_requests
        WHERE sender_store_id = s.id AND created_at <= walk_from('infinity')
        ORDER BY created_at DESC, id DESC LIMIT ${myPageLimit}
      ) r) AS sent_requests
  FROM stores s
  WHERE s.owner_id = $1 AND s.closed_at IS NULL`;

const nothing: MyPage = { store: null, posts: [], sent_requests: [] };

export type MyPages = ReturnType<typeof createMyPageRepository>;

/** What my-page shows, in one statement. */
export function createMyPageRepository(database: Pick<Database, 'query'>) {
  /** A user's store with the latest of its posts and of the requests it sent, newest first. */
  async function find(userId: number): Promise<MyPage> {
    const { rows } = await database.query<MyPageRow>('find_my_page', findMyPage, [userId]);
    const [page] = rows;
    if (page === undefined) return nothing;
    return {
      store: page.store,
      posts: page.posts.map((post) => ({ ...post, created_at: toUtc(post.created_at) })),
      sent_requests: page.sent_requests.map((request) => ({
        ...request,
        status: partnerRequestStatuses[request.status],
        created_at: toUtc(request.created_at),
      })),
    };
  }

  return { find };
}

/** Inside JSON, PostgreSQL writes times with the offset of the connection's time zone. */
function toUtc(time: string): string {
  return new Date(time).toISOString();
}
