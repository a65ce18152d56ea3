import type { ImageUrls } from '../images/index.ts';
import { partnerRequestStatuses } from '../posts/index.ts';
import type { MyPageRow } from './repository.ts';
import type { MyPage } from './schemas.ts';

/** My-page as the API shows it; without a store everything is empty. */
export function toMyPage(row: MyPageRow | undefined, imageUrls: ImageUrls): MyPage {
  if (row === undefined) return { store: null, posts: [], sent_requests: [] };
  return {
    store: row.store,
    posts: row.posts.map(({ first_image: image, ...post }) => ({
      ...post,
      thumbnail: imageUrls.thumbnailOf(image, row.store),
      created_at: toUtc(post.created_at),
    })),
    sent_requests: row.sent_requests.map((request) => ({
      box: 'sent',
      ...request,
      status: partnerRequestStatuses[request.status],
      created_at: toUtc(request.created_at),
      updated_at: toUtc(request.updated_at),
    })),
  };
}

/** Inside JSON, PostgreSQL writes times with the offset of the connection's time zone. */
function toUtc(time: string): string {
  return new Date(time).toISOString();
}
