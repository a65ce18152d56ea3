import type { PostRow } from './repository/posts.ts';
import type { Post } from './schemas.ts';

/** A post as the API shows it. */
export function toPost(row: PostRow): Post {
  return {
    ...row,
    thumbnail: row.images[0] ?? '',
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}
