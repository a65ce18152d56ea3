import type { FastifyInstance } from 'fastify';
import { requireUser, routesBehind } from '../../http/authentication.ts';
import type { Metrics } from '../../infrastructure/telemetry/metrics.ts';
import { createAddressReader } from './regions.ts';
import { createStoreRepository } from './repository.ts';
import { categoryRoutes, type DirectoryOptions, directoryRoutes, ownStoreRoutes } from './routes.ts';
import { createStoreService, type StoreServiceOptions } from './service.ts';

export { storeErrors } from './errors.ts';
export { Distance, defaultRadius, NearFields, readNear } from './near.ts';
export { toStoreSummary } from './presenters.ts';
export { secondsUntilEdits, storeSummarySelect } from './repository.ts';
export { PhoneNumber, regionMatch, SearchQuery, StoreSummary, textMatch } from './schemas.ts';
export {
  countEditSql,
  expiredStoreEdits,
  isOpenStore,
  openStore,
  storeCategoriesSql,
  storeSummarySql,
} from './sql.ts';

type StoresOptions = Omit<StoreServiceOptions, 'stores'> &
  Pick<DirectoryOptions, 'imageUrls' | 'read'> & { metrics: Metrics };

/** Builds the stores domain: its routes under `/api/v1/stores`, and what other domains need of stores. */
export function createStores(options: StoresOptions) {
  const readAddress = createAddressReader(options.metrics);
  const stores = createStoreRepository(options.database, readAddress);
  const service = createStoreService({ ...options, stores });

  /** The categories, and the store of the logged-in user. */
  async function routes(app: FastifyInstance): Promise<void> {
    await app.register(categoryRoutes, { stores });
    await app.register(routesBehind(requireUser, ownStoreRoutes, { service }));
  }

  return {
    routes,
    directory: routesBehind(requireUser, directoryRoutes, { ...options, stores, service }),
    checkCategoryFilter: service.checkCategoryFilter,
    lockStore: stores.lockStore,
    closeStore: stores.close,
  };
}
