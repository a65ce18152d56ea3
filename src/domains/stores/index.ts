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

interface StoresOptions
  extends Omit<StoreServiceOptions, 'stores'>,
    Pick<DirectoryOptions, 'imageUrls' | 'read'> {
  metrics: Metrics;
}

/** Builds the stores domain: its routes under `/api/v1/stores`, and what other domains need of stores. */
export function createStores({ config, database, idempotency, imageUrls, metrics, read }: StoresOptions) {
  const stores = createStoreRepository(database, createAddressReader(metrics));
  const service = createStoreService({ config, database, idempotency, stores });

  return {
    routes: async (scope: FastifyInstance) => scope.register(storeRoutes, { stores, service }),
    directory: async (scope: FastifyInstance) =>
      scope.register(directoryRoutes, { stores, service, imageUrls, read }),
    checkCategoryFilter: service.checkCategoryFilter,
    lockStore: stores.lockStore,
    closeStore: stores.close,
  };
}
