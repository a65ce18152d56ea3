import type { FastifyInstance } from 'fastify';
import { createPostRepository } from './repository.ts';
import { type PostRoutesOptions, postRoutes } from './routes.ts';
import { createPostService, type PostServiceOptions } from './service.ts';

export { duePosts, isOpenPost } from './repository.ts';
export {
  PartnerRequestStatus,
  PostSummary,
  type PostSummaryRow,
  partnerRequestStatuses,
  postErrors,
  stateOfStatus,
  toPostSummary,
} from './schemas.ts';

type PostsOptions = Omit<PostServiceOptions & PostRoutesOptions, 'posts' | 'service'>;

/** Builds the posts domain: its routes under `/api/v1/posts`, and what other domains need of posts. */
export function createPosts(options: PostsOptions) {
  const posts = createPostRepository(options.database);
  const service = createPostService({ ...options, posts });
  const routes = async (scope: FastifyInstance) => scope.register(postRoutes, { ...options, posts, service });
  return { routes, deletePostsOfStore: posts.removeOfStore };
}
