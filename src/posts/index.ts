import type { FastifyInstance } from 'fastify';
import { requireUser } from '../http/authentication.ts';
import { documentDomain } from '../http/document-domain.ts';
import { EmptyData } from '../http/schemas.ts';
import { storeSummarySchemas } from '../stores/schemas.ts';
import { createPostListRepository } from './repository/post-lists.ts';
import { createPostRepository } from './repository/posts.ts';
import { type PostRoutesOptions, postRoutes } from './routes.ts';
import { postSchemas } from './schemas.ts';
import { createPostService, type PostServiceOptions } from './service.ts';

type PostsOptions = Omit<PostServiceOptions, 'posts'> & Pick<PostRoutesOptions, 'checkCategoryFilter'>;

/** Builds the posts domain: its routes under `/api/v1/posts`, and what other domains need of posts. */
export function createPosts(options: PostsOptions) {
  const posts = createPostRepository(options.database);
  const postLists = createPostListRepository(options.database);
  const service = createPostService({ ...options, posts });

  async function routes(scope: FastifyInstance): Promise<void> {
    const schemas = [EmptyData, ...storeSummarySchemas, ...postSchemas];
    await scope.register(documentDomain, { tag: 'posts', schemas });
    await scope.register(requireUser);
    await scope.register(postRoutes, { ...options, posts, postLists, service });
  }

  return { routes, deletePostsOfStore: posts.removeOfStore };
}
