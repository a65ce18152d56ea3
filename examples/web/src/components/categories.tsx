import type { StoreSummary } from '../api.ts';

/** What kind of store it is. */
export function Categories({ of }: { of: Pick<StoreSummary, 'store_categories'> }) {
  return (
    <ul class="row">
      {of.store_categories.map(({ id, name }) => (
        <li class="chip" key={id} lang="ko">
          {name}
        </li>
      ))}
    </ul>
  );
}
