import { toUtc } from '../../infrastructure/database/json-times.ts';
import type { ImageUrls } from '../images/index.ts';
import type { StoreSummary } from '../stores/index.ts';
import type { ListedPostRow, PostRow } from './repository.ts';
import { partnerRequestStatuses } from './request-status.ts';
import type { Post, PostListItem, PostSummary } from './schemas.ts';

/** A post in JSON, for {@link toPostSummary}. */
export interface PostSummaryRow extends Pick<PostSummary, 'id' | 'title'> {
  firstImage: string | null;
  createdAt: string;
}

/** A post in short, as the API shows it. */
export function toPostSummary(
  { id, title, firstImage, createdAt }: PostSummaryRow,
  store: StoreSummary,
  imageUrls: ImageUrls,
): PostSummary {
  return { id, title, thumbnail: imageUrls.thumbnailOf(firstImage, store), created_at: toUtc(createdAt) };
}

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
