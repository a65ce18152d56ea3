import type { CallOptions, Input, Method, OperationId, Output } from '@dure/client';
import {
  type InfiniteData,
  type UseInfiniteQueryOptions,
  type UseInfiniteQueryResult,
  type UseQueryOptions,
  type UseQueryResult,
  useInfiniteQuery,
  useQuery,
} from '@tanstack/react-query';
import { useDureContext } from './provider.tsx';

/** What a method of the client tells about itself. */
type Described = Pick<Method<OperationId>, 'operation' | 'needsLogin'>;

interface Enabled {
  enabled?: boolean;
}

type ObjectOptions<Id extends OperationId> = Enabled &
  Omit<UseQueryOptions<Output<Id>>, 'queryKey' | 'queryFn' | 'enabled'>;

type ObjectArguments<Id extends OperationId> =
  Record<never, never> extends Input<Id>
    ? [input?: Input<Id>, options?: ObjectOptions<Id>]
    : [input: Input<Id>, options?: ObjectOptions<Id>];

interface Page {
  items: unknown[];
  next_cursor: string | null;
}

type ListOptions<ListPage> = Enabled &
  Omit<
    UseInfiniteQueryOptions<ListPage>,
    'queryKey' | 'queryFn' | 'initialPageParam' | 'getNextPageParam' | 'select' | 'enabled'
  >;

/** Where TanStack Query keeps what an operation has returned: apart for each account. */
export function queryKey(userId: number | null, operation: OperationId, input: object): readonly unknown[] {
  return ['dure', userId, operation, input];
}

/**
 * Reads with any operation: `useObject(dure.posts.get, { post_id: 7 })`. One that needs a login waits for it.
 *
 * @param options those of `useQuery`
 */
export function useObject<Id extends OperationId>(
  method: Method<Id>,
  ...args: ObjectArguments<Id>
): UseQueryResult<Output<Id>>;
export function useObject(
  method: Described & ((input: object, options: CallOptions) => Promise<unknown>),
  input: object = {},
  options: Enabled = {},
): object {
  const { key, isReady } = useOperation(method, input);
  return useQuery({
    // The client has repeated what is worth it.
    retry: false,
    ...options,
    enabled: isReady && (options.enabled ?? true),
    queryKey: key,
    queryFn: ({ signal }) => method(input, { signal }),
  });
}

/**
 * Reads a list page after page: `useInfiniteList(dure.posts.list, { q: '꽃' })`. The result is that of `useInfiniteQuery`, and `items`
 * has the entries of all pages.
 *
 * @param options those of `useInfiniteQuery`
 */
export function useInfiniteList<ListInput extends { cursor?: string | undefined }, ListPage extends Page>(
  method: Described & ((input?: ListInput, options?: CallOptions) => Promise<ListPage>),
  input?: Omit<NoInfer<ListInput>, 'cursor'>,
  options?: ListOptions<ListPage>,
): UseInfiniteQueryResult<InfiniteData<ListPage>> & { items: ListPage['items'][number][] };
export function useInfiniteList(
  method: Described & ((input: object, options: CallOptions) => Promise<Page>),
  input: object = {},
  options: Enabled = {},
): object {
  const { key, isReady } = useOperation(method, input);
  const query = useInfiniteQuery({
    retry: false,
    ...options,
    enabled: isReady && (options.enabled ?? true),
    queryKey: key,
    queryFn: ({ signal, pageParam }) => method({ ...input, cursor: pageParam }, { signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
  });
  return { ...query, items: query.data?.pages.flatMap(({ items }) => items) ?? [] };
}

function useOperation({ operation, needsLogin }: Described, input: object) {
  const { session } = useDureContext();
  const isReady = needsLogin ? session.status === 'signed_in' : session.status !== 'loading';
  return { key: queryKey(session.userId, operation, input), isReady };
}
