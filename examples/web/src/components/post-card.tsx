import type { PostSummary, StoreSummary } from '../api.ts';
import { Categories } from './categories.tsx';
import { Image } from './image.tsx';
import { Time } from './time.tsx';

interface PostCardProps {
  post: PostSummary & { store?: StoreSummary };
  /** One level below the heading of the list. */
  heading?: 'h2' | 'h3';
}

/** A post in a list. */
export function PostCard({ post, heading: Heading = 'h2' }: PostCardProps) {
  return (
    <article class="post-card">
      <Image url={post.thumbnail} />
      <div class="post-card-body">
        <Heading>
          <a href={`/posts/${post.id}`}>{post.title}</a>
        </Heading>
        <p class="soft small">
          {post.store && `${post.store.name} · `}
          <Time moment={post.created_at} />
        </p>
        {post.store && <Categories of={post.store} />}
      </div>
    </article>
  );
}
