import type { Post, PostListItem } from '@dure/client';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { m } from '../paraglide/messages.js';
import { Categories } from '../stores/store-parts.tsx';
import { describeDay, describeDistance } from '../text.ts';
import { Image, Time } from '../ui/index.ts';
import './post-parts.css';

interface TileProps {
  to: string;
  title: string;
  image: string;
  facts: ReactNode;
  /** One level below the heading of the list. */
  heading?: 'h2' | 'h3';
  children: ReactNode;
}

export function Tile({ to, title, image, facts, heading: Heading = 'h2', children }: TileProps) {
  return (
    <article className="post-card">
      <Image url={image} />
      <div className="post-card-body">
        <Heading>
          <Link to={to}>{title}</Link>
        </Heading>
        {facts && <p className="soft small">{facts}</p>}
        {children}
      </div>
    </article>
  );
}

type CardPost = Pick<PostListItem, 'id' | 'title' | 'thumbnail' | 'created_at'> & Partial<PostListItem>;

export function PostCard({ post, heading }: Pick<TileProps, 'heading'> & { post: CardPost }) {
  const { store, distance_m } = post;
  const facts = (
    <>
      {store && `${store.name} · `}
      {distance_m != null && `${describeDistance(distance_m)} · `}
      <Time moment={post.created_at} />
    </>
  );
  return (
    <Tile to={`/posts/${post.id}`} title={post.title} image={post.thumbnail} facts={facts} heading={heading}>
      {store && <Categories of={store} />}
      <PostStatus {...post} />
    </Tile>
  );
}

export function PostStatus({ status, closes_on }: Partial<Pick<Post, 'status' | 'closes_on'>>) {
  if (status === 'closed') return <span className="status">{m.closed()}</span>;
  if (!closes_on) return null;
  const day = describeDay(closes_on);
  return <span className="status requested">{m.closes_after({ day })}</span>;
}
