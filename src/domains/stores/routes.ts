import { Type } from '@sinclair/typebox';
import { currentUser } from '../../http/authentication.ts';
import * as conditions from '../../http/conditions.ts';
import { found, httpErrors } from '../../http/errors.ts';
import { paginate } from '../../http/pagination.ts';
import { operation, type Routes } from '../../http/route-config.ts';
import { isId, PathId, Ref } from '../../http/schemas.ts';
import type { Read } from '../../infrastructure/database/replica.ts';
import type { ImageUrls } from '../images/index.ts';
import * as stores from './repository.ts';
import * as schemas from './schemas.ts';
import { readNear, StoreQuery } from './search.ts';
import { checkCategoryFilter, createStoreService, type StoreServiceOptions } from './service.ts';

export type StoreRoutesOptions = StoreServiceOptions & { imageUrls: ImageUrls; read: Read };

/** The categories, the store of the logged-in user, search for stores, and reading one. */
export const storeRoutes: Routes<StoreRoutesOptions> = async (app, options) => {
  const { database, imageUrls, read } = options;
  const service = createStoreService(options);

  app.get('/categories/', {
    config: operation('anyone', '카테고리 목록을 조회했습니다.', 'Here are the categories.'),
    schema: {
      operationId: 'listStoreCategories',
      summary: 'List store categories',
      description: 'Every category that a store can have, in the order to show them.',
      response: { 200: Ref(schemas.StoreCategoryList) },
    },
    handler: async () => ({
      items: (await stores.categories(database)).map(({ nameEn, ...category }) => ({
        ...category,
        name_en: nameEn,
      })),
    }),
  });

  app.post('/', {
    config: {
      ...operation('user', '가게를 등록했습니다.', 'Your store has been registered.'),
      errors: [schemas.storeErrors.storeExists],
      idempotent: true,
      location: true,
    },
    schema: {
      operationId: 'createStore',
      summary: 'Register a store',
      description:
        'A user has one store. Unknown categories are named by their JSON pointer, such as `/category_ids/1`.',
      body: Ref(schemas.NewStore),
      response: { 201: Ref(schemas.Store) },
    },
    handler: async (request, reply) =>
      conditions.sendCreated(reply, (key) => service.register(currentUser(request).id, request.body, key)),
  });

  app.get('/me/', {
    config: {
      ...operation('user', '내 가게를 조회했습니다.', 'Here is your store.'),
      errors: [schemas.storeErrors.storeNotFound],
    },
    schema: {
      operationId: 'getOwnStore',
      summary: 'Read own store',
      description: 'The store that the user registered.',
      headers: conditions.ReadConditions,
      response: { 200: Ref(schemas.Store), 304: conditions.NotModified },
    },
    handler: async (request, reply) =>
      conditions.sendIfChanged(reply, await service.find({ userId: currentUser(request).id })),
  });

  app.patch('/me/', {
    config: {
      ...operation('user', '가게 정보를 수정했습니다.', 'Your store has been updated.'),
      errors: [schemas.storeErrors.storeNotFound, httpErrors.quotaExceeded],
    },
    schema: {
      operationId: 'updateOwnStore',
      summary: 'Change own store',
      description:
        'Changes the given fields. `category_ids` replaces all categories. A store can change itself and its posts 60 times in the 24 hours from the first change; an installation may have another number.',
      headers: conditions.WriteConditions,
      body: Ref(schemas.StoreChanges),
      response: { 200: Ref(schemas.Store) },
    },
    handler: async (request, reply) => {
      const precondition = conditions.preconditionOf(request);
      return conditions.sendTagged(
        reply,
        await service.change(currentUser(request).id, request.body, precondition),
      );
    },
  });

  app.get('/', {
    config: operation('user', '가게 목록을 조회했습니다.', 'Here are the stores.'),
    schema: {
      operationId: 'listStores',
      summary: 'Find stores',
      description:
        'Stores that match every given filter, newest first; with `near`, nearest first. A page may have fewer items than `limit`, or none, before the end of the list, because a request examines a bounded number of stores: continue until `next_cursor` is `null`. With `near`, the list ends after the 5,000 nearest stores, unless `q`, `category_id` or `region` match few: all of those are found.',
      querystring: StoreQuery,
      response: { 200: Ref(schemas.StorePage) },
    },
    handler: async (request) => {
      const { q = '', category_id: categoryId, region = '' } = request.query;
      const near = readNear(request.query);
      const { id: userId } = currentUser(request);
      const result = await paginate(request.query, {
        isId,
        find: (page) => read(userId, (tx) => stores.listStores(tx, { q, categoryId, region, near, ...page })),
        present: (store) => schemas.toStoreListItem(store, imageUrls),
      });
      if (result.items.length === 0) await checkCategoryFilter(database, categoryId);
      return result;
    },
  });

  app.get('/:store_id/', {
    config: {
      ...operation('user', '가게 정보를 조회했습니다.', 'Here is the store.'),
      errors: [schemas.storeErrors.storeNotFound],
    },
    schema: {
      operationId: 'getStore',
      summary: 'Read a store',
      description: 'Any store that was neither closed nor hidden, whose owner is not suspended.',
      params: Type.Object({ store_id: PathId('`id` of a store') }),
      response: { 200: Ref(schemas.Store) },
    },
    handler: async (request) => {
      const wanted = { id: request.params.store_id, userId: currentUser(request).id };
      const store = await read(wanted.userId, (tx) => stores.findOpen(tx, wanted));
      return schemas.toStore(found(store, schemas.storeErrors.storeNotFound));
    },
  });
};
