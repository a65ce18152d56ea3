import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { currentUser } from '../../http/authentication.ts';
import { Ref } from '../../http/schemas.ts';
import type { ImageUrls } from '../images/index.ts';
import { toMyPage } from './presenters.ts';
import type { MyPages } from './repository.ts';
import { MyPage } from './schemas.ts';

interface MyPageRoutesOptions {
  myPages: MyPages;
  imageUrls: ImageUrls;
}

/** The overview of the logged-in user. */
export const myPageRoutes: FastifyPluginAsyncTypebox<MyPageRoutesOptions> = async (
  app,
  { myPages, imageUrls },
) => {
  app.get(
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
};
