import { type Static, Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import { currentUser } from '../../http/authentication.ts';
import { NamedObject, Ref, RefOrNull } from '../../http/schemas.ts';
import type { Database } from '../../infrastructure/database/client.ts';
import { newestFirst } from '../../infrastructure/database/keyset.ts';
import { readTogether } from '../../infrastructure/database/shared-reads.ts';
import { constant, sql } from '../../infrastructure/database/sql.ts';
import type { InJson } from '../../infrastructure/times.ts';
import type { ImageUrls } from '../images/index.ts';
import {
  PartnerRequest,
  type SentRequestRow,
  sentColumns,
  toPartnerRequest,
} from '../partner-requests/index.ts';
import { PostSummary, type PostSummaryRow, toPostSummary } from '../posts/index.ts';
import { isOpenStore, StoreSummary, storeSummarySql } from '../stores/index.ts';

/** The most posts and the most requests on my-page. */
const myPageLimit = 100;

const MyPage = NamedObject('MyPage', 'The overview of the user', {
  store: RefOrNull(StoreSummary, 'The store of the user; `null` when none is registered'),
  posts: Type.Array(Ref(PostSummary), {
    maxItems: myPageLimit,
    description:
      'The latest posts of the user, newest first; all of them are at `GET /api/v1/posts/?mine=true`',
  }),
  sent_requests: Type.Array(Ref(PartnerRequest), {
    maxItems: myPageLimit,
    description:
      'The latest partnership requests that the user sent, newest first; all of them are at `GET /api/v1/notifications/partner-request/?box=sent`',
  }),
});

/** Builds my-page, which reads the tables of stores, posts and partner requests. Its route is under `/api/v1/stores`. */
export function createMyPage({ database, imageUrls }: { database: Database; imageUrls: ImageUrls }) {
  const find = myPageReader(database);

  async function routes(scope: FastifyInstance) {
    scope.get('/mypage/', {
      config: {
        access: 'user',
        message: { ko: '마이페이지 정보를 조회했습니다.', en: 'Here is your page.' },
      },
      schema: {
        operationId: 'getMyPage',
        summary: 'Read my-page information',
        description:
          'The store of the user, the latest 100 posts it wrote and the latest 100 partnership requests it sent. Without a store, `store` is `null` and both lists are empty.',
        response: { 200: Ref(MyPage) },
      },
      handler: async (request): Promise<Static<typeof MyPage>> => {
        const found = await find(currentUser(request).id);
        if (found === undefined) return { store: null, posts: [], sent_requests: [] };
        const { store, posts, sentRequests } = found;
        return {
          store,
          posts: posts.map((post) => toPostSummary(post, store, imageUrls)),
          sent_requests: sentRequests.map((sent) => toPartnerRequest(sent)),
        };
      },
    });
  }

  return { routes };
}

interface MyPageRow {
  ownerId: number;
  store: StoreSummary;
  posts: PostSummaryRow[];
  sentRequests: InJson<SentRequestRow>[];
}

/** Pages that are read with one statement, because a page may have 200 rows. */
const maxTogether = 8;

/**
 * Reads what my-page shows, in one round trip. Both lists walk an ordered index of the store up to the limit: `posts_store_feed_idx`,
 * `…_sender_store_id_created_at_id_idx`.
 */
const myPageReader = (database: Database) =>
  readTogether(
    (userIds: number[]) => {
      const latest = sql`${newestFirst} LIMIT ${constant(myPageLimit)}`;
      return database.query<MyPageRow>(sql`
        SELECT s.owner_id AS "ownerId", ${storeSummarySql} AS store,
          (SELECT coalesce(json_agg(post), '[]') FROM (
            SELECT id, title, images[1] AS "firstImage", created_at AS "createdAt" FROM posts
            WHERE store_id = s.id AND is_visible ${latest}
          ) post) AS posts,
          (SELECT coalesce(json_agg(request), '[]') FROM (
            SELECT ${sentColumns} FROM (SELECT * FROM partner_requests WHERE sender_store_id = s.id ${latest}) r
          ) request) AS "sentRequests"
        FROM stores s
        WHERE s.owner_id = ANY (${userIds}) AND ${isOpenStore('s')}`);
    },
    ({ ownerId }) => ownerId,
    maxTogether,
  );
