import { Link } from 'react-router';
import type { PostListItem } from '../api.ts';

/** A post in a list. */
export function PostCard({
  post,
}: {
  post: Pick<PostListItem, 'id' | 'title' | 'thumbnail' | 'created_at'>;
}) {
  return <Link to={`/posts/${post.id}`}>{post.title}</Link>;
}
