import { lazy, Suspense, useLayoutEffect, useRef } from 'react';
import { useNavigate } from 'react-router';
import { currentPlace, useCategories } from '../stores/store-parts.tsx';
import { t } from '../text.ts';
import { Button, Tabs } from '../ui/index.ts';
import { searchPath, useSearch } from './filters.ts';

const SaveSearch = lazy(() => import('./save-search.tsx'));

interface SearchProps {
  /** Of the list that is searched. */
  path: '/' | '/?status=closed' | '/stores';
  label: string;
}

/** The tabs of posts and stores, with a search by text, category, neighbourhood and distance. */
export function Search({ path, label }: SearchProps) {
  const navigate = useNavigate();
  const { filters, isSearch } = useSearch();
  const { category_id, near, radius_m } = filters;
  const categories = useCategories().data?.items ?? [];
  const form = useRef<HTMLFormElement>(null);

  function search(place = near) {
    const typed = Object.fromEntries(new FormData(form.current ?? undefined));
    navigate(searchPath(path, { ...typed, near: place, radius_m }));
  }

  async function searchNearby() {
    const { latitude, longitude } = await currentPlace();
    // About 100 m: an address that is shared does not tell where somebody lives.
    search(`${latitude.toFixed(3)},${longitude.toFixed(3)}`);
  }

  return (
    <>
      <Tabs
        label={t('둘러보기', 'Browse')}
        tabs={{
          '/': t('제휴 글', 'Posts'),
          '/?status=closed': t('마감된 글', 'Closed posts'),
          '/stores': t('가게', 'Shops'),
        }}
        current={path}
      />
      <search>
        <form
          ref={form}
          className="search"
          onSubmit={(event) => {
            event.preventDefault();
            search();
          }}
        >
          <div className="input-row">
            <SearchInput name="q" label={label} />
            <button type="submit" className="button">
              {t('검색', 'Search')}
            </button>
          </div>
          <select
            name="category_id"
            className="input"
            aria-label={t('업종', 'Category')}
            value={category_id ?? ''}
            onChange={() => search()}
          >
            <option value="">{t('모든 업종', 'All categories')}</option>
            {categories.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
          <div className="input-row">
            <SearchInput name="region" label={t('동네 (예: 망원동)', 'Area, such as 망원동')} />
            <Button
              label={t('내 주변', 'Near me')}
              isPressed={near !== undefined}
              onClick={() => (near === undefined ? searchNearby() : search(''))}
            />
          </div>
        </form>
        {path === '/' && isSearch && (
          <Suspense>
            <SaveSearch filters={filters} />
          </Suspense>
        )}
      </search>
    </>
  );
}

/** Shows what the address says, after Back too, and leaves what is being typed alone. */
function SearchInput({ name, label }: { name: 'q' | 'region'; label: string }) {
  const input = useRef<HTMLInputElement>(null);
  const value = useSearch().filters[name] ?? '';
  useLayoutEffect(() => {
    if (input.current) input.current.value = value;
  }, [value]);
  const texts = { 'aria-label': label, placeholder: label };
  return <input ref={input} className="input" type="search" name={name} maxLength={40} {...texts} />;
}
