import type { ImageUrls } from '../images/index.ts';
import { toPartnerRequest } from '../partner-requests/index.ts';
import { toPostSummary } from '../posts/index.ts';
import type { MyPageRow } from './repository.ts';
import type { MyPage } from './schemas.ts';

/** My-page as the API shows it; without a store everything is empty. */
export function toMyPage(row: MyPageRow | undefined, imageUrls: ImageUrls): MyPage {
  if (row === undefined) return { store: null, posts: [], sent_requests: [] };
  const { store, posts, sentRequests } = row;
  return {
    store,
    posts: posts.map((post) => toPostSummary(post, store, imageUrls)),
    sent_requests: sentRequests.map((request) => toPartnerRequest(request)),
  };
}
