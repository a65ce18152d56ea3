import type { Input } from '@dure/client';
import { useSearchParams } from 'react-router';
import { m } from '../paraglide/messages.js';
import { useCategories } from '../stores/store-parts.tsx';

export type Filters = Pick<Input<'listPosts'>, 'q' | 'category_id' | 'region' | 'near' | 'radius_m'>;

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

export const nothingFound = ({ region }: Filters, text: string) =>
  region ? `${text} ${m.look_for_an_area_by()}` : text;

export function useDescribeSearch() {
  const categories = useCategories().data?.items;
  return ({ q, category_id, region, near, radius_m }: { [name in keyof Filters]: Filters[name] | null }) => {
    const category = categories?.find(({ id }) => id === category_id)?.name;
    // Where no other distance was asked for, the service takes 3 km.
    const around = near && m.within_km({ kilometres: (radius_m ?? 3_000) / 1_000 });
    return [q, category, region, around].filter(Boolean).join(' · ');
  };
}
