import { isApiError } from '@dure/client';
import type { UseInfiniteQueryResult, UseQueryResult } from '@tanstack/react-query';
import { Store } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { m } from '../paraglide/messages.js';
import { Button, ButtonLink } from './button.tsx';
import { describeError } from './errors.ts';
import './states.css';

interface LoadedProps<Data> {
  query: UseQueryResult<Data>;
  missing?: string;
  children: (data: Data) => ReactNode;
}

/** Shows what a query has read; until then grey boxes, and after an error its reason. */
export function Loaded<Data>({ query, missing, children }: LoadedProps<Data>) {
  const { data, error } = query;
  if (missing && isMissing(error)) return <Empty text={missing} />;
  // What the service no longer has is not shown any more. Without a network, what was read before still is.
  if (error && (data === undefined || isMissing(error))) return <LoadError {...query} />;
  return data === undefined ? <Skeleton /> : children(data);
}

interface ListProps<Item> {
  /** Of `useInfiniteList` or {@link useHeldBack}. */
  query: Omit<UseInfiniteQueryResult, 'data'> & { items: Item[]; waiting?: number; showWaiting?: () => void };
  className?: 'posts' | 'items';
  describeNew?: (count: number) => string;
  empty: ReactNode;
  children: (item: Item) => ReactNode;
}

/** The entries of `useInfiniteList`, with a button for the next page. */
export function List<Item extends { id: number | string }>(props: ListProps<Item>) {
  const { query, className = 'items', describeNew, empty, children } = props;
  const { items, waiting = 0, showWaiting, error, isSuccess, isFetching, hasNextPage } = query;
  if (items.length === 0 && isSuccess && !hasNextPage) return empty;
  const more = isFetching ? m.loading() : m.show_more();
  return (
    <>
      <div className="new-items" role="status">
        {waiting > 0 && (
          <Button look="primary" label={describeNew?.(waiting)} onClick={() => showWaiting?.()} />
        )}
      </div>
      <ul className={className}>
        {items.map((item) => (
          <li key={item.id}>{children(item)}</li>
        ))}
      </ul>
      {error && <LoadError {...query} />}
      {!isSuccess && !error && <Skeleton className={className === 'posts' ? 'posts' : 'stack'} />}
      {hasNextPage && !error && (
        <Button look="wide mt-16" label={more} onClick={query.fetchNextPage} disabled={isFetching} />
      )}
    </>
  );
}

/** What arrives above the first entry that was shown waits until it is asked for, so that none moves another one under the finger. */
export function useHeldBack<Item extends { id: number | string }, List extends { items: Item[] }>(
  list: List & { items: Item[] },
) {
  const [first, setFirst] = useState<Item['id']>();
  const [top] = list.items;
  const place = list.items.findIndex(({ id }) => id === first);
  // At first, and once the first one is gone.
  if (place === -1 && top) setFirst(top.id);
  const waiting = Math.max(0, place);
  return { ...list, items: list.items.slice(waiting), waiting, showWaiting: () => setFirst(top?.id) };
}

const isMissing = (error: unknown) => isApiError(error) && error.status === 404;

export function LoadError({ error, refetch }: { error: unknown; refetch: () => unknown }) {
  return (
    <div className="note error stack" role="alert">
      <p>{describeError(error)}</p>
      {!isMissing(error) && <Button label={m.try_again()} onClick={refetch} />}
    </div>
  );
}

/** Why there is nothing, and where to go from here. */
export function Empty({ text, to, label }: { text: string; to?: string | false; label?: string }) {
  return (
    <div className="empty">
      <Store size={48} />
      <p className="soft">{text}</p>
      {to && <ButtonLink look="primary" to={to} label={label} />}
    </div>
  );
}

/** Grey boxes in about the size of what is being loaded, so that little moves when it arrives. */
export function Skeleton({ className = 'stack' }: { className?: string }) {
  return (
    <div className={className} role="status">
      <span className="visually-hidden">{m.loading()}</span>
      <div className="skeleton" />
      <div className="skeleton" />
      <div className="skeleton" />
    </div>
  );
}
