import type { CallOptions, Input, Method, OperationId, Output } from '@dure/client';
import {
  type QueryClient,
  type UseMutationOptions,
  type UseMutationResult,
  useQueryClient,
  useMutation as useTanStackMutation,
} from '@tanstack/react-query';

/** Nothing has to be given to `mutate` where no input is required. */
type Variables<Id extends OperationId> =
  // biome-ignore lint/suspicious/noConfusingVoidType: only with `void` does TanStack Query accept `mutate()`.
  Record<never, never> extends Input<Id> ? Input<Id> | void : Input<Id>;

type MutationOptions<Id extends OperationId> = Omit<
  UseMutationOptions<Output<Id>, Error, Variables<Id>>,
  'mutationFn'
> & {
  /** Of each call, such as `onUploadProgress`. */
  call?: CallOptions;
};

/** Reads again what is shown: a change may concern other objects, too, such as the post of a request. */
export function invalidate(queries: QueryClient): void {
  void queries.invalidateQueries({ queryKey: ['dure'] });
}

/**
 * Changes with any operation: `useMutation(dure.posts.create)`. After a success everything that the page shows is read again.
 *
 * @param options those of TanStack Query's `useMutation`, and `call`
 */
export function useMutation<Id extends OperationId>(
  method: Method<Id>,
  options?: MutationOptions<Id>,
): UseMutationResult<Output<Id>, Error, Variables<Id>>;
export function useMutation(
  method: (input: object, options?: CallOptions) => Promise<unknown>,
  { call, ...options }: UseMutationOptions<unknown, Error, object | undefined> & { call?: CallOptions } = {},
): object {
  const queries = useQueryClient();
  return useTanStackMutation({
    ...options,
    mutationFn: (input) => method(input ?? {}, call),
    onSuccess: (...args) => {
      invalidate(queries);
      return options.onSuccess?.(...args);
    },
  });
}
