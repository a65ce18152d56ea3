import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { currentUser } from '../../../http/authentication.ts';
import { ApiError, httpErrors } from '../../../http/errors.ts';
import { idempotencyKey, sendCreated } from '../../../http/idempotency.ts';
import { requestContext } from '../../../http/request-context.ts';
import { Ref } from '../../../http/schemas.ts';
import { storeErrors } from '../errors.ts';
import { toStore } from '../presenters.ts';
import type { Stores } from '../repository/stores.ts';
import { NewStore, Store, StoreChanges } from '../schemas.ts';
import type { StoreService } from '../service.ts';

interface Options {
  stores: Stores;
  service: StoreService;
}

/** The store of the logged-in user. */
export const ownStoreRoutes: FastifyPluginAsyncTypebox<Options> = async (app, { stores, service }) => {
  app.post(
    '/',
    {
      prefixTrailingSlash: 'slash',
      config: {
        message: { ko: '가게를 등록했습니다.', en: 'Your store has been registered.' },
        errors: [storeErrors.storeExists],
        idempotent: true,
      },
      schema: {
        operationId: 'createStore',
        summary: 'Register a store',
        description:
          'A user has one store. Unknown categories are named by their JSON pointer, such as `/category_ids/1`.',
        body: Ref(NewStore),
        response: { 201: Ref(Store) },
      },
    },
    async (request, reply) => {
      const { id: userId } = currentUser(request);
      const key = idempotencyKey(request, userId);
      return sendCreated(reply, await service.register(userId, request.body, key, requestContext(request)));
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
        response: { 200: Ref(Store) },
      },
    },
    async (request) => {
      const store = await stores.findByOwner(currentUser(request).id);
      if (store === undefined) throw new ApiError(storeErrors.storeNotFound);
      return toStore(store);
    },
  );

  app.patch(
    '/me/',
    {
      config: {
        message: { ko: '가게 정보를 수정했습니다.', en: 'Your store has been updated.' },
        errors: [storeErrors.storeNotFound, httpErrors.quotaExceeded],
      },
      schema: {
        operationId: 'updateOwnStore',
        summary: 'Change own store',
        description:
          'Changes the given fields. `category_ids` replaces all categories. A store can change itself and its posts 60 times in the 24 hours from the first change; an installation may have another number.',
        body: Ref(StoreChanges),
        response: { 200: Ref(Store) },
      },
    },
    async (request) => service.change(currentUser(request).id, request.body),
  );
};
