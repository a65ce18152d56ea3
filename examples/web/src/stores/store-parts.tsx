import type { StoreSummary } from '../api.ts';

/** What kind of store it is. */
export function Categories({ of }: { of: Pick<StoreSummary, 'store_categories'> }) {
  return <p>{of.store_categories.map(({ name }) => name).join(' · ')}</p>;
}
