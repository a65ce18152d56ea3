import { useRoute } from 'preact-iso';
import { dure } from '../api.ts';
import { Page } from '../components/page.tsx';
import { PagedList } from '../components/paged-list.tsx';
import { PostCard } from '../components/post-card.tsx';
import { Empty, LoadError, Skeleton } from '../components/states.tsx';
import { StoreFacts } from '../components/store-facts.tsx';
import { useLoad } from '../hooks/use-load.ts';
import { usePages } from '../hooks/use-pages.ts';
import { useLanguage } from '../texts/language.tsx';

/** Another store, with its posts. */
export function StoreView() {
  const { t } = useLanguage();
  const { params } = useRoute();
  const id = Number(params['id']);
  const {
    value: store,
    error,
    reload,
  } = useLoad((signal) => dure.stores.get({ store_id: id }, { signal }), [id]);
  return (
    <Page title={store?.name ?? t.store.title} back={{ href: '/', label: t.feed.title }}>
      {error !== undefined && <LoadError error={error} onRetry={reload} />}
      {store === undefined && error === undefined && <Skeleton count={2} height="12rem" />}
      {store && (
        <div class="stack">
          <StoreFacts store={store} />
          <StorePosts id={id} />
        </div>
      )}
    </Page>
  );
}

function StorePosts({ id }: { id: number }) {
  const { t } = useLanguage();
  const posts = usePages((cursor, signal) => dure.posts.list({ store_id: id, cursor }, { signal }), [id]);
  return (
    <section class="stack">
      <h2>{t.store.posts}</h2>
      <PagedList class="posts" pages={posts} empty={<Empty text={t.store.noPosts} />}>
        {({ store: _, ...post }) => <PostCard heading="h3" post={post} />}
      </PagedList>
    </section>
  );
}
