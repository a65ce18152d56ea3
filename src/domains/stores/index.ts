import type { FastifyInstance } from 'fastify';
import type { Metrics } from '../../infrastructure/telemetry/metrics.ts';
import { createAddressReader } from './regions.ts';
import { createStoreRepository } from './repository.ts';
import { type DirectoryOptions, directoryRoutes, storeRoutes } from './routes.ts';
import { createStoreService, type StoreServiceOptions } from './service.ts';

export {
  isOpenStore,
  openStore,
  openStoreOf,
  secondsUntilEdits,
  storeCategoriesSql,
  storeEdits,
  storeSummarySelect,
  storeSummarySql,
} from './repository.ts';
export { PhoneNumber, StoreSummary, storeErrors, toStoreSummary } from './schemas.ts';
export * from './search.ts';

type StoresOptions = Omit<StoreServiceOptions & DirectoryOptions, 'stores' | 'service'> & {
  metrics: Metrics;
};

/** Builds the stores domain: its routes under `/api/v1/stores`, and what other domains need of stores. */
export function createStores(options: StoresOptions) {
  const stores = createStoreRepository(options.database, createAddressReader(options.metrics));
  const service = createStoreService({ ...options, stores });
  const routeOptions = { ...options, stores, service };
  return {
    routes: async (scope: FastifyInstance) => scope.register(storeRoutes, routeOptions),
    directory: async (scope: FastifyInstance) => scope.register(directoryRoutes, routeOptions),
    checkCategoryFilter: service.checkCategoryFilter,
    lockStore: stores.lockStore,
    closeStore: stores.close,
  };
}
