import type { FastifyInstance } from 'fastify';
import { requireUser } from '../../http/authentication.ts';
import { createPostRepository } from './repository.ts';
import { type PostRoutesOptions, postRoutes } from './routes.ts';
import { createPostService, type PostServiceOptions } from './service.ts';

export { duePosts, isOpenPost } from './closing.ts';
export { postErrors } from './errors.ts';
export { PartnerRequestStatus, partnerRequestStatuses, stateOfStatus } from './request-status.ts';
export { PostSummary } from './schemas.ts';

type PostsOptions = Omit<PostServiceOptions, 'posts'> &
  Pick<PostRoutesOptions, 'read' | 'checkCategoryFilter'>;

/** Builds the posts domain: its routes under `/api/v1/posts`, and what other domains need of posts. */
export function createPosts(options: PostsOptions) {
  const posts = createPostRepository(options.database);
  const service = createPostService({ ...options, posts });

  async function routes(scope: FastifyInstance): Promise<void> {
    await scope.register(requireUser);
    await scope.register(postRoutes, { ...options, posts, service });
  }

  return { routes, deletePostsOfStore: posts.removeOfStore };
}
