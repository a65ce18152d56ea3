import type { FastifyInstance } from 'fastify';
import { currentUser, requireUser } from '../../http/authentication.ts';
import { Ref } from '../../http/schemas.ts';
import type { Database } from '../../infrastructure/database/client.ts';
import type { ImageUrls } from '../images/index.ts';
import { toMyPage } from './presenters.ts';
import { createMyPageRepository } from './repository.ts';
import { MyPage } from './schemas.ts';

/** Builds my-page, which reads the tables of stores, posts and partner requests. Its route is under `/api/v1/stores`. */
export function createMyPage({ database, imageUrls }: { database: Database; imageUrls: ImageUrls }) {
  const myPages = createMyPageRepository(database);

  async function routes(scope: FastifyInstance): Promise<void> {
    await scope.register(requireUser);
    scope.get(
      '/mypage/',
      {
        config: { message: { ko: '마이페이지 정보를 조회했습니다.', en: 'Here is your page.' } },
        schema: {
          operationId: 'getMyPage',
          summary: 'Read my-page information',
          description:
            'The store of the user, the latest 100 posts it wrote and the latest 100 partnership requests it sent. Without a store, `store` is `null` and both lists are empty.',
          response: { 200: Ref(MyPage) },
        },
      },
      async (request) => toMyPage(await myPages.find(currentUser(request).id), imageUrls),
    );
  }

  return { routes };
}
