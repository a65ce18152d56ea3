import type { ImageUrls } from '../images/index.ts';
import { partnerRequestStatuses } from '../posts/index.ts';
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
    sent_requests: sentRequests.map((request) => ({
      box: 'sent',
      id: request.id,
      post_id: request.postId,
      post_title: request.postTitle,
      receiver_store_id: request.receiverStoreId,
      receiver_store_name: request.receiverStoreName,
      status: partnerRequestStatuses[request.status],
      message: request.message,
      created_at: toUtc(request.createdAt),
      updated_at: toUtc(request.updatedAt),
    })),
  };
}

const toUtc = (time: string) => new Date(time).toISOString();
