import type { Post } from '@dure/client';
import { toast } from 'react-hot-toast/headless';
import { useNavigate, useParams } from 'react-router';
import { dure, type Tagged } from '../api.ts';
import { change } from '../app/change.ts';
import { useAccount, usePost } from '../app/session.tsx';
import { m } from '../paraglide/messages.js';
import { SendRequest } from '../requests/request-parts.tsx';
import { StoreCard, StoreFirst } from '../stores/store-parts.tsx';
import { AskButton, Button, ButtonLink, Loaded, Page, Time } from '../ui/index.ts';
import { Photo } from './photo.tsx';
import { PostStatus } from './post-parts.tsx';
import { Report } from './report.tsx';
import './post.css';

/** One post, with what the reader can do about it. */
export function PostPage() {
  const query = usePost(Number(useParams()['id']));
  return (
    <Page
      title={query.data?.title ?? (query.error ? m.post_not_available() : m.post())}
      back={{ to: '/', label: m.browse_posts() }}>
      <Loaded query={query} missing={m.it_was_deleted_or_is()}>
        {(post) => <Content post={post} />}
      </Loaded>
    </Page>
  );
}

function Content({ post }: { post: Tagged<Post> }) {
  const { store } = useAccount();
  const { id, title, images } = post;

  /** Opens what the device shares with, such as KakaoTalk; where there is nothing, copies the link. */
  async function share() {
    const { href: url } = location;
    if (navigator.share) return navigator.share({ title, url });
    await navigator.clipboard.writeText(url);
    toast(m.the_link_has_been_copied());
  }

  return (
    <div className="post-view">
      <article className="stack">
        <p className="row soft small">
          <Time moment={post.created_at} />
          <PostStatus {...post} />
        </p>
        {images.length > 0 && (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls is reached by keyboard
          <ul className="gallery" tabIndex={0} aria-label={m.photos()}>
            {images.map((url, index) => (
              <li key={url}>
                <Photo url={url} number={index + 1} />
              </li>
            ))}
          </ul>
        )}
        <p className="pre-line">{post.content}</p>
        <div className="row">
          <Button label={m.share()} onClick={share} />
          {!post.is_mine && (
            <Report send={(fields) => change(dure.posts.report, { post_id: id, ...fields })} />
          )}
        </div>
      </article>
      <aside className="stack" aria-label={m.shop_and_request()}>
        <StoreCard store={post.store} />
        {post.is_mine ? <OwnPost post={post} /> : store ? <SendRequest post={post} /> : <StoreFirst />}
      </aside>
    </div>
  );
}

function OwnPost({ post: { id, etag } }: { post: Tagged<Post> }) {
  const navigate = useNavigate();

  async function remove() {
    await change(dure.posts.delete, { post_id: id }, { ifMatch: etag });
    navigate('/store', { replace: true });
  }

  return (
    <section className="card row">
      <p className="soft">{m.this_is_a_post_of()}</p>
      <ButtonLink to={`/posts/${id}/edit`} label={m.edit()} />
      <AskButton
        danger
        label={m.delete_label()}
        title={m.delete_this_post()}
        text={m.it_cannot_be_restored_requests()}
        onConfirm={remove}
      />
    </section>
  );
}
