import { useLocation } from 'preact-iso';
import { dure } from '../api.ts';
import { DirectoryTabs } from '../components/directory-tabs.tsx';
import { Page } from '../components/page.tsx';
import { PagedList } from '../components/paged-list.tsx';
import { PostCard } from '../components/post-card.tsx';
import { Search } from '../components/search.tsx';
import { Empty, Skeleton } from '../components/states.tsx';
import { usePages } from '../hooks/use-pages.ts';
import { useAccount } from '../session.tsx';
import { useLanguage } from '../texts/language.tsx';

/** Posts of all stores, newest first, with search. What is searched is in the address, so that it can be shared. */
export function FeedView() {
  const { t } = useLanguage();
  const { store } = useAccount();
  const { query } = useLocation();
  const q = query['q'] || undefined;
  const categoryId = Number(query['category_id']) || undefined;
  const posts = usePages(
    (cursor, signal) => dure.listPosts({ q, category_id: categoryId, cursor }, { signal }),
    [q, categoryId],
  );
  const isSearch = q !== undefined || categoryId !== undefined;
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
      <DirectoryTabs current="posts" />
      <Search path="/" label={t.feed.searchLabel} q={q} categoryId={categoryId} />
      <PagedList
        class="posts"
        pages={posts}
        skeleton={<Skeleton class="posts" height="17rem" />}
        empty={
          <Empty text={isSearch ? t.feed.nothingFound : t.feed.empty}>
            {isSearch && (
              <a class="button" href="/">
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
