import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { paginate } from '../../../http/pagination.ts';
import { isId, PathId } from '../../../http/path-ids.ts';
import { Ref } from '../../../http/schemas.ts';
import type { ImageUrls } from '../../images/index.ts';
import { storeErrors } from '../errors.ts';
import { toStoreListItem } from '../presenters.ts';
import type { StoreLists } from '../repository/store-lists.ts';
import type { Stores } from '../repository/stores.ts';
import { Store, StoreCategoryList, StorePage, StoreQuery } from '../schemas.ts';
import type { StoreService } from '../service.ts';

/** The categories, which need no login. */
export const categoryRoutes: FastifyPluginAsyncTypebox<{ stores: Stores }> = async (app, { stores }) => {
  app.get(
    '/categories/',
    {
      config: { message: { ko: '카테고리 목록을 조회했습니다.', en: 'Here are the categories.' } },
      schema: {
        operationId: 'listStoreCategories',
        summary: 'List store categories',
        description: 'Every category that a store can have, in the order to show them.',
        response: { 200: Ref(StoreCategoryList) },
      },
    },
    async () => ({ items: await stores.categories() }),
  );
};

export interface DirectoryOptions {
  storeLists: StoreLists;
  service: StoreService;
  imageUrls: ImageUrls;
}

/** Search for stores, and reading one. */
export const directoryRoutes: FastifyPluginAsyncTypebox<DirectoryOptions> = async (
  app,
  { storeLists, service, imageUrls },
) => {
  app.get(
    '/',
    {
      prefixTrailingSlash: 'slash',
      config: { message: { ko: '가게 목록을 조회했습니다.', en: 'Here are the stores.' } },
      schema: {
        operationId: 'listStores',
        summary: 'Find stores',
        description:
          'Stores that match every given filter, newest first. A page may have fewer items than `limit`, or none, before the end of the list, because a request examines a bounded number of stores: continue until `next_cursor` is `null`.',
        querystring: StoreQuery,
        response: { 200: Ref(StorePage) },
      },
    },
    async (request) => {
      const { q = '', category_id: categoryId } = request.query;
      const result = await paginate(request.query, {
        isId,
        find: (page) => storeLists.list({ q, categoryId, ...page }),
        present: (store) => toStoreListItem(store, imageUrls),
      });
      if (result.items.length === 0) await service.checkCategoryFilter(categoryId);
      return result;
    },
  );

  app.get(
    '/:store_id/',
    {
      config: {
        message: { ko: '가게 정보를 조회했습니다.', en: 'Here is the store.' },
        errors: [storeErrors.storeNotFound],
      },
      schema: {
        operationId: 'getStore',
        summary: 'Read a store',
        description: 'Any store that is open and whose owner is not suspended.',
        params: Type.Object({ store_id: PathId('`id` of a store') }),
        response: { 200: Ref(Store) },
      },
    },
    async (request) => service.find(request.params.store_id),
  );
};
