import { useLocation } from 'preact-iso';
import type { Filters, StoreCategory } from './api.ts';
import type { Texts } from './texts/ko.ts';

/** What is searched. It is in the address, so that a search can be shared. */
export function useSearch(): { filters: Filters; isSearch: boolean } {
  const { query } = useLocation();
  const filters = {
    q: query['q'] || undefined,
    category_id: Number(query['category_id']) || undefined,
    region: query['region'] || undefined,
    near: query['near'] || undefined,
    radius_m: Number(query['radius_m']) || undefined,
  };
  return { filters, isSearch: Object.values(filters).some((value) => value !== undefined) };
}

/** The address of a search, for a path that may have a query already. */
export function searchPath(path: string, filters: { [name in keyof Filters]: unknown }): string {
  const { q, category_id, region, near, radius_m } = filters;
  const [base, query] = path.split('?');
  const parameters = new URLSearchParams(query);
  for (const [name, value] of Object.entries({ q, category_id, region, near, radius_m: near && radius_m })) {
    if (value) parameters.set(name, String(value).trim());
  }
  return parameters.size > 0 ? `${base}?${parameters}` : path;
}

/** In metres, where no other distance was asked for. */
const usualRadius = 3_000;

/** What a search looks for. */
export function describeSearch(
  { q, category_id, region, near, radius_m }: { [name in keyof Filters]: Filters[name] | null },
  categories: StoreCategory[],
  t: Texts,
): string {
  const category = categories.find(({ id }) => id === category_id)?.name;
  const around = near && t.savedSearches.around((radius_m ?? usualRadius) / 1_000);
  return [q, category, region, around].filter(Boolean).join(' · ');
}
