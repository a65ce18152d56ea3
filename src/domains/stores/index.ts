import type { FastifyInstance } from 'fastify';
import { createStoreRepository } from './repository.ts';
import { type StoreRoutesOptions, storeRoutes } from './routes.ts';
import { createStoreService, type StoreServiceOptions } from './service.ts';

export {
  isOpenStore,
  openStore,
  openStoreOf,
  storeCategoriesSql,
  storeSummarySelect,
  storeSummarySql,
} from './repository.ts';
export { PhoneNumber, StoreSummary, storeErrors, toStoreSummary } from './schemas.ts';
export * from './search.ts';

type StoresOptions = Omit<StoreServiceOptions & StoreRoutesOptions, 'stores' | 'service'>;

/** Builds the stores domain: its routes under `/api/v1/stores`, and what other domains need of stores. */
export function createStores(options: StoresOptions) {
  const stores = createStoreRepository(options.database);
  const service = createStoreService({ ...options, stores });
  return {
    routes: async (scope: FastifyInstance) => scope.register(storeRoutes, { ...options, stores, service }),
    checkCategoryFilter: service.checkCategoryFilter,
    lockStore: stores.lockStore,
    closeStore: stores.close,
  };
}
