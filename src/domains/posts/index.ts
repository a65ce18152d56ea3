import type { FastifyInstance } from 'fastify';
import { type PostRoutesOptions, postRoutes } from './routes.ts';

export { deletePostsOfStore, duePosts, isOpenPost } from './repository.ts';
export {
  PartnerRequestStatus,
  PostSummary,
  type PostSummaryRow,
  partnerRequestStatuses,
  postErrors,
  stateOfStatus,
  toPostSummary,
} from './schemas.ts';

/** Builds the posts domain: its routes under `/api/v1/posts`. */
export function createPosts(options: PostRoutesOptions) {
  return { routes: async (scope: FastifyInstance) => scope.register(postRoutes, options) };
}
