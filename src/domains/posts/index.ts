import { requireUser, routesBehind } from '../../http/authentication.ts';
import { createPostRepository } from './repository.ts';
import { type PostRoutesOptions, postRoutes } from './routes.ts';
import { createPostService, type PostServiceOptions } from './service.ts';

export { duePosts, isOpenPost } from './closing.ts';
export { postErrors } from './errors.ts';
export { type PostSummaryRow, toPostSummary } from './presenters.ts';
export { PartnerRequestStatus, partnerRequestStatuses, stateOfStatus } from './request-status.ts';
export { PostSummary } from './schemas.ts';

type PostsOptions = Omit<PostServiceOptions, 'posts'> &
  Pick<PostRoutesOptions, 'read' | 'checkCategoryFilter'>;

/** Builds the posts domain: its routes under `/api/v1/posts`, and what other domains need of posts. */
export function createPosts(options: PostsOptions) {
  const posts = createPostRepository(options.database);
  const service = createPostService({ ...options, posts });

  const routes = routesBehind(requireUser, postRoutes, { ...options, posts, service });
  return { routes, deletePostsOfStore: posts.removeOfStore };
}
