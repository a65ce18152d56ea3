import {
  type CallOptions,
  type Input,
  type Method,
  newIdempotencyKey,
  type OperationId,
  type Output,
  type ReadOperationId,
} from '@dure/client';
import {
  type UseMutationOptions,
  type UseMutationResult,
  useQueryClient,
  useMutation as useTanStackMutation,
} from '@tanstack/react-query';
import { useState } from 'react';
import { invalidate, touchedBy } from './invalidation.ts';
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
  /** What is read again after a success; without it, what the operation may have changed. */
  touches?: readonly ReadOperationId[];
};

/**
 * Changes with any operation: `useMutation(dure.posts.create)`. After a success, what it may have changed is read again. A user who
 * sends the same input again after an error creates nothing twice: each attempt has the same `Idempotency-Key`, until it succeeds.
 * Without network it fails, after the repetitions of the client. Its state is that of the account: another one does not see it.
 *
 * @param options those of TanStack Query's `useMutation`, `call` and `touches`
 */
export function useMutation<Id extends OperationId>(
  method: Method<Id>,
  options?: MutationOptions<Id>,
): UseMutationResult<Output<Id>, Error, Variables<Id>>;
export function useMutation(
  method: Described & ((input: object, options?: CallOptions) => Promise<unknown>),
  {
    call,
    touches,
    ...options
  }: UseMutationOptions<unknown, Error, object | undefined> & {
    call?: CallOptions;
    touches?: readonly ReadOperationId[];
  } = {},
): object {
  const { client, session } = useDureContext();
  const queries = useQueryClient();
  /** The keys of inputs that have not succeeded yet, by their text. */
  const [keys] = useState(() => new Map<string | undefined, string>());
  return useTanStackMutation({
    // TanStack Query would wait for the network, and then change things for the account that is signed in by that time.
    networkMode: 'always',
    ...options,
    // Another key resets it. A login goes on while the account changes.
    mutationKey: ['dure', method.needsLogin ? session.userId : null, method.operation],
    mutationFn(input) {
      const text = JSON.stringify(input);
      const idempotencyKey = keys.get(text) ?? newIdempotencyKey();
      keys.set(text, idempotencyKey);
      return method(input ?? {}, { idempotencyKey, ...call });
    },
    onSuccess: (...args) => {
      keys.delete(JSON.stringify(args[1]));
      invalidate(
        queries,
        client,
        touches ? (read) => touches.some((one) => one === read) : touchedBy(method.operation),
      );
      return options.onSuccess?.(...args);
    },
  });
}
