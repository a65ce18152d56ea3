import type { PostSummary, StoreSummary } from '../api.ts';
import { Categories } from './categories.tsx';
import { Picture } from './picture.tsx';
import { Time } from './time.tsx';

/** A post in a list. */
export function PostCard({ post }: { post: PostSummary & { store?: StoreSummary } }) {
  return (
    <article class="post-card">
      <Picture url={post.thumbnail} />
      <div class="post-card-body">
        <h2>
          <a href={`/posts/${post.id}`}>{post.title}</a>
        </h2>
        <p class="soft small">
          {post.store && `${post.store.name} · `}
          <Time moment={post.created_at} />
        </p>
        {post.store && <Categories of={post.store} />}
      </div>
    </article>
  );
}
