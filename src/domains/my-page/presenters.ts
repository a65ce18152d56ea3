import { toUtc } from '../../infrastructure/database/json-times.ts';
import type { ImageUrls } from '../images/index.ts';
import { toPartnerRequest } from '../partner-requests/index.ts';
import type { MyPageRow } from './repository.ts';
import type { MyPage } from './schemas.ts';

/** My-page as the API shows it; without a store everything is empty. */
export function toMyPage(row: MyPageRow | undefined, imageUrls: ImageUrls): MyPage {
  if (row === undefined) return { store: null, posts: [], sent_requests: [] };
  const { store, posts, sentRequests } = row;
  return {
    store,
    posts: posts.map(({ id, title, firstImage, createdAt }) => ({
      id,
      title,
      thumbnail: imageUrls.thumbnailOf(firstImage, store),
      created_at: toUtc(createdAt),
    })),
    sent_requests: sentRequests.map((request) => toPartnerRequest(request)),
  };
}
