import type { FastifyInstance } from 'fastify';
import { requireUser } from '../../http/authentication.ts';
import { openApiScope } from '../../http/openapi-scope.ts';
import type { Database } from '../../infrastructure/database/client.ts';
import type { ImageUrls } from '../images/index.ts';
import { createMyPageRepository } from './repository.ts';
import { myPageRoutes } from './routes.ts';
import { myPageSchemas } from './schemas.ts';

/** Builds my-page, which reads the tables of stores, posts and partner requests. Its route is under `/api/v1/stores`. */
export function createMyPage({ database, imageUrls }: { database: Database; imageUrls: ImageUrls }) {
  const myPages = createMyPageRepository(database);

  async function routes(scope: FastifyInstance): Promise<void> {
    await scope.register(openApiScope, { tag: 'stores', schemas: myPageSchemas });
    await scope.register(requireUser);
    await scope.register(myPageRoutes, { myPages, imageUrls });
  }

  return { routes };
}
