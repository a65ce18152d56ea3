import type { PostListItem, PostSummary } from '../api.ts';
import { describeDistance } from '../place.ts';
import { useLanguage } from '../texts/language.tsx';
import { Categories } from './categories.tsx';
import { Image } from './image.tsx';
import { PostStatus } from './status.tsx';
import { Time } from './time.tsx';

interface PostCardProps {
  post: PostSummary & Partial<Pick<PostListItem, 'store' | 'status' | 'closes_on' | 'distance_m'>>;
  /** One level below the heading of the list. */
  heading?: 'h2' | 'h3';
}

/** A post in a list. */
export function PostCard({ post, heading: Heading = 'h2' }: PostCardProps) {
  const { t } = useLanguage();
  const { store, distance_m } = post;
  return (
    <article class="post-card">
      <Image url={post.thumbnail} />
      <div class="post-card-body">
        <Heading>
          <a href={`/posts/${post.id}`}>{post.title}</a>
        </Heading>
        <p class="soft small">
          {store && `${store.name} · `}
          {distance_m != null && `${describeDistance(distance_m, t)} · `}
          <Time moment={post.created_at} />
        </p>
        {store && <Categories of={store} />}
        <PostStatus {...post} />
      </div>
    </article>
  );
}
