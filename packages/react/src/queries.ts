import type { CallOptions, Method, OperationId, Output, ReadOperationId } from '@dure/client';
import {
  type InfiniteData,
  type SkipToken,
  skipToken,
  type UseInfiniteQueryOptions,
  type UseInfiniteQueryResult,
  type UseQueryOptions,
  type UseQueryResult,
  useInfiniteQuery,
  useQuery,
} from '@tanstack/react-query';
import { useMemo } from 'react';
import { type SessionState, useDureContext } from './provider.tsx';
import { keyOf, type WithInput } from './query-key.ts';

/** What a method of the client tells about itself. */
export type Described = Pick<Method<OperationId>, 'operation' | 'needsLogin'>;

interface Enabled {
  enabled?: boolean;
}

type ObjectOptions<Id extends ReadOperationId, Data> = Enabled &
  Omit<UseQueryOptions<Output<Id>, Error, Data>, 'queryKey' | 'queryFn' | 'enabled'>;

interface Page {
  items: unknown[];
  next_cursor: string | null;
}

type ListOptions<ListPage> = Enabled &
  Omit<
    UseInfiniteQueryOptions<ListPage>,
    'queryKey' | 'queryFn' | 'initialPageParam' | 'getNextPageParam' | 'select' | 'enabled'
  >;

/** What both kinds of queries take, as far as it matters here. */
interface Options extends Enabled {
  placeholderData?: unknown;
}

/**
 * Reads with any operation that only reads: `useObject(dure.posts.get, { post_id: 7 })`. One that needs a login waits for it, and
 * each waits while its input is TanStack Query's `skipToken`.
 *
 * @param options those of `useQuery`
 */
export function useObject<Id extends ReadOperationId, Data = Output<Id>>(
  method: Method<Id>,
  ...args: WithInput<Id, SkipToken, [options?: ObjectOptions<Id, Data>]>
): UseQueryResult<Data>;
export function useObject(
  method: Described & ((input: object, options: CallOptions) => Promise<unknown>),
  input: object | SkipToken = {},
  options: Options = {},
): object {
  return useQuery({
    ...useAccount(method, input, options),
    queryFn: input === skipToken ? skipToken : ({ signal }) => method(input, { signal }),
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
  input?: Omit<NoInfer<ListInput>, 'cursor'> | SkipToken,
  options?: ListOptions<ListPage>,
): UseInfiniteQueryResult<InfiniteData<ListPage>> & { items: ListPage['items'][number][] };
export function useInfiniteList(
  method: Described & ((input: object, options: CallOptions) => Promise<Page>),
  input: object | SkipToken = {},
  options: Options = {},
): object {
  const { queryKey: key, ...common } = useAccount(method, input, options);
  const query = useInfiniteQuery<Page>({
    ...common,
    queryKey: [...key, 'pages'],
    queryFn:
      input === skipToken
        ? skipToken
        : ({ signal, pageParam }) => method({ ...input, cursor: pageParam }, { signal }),
    initialPageParam: undefined,
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
  });
  const { data } = query;
  const items = useMemo(() => data?.pages.flatMap((page) => page.items) ?? [], [data]);
  return { ...query, items };
}

/** The options of a query of the account that is signed in. */
function useAccount({ operation, needsLogin }: Described, input: object | SkipToken, options: Options) {
  const { status, userId } = useDureContext().session;
  const { enabled = true, placeholderData: placeholder } = options;
  return {
    // The client has repeated what is worth it.
    retry: false,
    ...options,
    queryKey: keyOf(userId, operation, input === skipToken ? null : input),
    enabled: enabled && (needsLogin ? status === 'signed_in' : status !== 'loading'),
    placeholderData(data?: unknown, previous?: { queryKey: readonly unknown[] }) {
      if (typeof placeholder !== 'function') return placeholder;
      // `keepPreviousData` would keep that of another account, too.
      return previous?.queryKey[1] === userId ? placeholder(data, previous) : placeholder();
    },
  };
}

/** Who is signed in. `user` is read from the service, and undefined until then. */
export function useSession(): SessionState & { user: Output<'getCurrentUser'> | undefined } {
  const { client, session } = useDureContext();
  const { data: user } = useObject(client.auth.getCurrentUser);
  return { ...session, user };
}
