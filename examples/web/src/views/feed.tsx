import { useEffect, useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { dure } from '../api.ts';
import { Page } from '../components/page.tsx';
import { PagedList } from '../components/paged-list.tsx';
import { PostCard } from '../components/post-card.tsx';
import { Empty, Skeleton } from '../components/states.tsx';
import { useCategories } from '../hooks/use-categories.ts';
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
      <Search q={q} categoryId={categoryId} />
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

function Search({ q, categoryId }: { q: string | undefined; categoryId: number | undefined }) {
  const { t } = useLanguage();
  const { route } = useLocation();
  const categories = useCategories().value?.items ?? [];
  const input = useRef<HTMLInputElement>(null);
  const select = useRef<HTMLSelectElement>(null);

  // "Back" changes the address without the inputs. Each has an effect of its own: categories that arrive late must not undo
  // what was typed meanwhile.
  useEffect(() => {
    if (input.current) input.current.value = q ?? '';
  }, [q]);
  useEffect(() => {
    if (select.current) select.current.value = String(categoryId ?? '');
  }, [categoryId, categories.length]);

  function search(event?: Event) {
    event?.preventDefault();
    const parameters = new URLSearchParams();
    if (input.current?.value.trim()) parameters.set('q', input.current.value.trim());
    if (select.current?.value) parameters.set('category_id', select.current.value);
    route(parameters.size > 0 ? `/?${parameters}` : '/');
  }

  return (
    <search>
      <form class="search" onSubmit={search}>
        <div class="input-row">
          <input
            ref={input}
            class="input"
            type="search"
            aria-label={t.feed.searchLabel}
            placeholder={t.feed.searchLabel}
            enterkeyhint="search"
          />
          <button type="submit" class="button">
            {t.feed.search}
          </button>
        </div>
        <select ref={select} class="input" aria-label={t.feed.category} onChange={search}>
          <option value="">{t.feed.allCategories}</option>
          {categories.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      </form>
    </search>
  );
}
