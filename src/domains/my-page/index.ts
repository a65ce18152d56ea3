import { type Static, Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import { currentUser } from '../../http/authentication.ts';
import { operation } from '../../http/route-config.ts';
import { NamedObject, Ref, RefOrNull } from '../../http/schemas.ts';
import type { Database } from '../../infrastructure/database/client.ts';
import type { ImageUrls } from '../images/index.ts';
import { PartnerRequest, toPartnerRequest } from '../partner-requests/index.ts';
import { PostSummary, toPostSummary } from '../posts/index.ts';
import { StoreSummary } from '../stores/index.ts';
import { createMyPageReader, myPageLimit } from './repository.ts';

const MyPage = NamedObject('MyPage', 'The overview of the user', {
  store: RefOrNull(
    StoreSummary,
    'The store of the user; `null` when none is registered, and while an operator hides it',
  ),
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
  const findMyPage = createMyPageReader(database);

  async function routes(scope: FastifyInstance) {
    scope.get('/mypage/', {
      config: operation('user', '마이페이지 정보를 조회했습니다.', 'Here is your page.'),
      schema: {
        operationId: 'getMyPage',
        summary: 'Read my-page information',
        description:
          'The store of the user, the latest 100 posts it wrote and the latest 100 partnership requests it sent. Without a store, `store` is `null` and both lists are empty; while an operator hides the store, only `sent_requests` has items.',
        response: { 200: Ref(MyPage) },
      },
      handler: async (request): Promise<Static<typeof MyPage>> => {
        const found = await findMyPage(currentUser(request).id);
        if (found === undefined) return { store: null, posts: [], sent_requests: [] };
        const { store, posts, sentRequests } = found;
        return {
          store,
          posts: store ? posts.map((post) => toPostSummary(post, store, imageUrls)) : [],
          sent_requests: sentRequests.map((sent) => toPartnerRequest(sent)),
        };
      },
    });
  }

  return { routes };
}
