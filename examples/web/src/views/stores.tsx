import { useLocation } from 'preact-iso';
import { dure } from '../api.ts';
import { Page } from '../components/page.tsx';
import { PagedList } from '../components/paged-list.tsx';
import { Search } from '../components/search.tsx';
import { Empty } from '../components/states.tsx';
import { StoreCard } from '../components/store-card.tsx';
import { DirectoryTabs } from '../components/tabs.tsx';
import { usePages } from '../hooks/use-pages.ts';
import { useLanguage } from '../texts/language.tsx';

/** Stores of the neighbourhood, newest first, with search by name, address and description. */
export function StoresView() {
  const { t } = useLanguage();
  const { query } = useLocation();
  const q = query['q'] || undefined;
  const categoryId = Number(query['category_id']) || undefined;
  const stores = usePages(
    (cursor, signal) => dure.listStores({ q, category_id: categoryId, cursor }, { signal }),
    [q, categoryId],
  );
  return (
    <Page title={t.stores.title}>
      <DirectoryTabs current="/stores" />
      <Search path="/stores" label={t.stores.searchLabel} q={q} categoryId={categoryId} />
      <PagedList
        class="posts"
        pages={stores}
        empty={
          <Empty text={t.stores.nothingFound}>
            <a class="button" href="/stores">
              {t.stores.showAll}
            </a>
          </Empty>
        }
      >
        {(store) => <StoreCard store={store} />}
      </PagedList>
    </Page>
  );
}
