import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { currentUser, tokenNotValid } from '../../http/authentication.ts';
import { ApiError, httpErrors } from '../../http/errors.ts';
import { type Idempotency, IdempotencyHeaders } from '../../http/idempotency.ts';
import { Reference } from '../../http/schemas.ts';
import { storeErrors } from '../errors.ts';
import { MyPage } from '../my-page-schemas.ts';
import type { MyPages } from '../repository/my-page.ts';
import type { Stores } from '../repository/stores.ts';
import { NewStore, Store, StoreChanges } from '../schemas.ts';
import type { StoreService } from '../service.ts';

interface Options {
  stores: Stores;
  myPages: MyPages;
  service: StoreService;
  idempotency: Idempotency;
}

/** The store of who is logged in, and what belongs to it. */
export const ownStoreRoutes: FastifyPluginAsyncTypebox<Options> = async (
  app,
  { stores, myPages, service, idempotency },
) => {
  app.post(
    '/',
    {
      prefixTrailingSlash: 'slash',
      config: {
        message: { ko: '가게를 등록했습니다.', en: 'Your store has been registered.' },
        errors: [storeErrors.storeExists, httpErrors.idempotencyConflict],
      },
      schema: {
        operationId: 'createStore',
        summary: 'Register a store',
        description:
          'A user has one store. Categories that do not exist are named by their JSON pointer, as `/category_ids/1`.',
        tags: ['stores'],
        headers: IdempotencyHeaders,
        body: Reference(NewStore),
        response: { 201: Reference(Store) },
      },
    },
    async (request, reply) => {
      const user = currentUser(request);
      const store = await idempotency(request, user, (transaction) =>
        service.register(transaction, user.id, request.body),
      );
      if (store === undefined) throw tokenNotValid('access', 'revoked', request.language);
      return reply.code(201).send(store);
    },
  );

  app.get(
    '/me/',
    {
      config: {
        message: { ko: '내 가게를 조회했습니다.', en: 'Here is your store.' },
        errors: [storeErrors.storeNotFound],
      },
      schema: {
        operationId: 'getOwnStore',
        summary: 'Read own store',
        description: 'The store that the user registered.',
        tags: ['stores'],
        response: { 200: Reference(Store) },
      },
    },
    async (request) => {
      const store = await stores.findByOwner(currentUser(request).id);
      if (store === undefined) throw new ApiError(storeErrors.storeNotFound);
      return store;
    },
  );

  app.patch(
    '/me/',
    {
      config: {
        message: { ko: '가게 정보를 수정했습니다.', en: 'Your store has been changed.' },
        errors: [storeErrors.storeNotFound],
      },
      schema: {
        operationId: 'updateOwnStore',
        summary: 'Change own store',
        description: 'Changes the given fields. `category_ids` replaces all categories.',
        tags: ['stores'],
        body: Reference(StoreChanges),
        response: { 200: Reference(Store) },
      },
    },
    async (request) => service.change(currentUser(request).id, request.body),
  );

  app.get(
    '/mypage/',
    {
      config: { message: { ko: '마이페이지 정보를 조회했습니다.', en: 'Here is your page.' } },
      schema: {
        operationId: 'getMyPage',
        summary: 'Read my-page information',
        description:
          'The store of the user, the latest 100 posts it wrote and the latest 100 partnership requests it sent. Without a store, `store` is `null` and both lists are empty.',
        tags: ['stores'],
        response: { 200: Reference(MyPage) },
      },
    },
    async (request) => myPages.find(currentUser(request).id),
  );
};
