import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { ApiError, httpErrors } from '../../http/errors.ts';
import { Page, readCursor, toPage } from '../../http/pagination.ts';
import { isId, PathId } from '../../http/path-ids.ts';
import { Reference } from '../../http/schemas.ts';
import { storeErrors } from '../errors.ts';
import type { StoreLists } from '../repository/store-lists.ts';
import type { Stores } from '../repository/stores.ts';
import { Store, StoreCategory, StoreQuery, StoreSummary } from '../schemas.ts';
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
        description: 'Every category a store can have.',
        tags: ['stores'],
        response: { 200: Type.Object({ items: Type.Array(Reference(StoreCategory)) }) },
      },
    },
    async () => ({ items: await stores.categories() }),
  );
};

interface Options {
  stores: Stores;
  storeLists: StoreLists;
  service: StoreService;
}

/** Finding the stores of others. */
export const directoryRoutes: FastifyPluginAsyncTypebox<Options> = async (
  app,
  { stores, storeLists, service },
) => {
  app.get(
    '/',
    {
      prefixTrailingSlash: 'slash',
      config: {
        message: { ko: '가게 목록을 조회했습니다.', en: 'Here are the stores.' },
        errors: [httpErrors.invalidCursor],
      },
      schema: {
        operationId: 'listStores',
        summary: 'Find stores',
        description: 'Stores, newest first; by name and category where these are given.',
        tags: ['stores'],
        querystring: StoreQuery,
        response: { 200: Page(Reference(StoreSummary)) },
      },
    },
    async (request) => {
      const { q = '', category_id: categoryId, limit, cursor } = request.query;
      const after = readCursor(cursor, isId);
      const rows = await storeLists.list({ q, categoryId, after, limit: limit + 1 });
      if (rows.length === 0) await service.checkCategoryFilter(categoryId);
      return toPage(
        rows,
        limit,
        ({ created_at, id }) => ({ time: created_at.getTime(), id: String(id) }),
        ({ id, name, store_categories }) => ({ id, name, store_categories }),
      );
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
        description: 'Any store that is open.',
        tags: ['stores'],
        params: Type.Object({ store_id: PathId('`id` of a store') }),
        response: { 200: Reference(Store) },
      },
    },
    async (request) => {
      const store = await stores.findById(request.params.store_id);
      if (store === undefined) throw new ApiError(storeErrors.storeNotFound);
      return store;
    },
  );
};
