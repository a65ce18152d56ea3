import type { Input } from '@dure/client';
import { useLayoutEffect, useRef } from 'react';
import { useNavigate, useSearchParams } from 'react-router';
import { dure } from '../api.ts';
import { change } from '../app/change.tsx';
import { currentPlace, useCategories } from '../stores/store-parts.tsx';
import { t } from '../text.ts';
import { AskButton, Button, Tabs, TextField } from '../ui/index.ts';

type Filters = Pick<Input<'listPosts'>, 'q' | 'category_id' | 'region' | 'near' | 'radius_m'>;

/** What is searched. It is in the address, so that a search can be shared, and Back leads to it. */
export function useSearch(): { filters: Filters; isSearch: boolean } {
  const [query] = useSearchParams();
  const text = (name: string) => query.get(name) || undefined;
  const number = (name: string) => Number(query.get(name)) || undefined;
  const [q, region, near] = [text('q'), text('region'), text('near')];
  const filters = { q, region, near, category_id: number('category_id'), radius_m: number('radius_m') };
  return { filters, isSearch: Object.values(filters).some(Boolean) };
}

/** The address of a search, for a path that may have a query already. */
export function searchPath(path: string, filters: { [name in keyof Filters]: unknown }): string {
  const { q, category_id, region, near, radius_m } = filters;
  const url = new URL(path, location.origin);
  for (const [name, value] of Object.entries({ q, category_id, region, near, radius_m: near && radius_m })) {
    if (value) url.searchParams.set(name, String(value).trim());
  }
  return url.pathname + url.search;
}

/** Says what a search looks for. */
export function useDescribeSearch() {
  const categories = useCategories().data?.items;
  return ({ q, category_id, region, near, radius_m }: { [name in keyof Filters]: Filters[name] | null }) => {
    const category = categories?.find(({ id }) => id === category_id)?.name;
    // Where no other distance was asked for, the service takes 3 km.
    const kilometres = (radius_m ?? 3_000) / 1_000;
    const around = near && t(`주변 ${kilometres}km`, `within ${kilometres} km`);
    return [q, category, region, around].filter(Boolean).join(' · ');
  };
}

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
        {path === '/' && isSearch && <SaveSearch filters={filters} />}
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

/** Keeps a search, so that new posts that match it are notified. */
function SaveSearch({ filters }: { filters: Filters }) {
  const name = useDescribeSearch()(filters).slice(0, 50);
  return (
    <div className="my-16">
      <AskButton
        label={t('이 조건으로 알림 받기', 'Notify me of new posts')}
        text={t(
          '조건에 맞는 새 글이 올라오면 알려 드립니다.',
          'You will be notified of new posts that match.',
        )}
        confirmLabel={t('저장', 'Save')}
        onConfirm={(read) => change(dure.savedSearches.create, { name: read('name'), ...filters })}
      >
        <TextField
          name="name"
          label={t('검색 이름', 'Name of the search')}
          maxLength={50}
          defaultValue={name}
        />
      </AskButton>
    </div>
  );
}
