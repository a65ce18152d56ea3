import type { PostRow } from './repository/posts.ts';
import type { Post } from './schemas.ts';

/** A post as the API shows it. */
export function toPost({ id, title, content, images, store, created_at, updated_at }: PostRow): Post {
  return {
    id,
    title,
    thumbnail: images[0] ?? '',
    content,
    images,
    store,
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
  };
}
