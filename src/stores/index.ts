import type { FastifyInstance } from 'fastify';
import type { Database } from '../database/client.ts';
import { requireUser } from '../http/authentication.ts';
import type { Idempotency } from '../http/idempotency.ts';
import { readPathIds } from '../http/path-ids.ts';
import { myPageSchemas } from './my-page-schemas.ts';
import { createMyPageRepository } from './repository/my-page.ts';
import { createStoreListRepository } from './repository/store-lists.ts';
import { createStoreRepository } from './repository/stores.ts';
import { categoryRoutes, directoryRoutes } from './routes/directory.ts';
import { ownStoreRoutes } from './routes/own-store.ts';
import { storeSchemas } from './schemas.ts';
import { createStoreService } from './service.ts';

/** Builds the stores domain: its routes under `/api/v1/stores`, and what other domains ask about categories. */
export function createStores({ database }: { database: Database }) {
  const stores = createStoreRepository(database);
  const storeLists = createStoreListRepository(database);
  const myPages = createMyPageRepository(database);
  const service = createStoreService({ database, stores });

  async function routes(app: FastifyInstance, { idempotency }: { idempotency: Idempotency }): Promise<void> {
    for (const schema of [...storeSchemas, ...myPageSchemas]) app.addSchema(schema);
    await app.register(categoryRoutes, { stores });
    await app.register(async (scope) => {
      await scope.register(requireUser);
      scope.addHook('preValidation', readPathIds);
      await scope.register(ownStoreRoutes, { stores, myPages, service, idempotency });
      await scope.register(directoryRoutes, { stores, storeLists, service });
    });
  }

  return { routes, checkCategoryFilter: service.checkCategoryFilter };
}
