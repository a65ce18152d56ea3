import { useLocation } from 'preact-iso';
import { dure } from '../api.ts';
import { Page } from '../components/page.tsx';
import { PagedList } from '../components/paged-list.tsx';
import { PostCard } from '../components/post-card.tsx';
import { Search } from '../components/search.tsx';
import { Empty } from '../components/states.tsx';
import { DirectoryTabs } from '../components/tabs.tsx';
import { usePages } from '../hooks/use-pages.ts';
import { useSearch } from '../search.ts';
import { useAccount } from '../session.tsx';
import { useLanguage } from '../texts/language.tsx';

/** Open or closed posts of all stores, newest or nearest first, with search. */
export function FeedView() {
  const { t } = useLanguage();
  const { store } = useAccount();
  const { query } = useLocation();
  const { filters, isSearch } = useSearch();
  const status = query['status'] === 'closed' ? 'closed' : 'open';
  const path = status === 'closed' ? '/?status=closed' : '/';
  const posts = usePages(
    (cursor, signal) => dure.posts.list({ ...filters, status, cursor }, { signal }),
    [...Object.values(filters), status],
  );
  const empty = status === 'closed' ? t.feed.noneClosed : t.feed.empty;
  return (
    <Page
      title={t.feed.title}
      actions={
        store && (
          <a class="button primary" href="/posts/new">
            {t.feed.write}
          </a>
        )
      }
    >
      {store === null && (
        <div class="note stack" style="margin-bottom:20px">
          <p>{t.feed.storeFirst}</p>
          <div>
            <a class="button primary" href="/store/edit">
              {t.ownStore.register}
            </a>
          </div>
        </div>
      )}
      <DirectoryTabs current={path} />
      <Search
        path={path}
        label={t.feed.searchLabel}
        filters={filters}
        canSave={isSearch && status === 'open'}
      />
      <PagedList
        class="posts"
        pages={posts}
        empty={
          <Empty text={isSearch ? t.feed.nothingFound : empty}>
            {isSearch && (
              <a class="button" href={path}>
                {t.feed.showAll}
              </a>
            )}
          </Empty>
        }
      >
        {(post) => <PostCard post={post} />}
      </PagedList>
    </Page>
  );
}
