import { useLayoutEffect, useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { useCategories } from '../hooks/use-categories.ts';
import { useLanguage } from '../texts/language.tsx';

interface SearchProps {
  /** Of the list that is searched. */
  path: string;
  label: string;
  q: string | undefined;
  categoryId: number | undefined;
}

/** A search by text and category, which puts both into the address, so that a search can be shared. */
export function Search({ path, label, q, categoryId }: SearchProps) {
  const { t } = useLanguage();
  const { route } = useLocation();
  const categories = useCategories().value?.items ?? [];
  const input = useRef<HTMLInputElement>(null);
  const select = useRef<HTMLSelectElement>(null);

  // "Back" changes the address without the inputs. What was typed must not be undone: neither by an effect that runs only after
  // the input is shown, nor by categories that arrive late, hence an effect for each.
  useLayoutEffect(() => {
    if (input.current) input.current.value = q ?? '';
  }, [q]);
  useLayoutEffect(() => {
    if (select.current) select.current.value = String(categoryId ?? '');
  }, [categoryId, categories.length]);

  function search(event?: Event) {
    event?.preventDefault();
    const [base, query] = path.split('?');
    const parameters = new URLSearchParams(query);
    if (input.current?.value.trim()) parameters.set('q', input.current.value.trim());
    if (select.current?.value) parameters.set('category_id', select.current.value);
    route(parameters.size > 0 ? `${base}?${parameters}` : path);
  }

  return (
    <search>
      <form class="search" onSubmit={search}>
        <div class="input-row">
          <input
            ref={input}
            class="input"
            type="search"
            aria-label={label}
            placeholder={label}
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
