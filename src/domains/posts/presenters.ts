import type { ImageUrls } from '../images/index.ts';
import type { ListedPostRow, PostRow } from './repository.ts';
import { partnerRequestStatuses } from './request-status.ts';
import type { Post, PostListItem } from './schemas.ts';

/** A post as the API shows it to a user. */
export function toPost(row: PostRow, imageUrls: ImageUrls): Post {
  return {
    id: row.id,
    title: row.title,
    content: row.content,
    thumbnail: imageUrls.thumbnailOf(row.images[0], row.store),
    images: row.images.map(imageUrls.url),
    store: row.store,
    status: row.isOpen ? 'open' : 'closed',
    closes_on: row.closesOn,
    is_mine: row.isMine,
    my_request_status: row.myRequestStatus && partnerRequestStatuses[row.myRequestStatus],
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}

/** A post in a list. */
export function toPostListItem(row: ListedPostRow, imageUrls: ImageUrls): PostListItem {
  return { ...toPost(row, imageUrls), distance_m: row.distance && Math.round(row.distance / 1_000) };
}
