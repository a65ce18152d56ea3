import { storeSummarySql } from '../../stores/summary-sql.ts';
import type { Post } from '../schemas.ts';

/** SQL: the columns of the post `p` of the store `s`. */
export const postColumns = `
  p.id, p.title, p.content, p.images, p.created_at, p.updated_at, ${storeSummarySql} AS store`;

export interface PostRow extends Pick<Post, 'id' | 'title' | 'content' | 'images' | 'store'> {
  created_at: Date;
  updated_at: Date;
}

/** A row as the API shows it. */
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
