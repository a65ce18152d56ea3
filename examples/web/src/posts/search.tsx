import { useInfiniteList } from '@dure/react';
import { skipToken } from '@tanstack/react-query';
import { lazy, Suspense, useLayoutEffect, useRef, useState } from 'react';
import { useNavigate } from 'react-router';
import { dure } from '../api.ts';
import { m } from '../paraglide/messages.js';
import { currentPlace, useCategories } from '../stores/store-parts.tsx';
import { Button, Tabs } from '../ui/index.ts';
import { searchPath, useSearch } from './filters.ts';
import './search.css';

const SaveSearch = lazy(() => import('./save-search.tsx'));

/** The tabs of posts and stores, with a search of the list at a path by text, category, neighbourhood and distance. */
export function Search({ path, label }: { path: '/' | '/?status=closed' | '/stores'; label: string }) {
  const navigate = useNavigate();
  const { filters, isSearch } = useSearch();
  const { category_id, near, radius_m } = filters;
  const categories = useCategories().data?.items ?? [];
  const form = useRef<HTMLFormElement>(null);
  // On a phone, the filters fold away, so that the list begins higher.
  const [isOpen, setOpen] = useState(Boolean(category_id || filters.region || near));
  const regions = useRegions(isOpen);

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
        label={m.browse()}
        tabs={{
          [searchPath('/', filters)]: m.posts(),
          [searchPath('/?status=closed', filters)]: m.closed_posts(),
          [searchPath('/stores', filters)]: m.shops(),
        }}
        current={searchPath(path, filters)}
      />
      <search>
        <form
          ref={form}
          className={`search ${isOpen ? 'open' : ''}`}
          onSubmit={(event) => {
            event.preventDefault();
            search();
          }}>
          <div className="input-row">
            <SearchInput name="q" label={label} />
            <button type="submit" className="button">
              {m.search()}
            </button>
            <Button look="fold" label={m.filters()} isExpanded={isOpen} onClick={() => setOpen(!isOpen)} />
          </div>
          <select
            name="category_id"
            className="input"
            aria-label={m.category()}
            value={category_id ?? ''}
            onChange={() => search()}>
            <option value="">{m.all_categories()}</option>
            {categories.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
          <div className="input-row">
            <SearchInput name="region" label={m.area_such_as()} list="regions" />
            <datalist id="regions">
              {regions.map((region) => (
                <option key={region} value={region} />
              ))}
            </datalist>
            <Button
              label={m.near_me()}
              isPressed={Boolean(near)}
              onClick={near ? () => search('') : searchNearby}
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

/** Regions that stores have in their addresses, as suggestions. */
function useRegions(isOpen: boolean): string[] {
  const { items } = useInfiniteList(dure.stores.list, isOpen ? {} : skipToken);
  const found = items.flatMap(
    ({ address }) => address.match(/[가-힣]+\d*(?:시|구|군|동|읍|면)(?=[\s),]|$)/g) ?? [],
  );
  return [...new Set(found)];
}

/** Shows what the address says, after Back too, and leaves what is being typed alone. */
function SearchInput({ name, label, list }: { name: 'q' | 'region'; label: string; list?: string }) {
  const input = useRef<HTMLInputElement>(null);
  const value = useSearch().filters[name] ?? '';
  useLayoutEffect(() => {
    if (input.current) input.current.value = value;
  }, [value]);
  const texts = { 'aria-label': label, placeholder: label };
  return (
    <input ref={input} className="input" type="search" name={name} list={list} maxLength={40} {...texts} />
  );
}
