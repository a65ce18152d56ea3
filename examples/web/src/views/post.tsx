import { useState } from 'preact/hooks';
import { useLocation, useRoute } from 'preact-iso';
import { dure, type Post } from '../api.ts';
import { Categories } from '../components/categories.tsx';
import { ConfirmDialog } from '../components/dialog.tsx';
import { Image } from '../components/image.tsx';
import { Page } from '../components/page.tsx';
import { LoadError, Skeleton } from '../components/states.tsx';
import { PostStatus } from '../components/status.tsx';
import { Time } from '../components/time.tsx';
import { useToasts } from '../components/toasts.tsx';
import { useLoad } from '../hooks/use-load.ts';
import { useAccount } from '../session.tsx';
import { useLanguage } from '../texts/language.tsx';
import { SendRequest } from './send-request.tsx';

/** One post, with what the reader can do about it. */
export function PostView() {
  const { t } = useLanguage();
  const { params } = useRoute();
  const id = Number(params['id']);
  const {
    value: post,
    error,
    reload,
  } = useLoad((signal) => dure.posts.get({ post_id: id }, { signal }), [id]);
  return (
    <Page title={post?.title ?? t.post.title} back={{ href: '/', label: t.feed.title }}>
      {error !== undefined && <LoadError error={error} onRetry={reload} />}
      {post === undefined && error === undefined && <Skeleton count={2} height="14rem" />}
      {post && (
        <div class="post-view">
          <article class="stack">
            <p class="row soft small">
              <Time moment={post.created_at} />
              <PostStatus {...post} />
            </p>
            {post.images.length > 0 && <Gallery post={post} />}
            <p class="pre-line">{post.content}</p>
          </article>
          <aside class="stack" aria-label={t.post.aside}>
            <section class="card stack">
              <h2>
                <a href={`/stores/${post.store.id}`}>{post.store.name}</a>
              </h2>
              <Categories of={post.store} />
            </section>
            <Actions post={post} />
          </aside>
        </div>
      )}
    </Page>
  );
}

function Gallery({ post }: { post: Post }) {
  const { t } = useLanguage();
  return (
    // A scrollable region can be scrolled with the keyboard only when it takes the focus.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
    <ul class="gallery" tabIndex={0} aria-label={t.post.images}>
      {post.images.map((url, index) => (
        <li key={url}>
          <Image url={url} alt={t.post.image(index + 1)} />
        </li>
      ))}
    </ul>
  );
}

function Actions({ post }: { post: Post }) {
  const { t } = useLanguage();
  const { store } = useAccount();
  if (post.is_mine) return <OwnPostActions post={post} />;
  if (store !== null) return <SendRequest post={post} />;
  return (
    <section class="card stack">
      <p>{t.post.storeFirst}</p>
      <a class="button primary" href="/store/edit">
        {t.ownStore.register}
      </a>
    </section>
  );
}

function OwnPostActions({ post }: { post: Post }) {
  const { t } = useLanguage();
  const { route } = useLocation();
  const { show } = useToasts();
  const [isDeleting, setDeleting] = useState(false);
  return (
    <section class="card stack">
      <p class="soft">{t.post.own}</p>
      <div class="row">
        <a class="button" href={`/posts/${post.id}/edit`}>
          {t.common.edit}
        </a>
        <button type="button" class="button danger" onClick={() => setDeleting(true)}>
          {t.common.delete}
        </button>
      </div>
      {isDeleting && (
        <ConfirmDialog
          title={t.post.deleteTitle}
          text={t.post.deleteText}
          confirmLabel={t.common.delete}
          onClose={() => setDeleting(false)}
          onConfirm={async () => {
            await dure.posts.delete({ post_id: post.id });
            show(t.post.deleted);
            route('/store', true);
          }}
        />
      )}
    </section>
  );
}
