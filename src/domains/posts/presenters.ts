import type { ImageUrls } from '../images/index.ts';
import type { PostRow } from './repository.ts';
import { partnerRequestStatuses } from './request-status.ts';
import type { Post } from './schemas.ts';

/** A post as the API shows it to a user. */
export function toPost(row: PostRow, imageUrls: ImageUrls): Post {
  return {
    ...row,
    thumbnail: imageUrls.thumbnailOf(row.images[0], row.store),
    images: row.images.map(imageUrls.url),
    my_request_status: row.my_request_status && partnerRequestStatuses[row.my_request_status],
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}
