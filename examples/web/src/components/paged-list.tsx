import type { ComponentChildren } from 'preact';
import type { Pages } from '../hooks/use-pages.ts';
import { useLanguage } from '../texts/language.tsx';
import { LoadError, Skeleton } from './states.tsx';

interface PagedListProps<Item> {
  pages: Pages<Item>;
  class?: 'posts' | 'items';
  /** While the first page is loaded. */
  skeleton?: ComponentChildren;
  /** When there is nothing. */
  empty: ComponentChildren;
  children: (item: Item) => ComponentChildren;
}

/** A list with its states: loading, empty, failed, and a button for the next page. */
export function PagedList<Item extends { id: number | string }>(props: PagedListProps<Item>) {
  const { items, cursor, error, isLoading, more } = props.pages;
  const { class: className = 'items' } = props;
  const { skeleton = className === 'posts' ? <Skeleton class="posts" height="17rem" /> : <Skeleton /> } =
    props;
  const { t } = useLanguage();
  const isComplete = cursor === null;
  return (
    <>
      {items.length > 0 && (
        <ul class={className}>
          {items.map((item) => (
            <li key={item.id}>{props.children(item)}</li>
          ))}
        </ul>
      )}
      {isLoading && items.length === 0 && skeleton}
      {error !== undefined && <LoadError error={error} onRetry={more} />}
      {isComplete && items.length === 0 && props.empty}
      {typeof cursor === 'string' && error === undefined && (
        <p style="margin-top:16px">
          <button
            type="button"
            class="button wide"
            aria-disabled={isLoading}
            onClick={() => isLoading || more()}
          >
            {isLoading ? t.common.loading : t.common.more}
          </button>
        </p>
      )}
    </>
  );
}
