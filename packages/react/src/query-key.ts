import type { Input, OperationId, Output, ReadOperationId } from '@dure/client';
import type { DataTag } from '@tanstack/react-query';

/** The input may be left out where nothing in it is required. */
export type WithInput<Id extends ReadOperationId, Skip, Rest extends unknown[]> =
  Record<never, never> extends Input<Id>
    ? [input?: Input<Id> | Skip, ...Rest]
    : [input: Input<Id> | Skip, ...Rest];

/**
 * Where TanStack Query keeps what `useObject` has read, apart for each account: `queryKey(dure.userId(), 'getPost', { post_id: 7 })`.
 * What `useInfiniteList` has read has another form, and `pages` at the end of its key.
 */
export function queryKey<Id extends ReadOperationId>(
  userId: number | null,
  operation: Id,
  ...args: WithInput<Id, never, []>
): DataTag<readonly unknown[], Output<Id>>;
export function queryKey(
  userId: number | null,
  operation: OperationId,
  input: object = {},
): readonly unknown[] {
  return keyOf(userId, operation, input);
}

/** @param input null while it is TanStack Query's `skipToken` */
export function keyOf(
  userId: number | null,
  operation: OperationId,
  input: object | null,
): readonly unknown[] {
  return ['dure', userId, operation, input];
}
