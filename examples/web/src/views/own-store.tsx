import { dure } from '../api.ts';
import { Page } from '../components/page.tsx';
import { PagedList } from '../components/paged-list.tsx';
import { PostCard } from '../components/post-card.tsx';
import { Empty } from '../components/states.tsx';
import { StoreFacts } from '../components/store-facts.tsx';
import { usePages } from '../hooks/use-pages.ts';
import { useAccount } from '../session.tsx';
import { useLanguage } from '../texts/language.tsx';

/** The own store with its posts, or the way to register one. */
export function OwnStoreView() {
  const { t } = useLanguage();
  const { store } = useAccount();
  if (store === null) {
    return (
      <Page title={t.ownStore.title}>
        <Empty text={t.ownStore.none}>
          <a class="button primary" href="/store/edit">
            {t.ownStore.register}
          </a>
        </Empty>
      </Page>
    );
  }
  return (
    <Page
      title={store.name}
      actions={
        <a class="button" href="/store/edit">
          {t.ownStore.edit}
        </a>
      }
    >
      <div class="stack">
        <StoreFacts store={store} />
        <OwnPosts />
      </div>
    </Page>
  );
}

function OwnPosts() {
  const { t } = useLanguage();
  const posts = usePages((cursor, signal) => dure.posts.list({ mine: true, cursor }, { signal }), []);
  return (
    <section class="stack">
      <div class="spread">
        <h2>{t.ownStore.posts}</h2>
        <a class="button primary" href="/posts/new">
          {t.feed.write}
        </a>
      </div>
      <PagedList class="posts" pages={posts} empty={<Empty text={t.ownStore.noPosts} />}>
        {({ store: _, ...post }) => <PostCard heading="h3" post={post} />}
      </PagedList>
    </section>
  );
}
