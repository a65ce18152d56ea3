import type { FastifyInstance } from 'fastify';
import type { Config } from '../config/config.ts';
import type { Database, Tx } from '../database/client.ts';
import { requireUser } from '../http/authentication.ts';
import { documentDomain } from '../http/document-domain.ts';
import type { Idempotency } from '../http/idempotency.ts';
import { readPathIds } from '../http/path-ids.ts';
import { EmptyData } from '../http/schemas.ts';
import { storeSummarySchemas } from '../stores/schemas.ts';
import { createPostListRepository } from './repository/post-lists.ts';
import { createPostRepository } from './repository/posts.ts';
import { postRoutes } from './routes.ts';
import { postSchemas } from './schemas.ts';
import { createPostService } from './service.ts';

interface PostsOptions {
  config: Config;
  database: Database;
  idempotency: Idempotency;
  /** @throws {ApiError} `validation_error` for a category that does not exist */
  checkCategoryFilter(id: number | undefined): Promise<void>;
  /** Withdraws the pending requests for a post that was deleted in the same transaction. */
  withdrawRequestsOfPost(tx: Tx, postId: number): Promise<void>;
}

/** Builds the posts domain: its routes under `/api/v1/posts`, and what other domains need of posts. */
export function createPosts(options: PostsOptions) {
  const { database, checkCategoryFilter } = options;
  const posts = createPostRepository(database);
  const postLists = createPostListRepository(database);
  const service = createPostService({ ...options, posts });

  async function routes(scope: FastifyInstance): Promise<void> {
    const schemas = [EmptyData, ...storeSummarySchemas, ...postSchemas];
    await scope.register(documentDomain, { tag: 'posts', schemas });
    await scope.register(requireUser);
    scope.addHook('preValidation', readPathIds);
    await scope.register(postRoutes, { posts, postLists, service, checkCategoryFilter });
  }

  return { routes, deletePostsOfStore: posts.removeOfStore };
}
