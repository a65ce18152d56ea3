import { dure } from '../api.ts';
import { Page } from '../components/page.tsx';
import { PagedList } from '../components/paged-list.tsx';
import { Search } from '../components/search.tsx';
import { Empty } from '../components/states.tsx';
import { StoreCard } from '../components/store-card.tsx';
import { DirectoryTabs } from '../components/tabs.tsx';
import { usePages } from '../hooks/use-pages.ts';
import { useSearch } from '../search.ts';
import { useLanguage } from '../texts/language.tsx';

/** Stores of the neighbourhood, newest or nearest first, with search by name, address and description. */
export function StoresView() {
  const { t } = useLanguage();
  const { filters } = useSearch();
  const stores = usePages(
    (cursor, signal) => dure.stores.list({ ...filters, cursor }, { signal }),
    Object.values(filters),
  );
  return (
    <Page title={t.stores.title}>
      <DirectoryTabs current="/stores" />
      <Search path="/stores" label={t.stores.searchLabel} filters={filters} />
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
