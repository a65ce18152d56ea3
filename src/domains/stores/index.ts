import type { FastifyInstance } from 'fastify';
import { type StoreRoutesOptions, storeRoutes } from './routes.ts';

export {
  closeStore,
  isOpenStore,
  lockStore,
  openStore,
  openStoreOf,
  storeCategoriesSql,
  storeSummarySelect,
  storeSummarySql,
} from './repository.ts';
export { PhoneNumber, StoreSummary, storeErrors, toStoreSummary } from './schemas.ts';
export * from './search.ts';
export { checkCategoryFilter } from './service.ts';

/** Builds the stores domain: its routes under `/api/v1/stores`. */
export function createStores(options: StoreRoutesOptions) {
  return { routes: async (scope: FastifyInstance) => scope.register(storeRoutes, options) };
}
