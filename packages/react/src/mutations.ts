import type { CallOptions, Client, Input, Method, OperationId, Output } from '@dure/client';
import {
  type QueryClient,
  type UseMutationOptions,
  type UseMutationResult,
  useQueryClient,
  useMutation as useTanStackMutation,
} from '@tanstack/react-query';
import { useDureContext } from './provider.tsx';
import type { Described } from './queries.ts';

/** Nothing has to be given to `mutate` where no input is required. */
type Variables<Id extends OperationId> =
  // biome-ignore lint/suspicious/noConfusingVoidType: only with `void` does TanStack Query accept `mutate()`.
  Record<never, never> extends Input<Id> ? Input<Id> | void : Input<Id>;

type MutationOptions<Id extends OperationId> = Omit<
  UseMutationOptions<Output<Id>, Error, Variables<Id>>,
  'mutationFn' | 'mutationKey'
> & {
  /** Of each call, such as `onUploadProgress`. */
  call?: CallOptions;
};

/**
 * Reads again what is shown to the account that is signed in now: right after a login, the hooks still show what is about to be removed.
 * It reads all, because a change may concern other objects, such as the post of a request.
 */
export function invalidate(queries: QueryClient, client: Client): void {
  const shown = { queryKey: ['dure', client.userId()] };
  // TanStack Query would keep the answer to a first read that began before the change.
  void queries.cancelQueries(shown).then(() => queries.invalidateQueries(shown));
}

/**
 * Changes with any operation: `useMutation(dure.posts.create)`. After a success everything that the page shows is read again.
 * Without network it fails, after the repetitions of the client. Its state is that of the account: another one does not see it.
 *
 * @param options those of TanStack Query's `useMutation`, and `call`
 */
export function useMutation<Id extends OperationId>(
  method: Method<Id>,
  options?: MutationOptions<Id>,
): UseMutationResult<Output<Id>, Error, Variables<Id>>;
export function useMutation(
  method: Described & ((input: object, options?: CallOptions) => Promise<unknown>),
  { call, ...options }: UseMutationOptions<unknown, Error, object | undefined> & { call?: CallOptions } = {},
): object {
  const { client, session } = useDureContext();
  const queries = useQueryClient();
  return useTanStackMutation({
    // TanStack Query would wait for the network, and then change things for the account that is signed in by that time.
    networkMode: 'always',
    ...options,
    // Another key resets it. A login goes on while the account changes.
    mutationKey: ['dure', method.needsLogin ? session.userId : null, method.operation],
    mutationFn: (input) => method(input ?? {}, call),
    onSuccess: (...args) => {
      invalidate(queries, client);
      return options.onSuccess?.(...args);
    },
  });
}
