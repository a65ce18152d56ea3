import { useLayoutEffect, useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import type { Filters } from '../api.ts';
import { useAttempt } from '../hooks/use-attempt.ts';
import { useCategories } from '../hooks/use-categories.ts';
import { currentPlace } from '../place.ts';
import { describeSearch, searchPath } from '../search.ts';
import { useLanguage } from '../texts/language.tsx';
import { SaveSearch } from './save-search.tsx';

interface SearchProps {
  /** Of the list that is searched. */
  path: string;
  label: string;
  filters: Filters;
  /** Whether new results can be notified. */
  canSave?: boolean;
}

/** A search by text, category, neighbourhood and distance, which puts all of it into the address. */
export function Search({ path, label, filters, canSave }: SearchProps) {
  const { t } = useLanguage();
  const { route } = useLocation();
  const attempt = useAttempt();
  const categories = useCategories().value?.items ?? [];
  const form = useRef<HTMLFormElement>(null);
  const { q, category_id, region, near, radius_m } = filters;

  // "Back" changes the address without the inputs. What was typed must not be undone: neither by an effect that runs only after
  // the input is shown, nor by categories that arrive late, hence an effect for each.
  useLayoutEffect(() => set('q', q), [q]);
  useLayoutEffect(() => set('region', region), [region]);
  useLayoutEffect(() => set('category_id', category_id), [category_id, categories.length]);

  function set(name: string, value: string | number | undefined) {
    const input = form.current?.elements.namedItem(name);
    if (input instanceof HTMLInputElement || input instanceof HTMLSelectElement)
      input.value = String(value ?? '');
  }

  function search(place = near) {
    if (form.current === null) return;
    const typed = Object.fromEntries(new FormData(form.current));
    route(searchPath(path, { ...typed, near: place, radius_m }));
  }

  async function searchNearby() {
    const { latitude, longitude } = await currentPlace();
    // About 100 m: an address that is shared does not tell where somebody lives.
    search(`${latitude.toFixed(3)},${longitude.toFixed(3)}`);
  }

  return (
    <search>
      <form
        ref={form}
        class="search"
        onSubmit={(event) => {
          event.preventDefault();
          search();
        }}
      >
        <div class="input-row">
          <input
            class="input"
            type="search"
            name="q"
            aria-label={label}
            placeholder={label}
            enterkeyhint="search"
          />
          <button type="submit" class="button">
            {t.feed.search}
          </button>
        </div>
        <select name="category_id" class="input" aria-label={t.feed.category} onChange={() => search()}>
          <option value="">{t.feed.allCategories}</option>
          {categories.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
        <div class="input-row">
          <input
            class="input"
            name="region"
            maxLength={40}
            aria-label={t.feed.region}
            placeholder={t.feed.region}
            enterkeyhint="search"
          />
          <button
            type="button"
            class="button"
            aria-pressed={near !== undefined}
            onClick={() => (near === undefined ? attempt(searchNearby) : search(''))}
          >
            {t.feed.near}
          </button>
        </div>
      </form>
      {canSave && <SaveSearch filters={filters} name={describeSearch(filters, categories, t)} />}
    </search>
  );
}
