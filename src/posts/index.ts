import type { FastifyInstance } from 'fastify';
import { requireUser } from '../http/authentication.ts';
import type { Idempotency } from '../http/idempotency.ts';
import { readPathIds } from '../http/path-ids.ts';
import { Nothing } from '../http/schemas.ts';
import { storeSummarySchemas } from '../stores/schemas.ts';
import { createPostListRepository } from './repository/post-lists.ts';
import { createPostRepository } from './repository/posts.ts';
import { postRoutes } from './routes.ts';
import { postSchemas } from './schemas.ts';
import { createPostService, type PostServiceOptions } from './service.ts';

interface PostsOptions extends Omit<PostServiceOptions, 'posts'> {
  /** @throws {ApiError} `validation_error` for a category that does not exist */
  checkCategoryFilter(id: number | undefined): Promise<void>;
}

/** Builds the posts domain: its routes under `/api/v1/posts`. */
export function createPosts({ checkCategoryFilter, ...options }: PostsOptions) {
  const posts = createPostRepository(options.database);
  const postLists = createPostListRepository(options.database);
  const service = createPostService({ ...options, posts });

  async function routes(
    scope: FastifyInstance,
    { idempotency }: { idempotency: Idempotency },
  ): Promise<void> {
    for (const schema of [Nothing, ...storeSummarySchemas, ...postSchemas]) scope.addSchema(schema);
    await scope.register(requireUser);
    scope.addHook('preValidation', readPathIds);
    await scope.register(postRoutes, { posts, postLists, service, idempotency, checkCategoryFilter });
  }

  return { routes };
}
