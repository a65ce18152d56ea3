import type { FastifyInstance } from 'fastify';
import { createPostRepository } from './repository.ts';
import { type PostRoutesOptions, postRoutes } from './routes.ts';
import { createPostService, type PostServiceOptions } from './service.ts';

export { duePosts, isOpenPost, openPost } from './repository.ts';
export {
  PartnerRequestStatus,
  PostSummary,
  type PostSummaryRow,
  partnerRequestStatuses,
  postErrors,
  stateOfStatus,
  toPostSummary,
} from './schemas.ts';

type PostsOptions = Omit<PostServiceOptions, 'posts'> &
  Pick<PostRoutesOptions, 'read' | 'checkCategoryFilter'>;

/** Builds the posts domain: its routes under `/api/v1/posts`, and what other domains need of posts. */
export function createPosts({ read, checkCategoryFilter, ...options }: PostsOptions) {
  const posts = createPostRepository(options.database);
  const service = createPostService({ ...options, posts });
  const { imageUrls } = options;
  const routes = async (scope: FastifyInstance) =>
    scope.register(postRoutes, { posts, service, imageUrls, read, checkCategoryFilter });
  return { routes, deletePostsOfStore: posts.removeOfStore };
}
