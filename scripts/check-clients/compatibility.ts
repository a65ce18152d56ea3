import type { operations as Current } from './openapi-typescript/api';
import type { operations as Released } from './released/api';

/*
 * Fails to compile when openapi.yaml breaks a client of the newest release: what clients send must still be accepted, and what
 * they read must still be there (docs/client/compatibility.md). Types do not tell a stricter rule for a value (length, pattern)
 * or a new need of a login: those are for the review.
 */

/** Without the values of enums, of which responses may get new ones. */
type Widened<T> = T extends string
  ? string
  : T extends number
    ? number
    : T extends object
      ? { [K in keyof T]: Widened<T[K]> }
      : T;

type Json<T> = T extends { content: { 'application/json': infer Body } } ? Body : undefined;
type Body<O> = O extends { requestBody?: infer B } ? Json<NonNullable<B>> : undefined;
type Query<O> = O extends { parameters: { query?: infer Q; path?: infer P } } ? [Q, P] : never;
type Fields<T> = T extends readonly unknown[] ? Fields<T[number]> : T extends object ? keyof T : never;
type Success<O> = O extends { responses: infer R }
  ? { [S in keyof R & (200 | 201 | 202)]: Widened<Json<R[S]>> }
  : never;

type Compared<Before, After> =
  | ([Body<Before>, Query<Before>] extends [Body<After>, Query<After>]
      ? never
      : 'no longer accepts what it did')
  | (Fields<Body<Before> | Query<Before>> extends Fields<Body<After> | Query<After>>
      ? never
      : 'lacks an input')
  | (Success<After> extends Success<Before> ? never : 'no longer responds what it did');

/** What is wrong, by operation. */
type Broken<Before, After> = {
  [K in keyof Before as [K extends keyof After ? Compared<Before[K], After[K]> : 'removed'] extends [never]
    ? never
    : K]: K extends keyof After ? Compared<Before[K], After[K]> : 'removed';
};

type Compatible<Before, After> = keyof Broken<Before, After> extends never ? true : Broken<Before, After>;

export const released: Compatible<Released, Current> = true;

// The comparison itself, on changes of one operation.
type Operation<Input, Output> = {
  responses: { 201: { content: { 'application/json': Output } }; 400: object };
  requestBody: { content: { 'application/json': Input } };
  parameters: { query?: never; path?: never };
};
type Before = { create: Operation<{ name: string; kind?: 'a' | 'b' }, { id: number; state: 'x' }> };
type With<Input, Output> = { create: Operation<Input, Output>; added: Operation<object, object> };

export const additions: Compatible<
  Before,
  With<{ name: string; kind?: 'a' | 'b' | 'c'; note?: string }, { id: number; state: 'x' | 'y'; at: string }>
> = true;
// @ts-expect-error an operation is removed
export const removed: Compatible<Before, Omit<With<object, object>, 'create'>> = true;
// @ts-expect-error a field of the response is removed
export const lostOutput: Compatible<Before, With<{ name: string; kind?: 'a' | 'b' }, { id: number }>> = true;
// @ts-expect-error a field of the response has another type
export const otherType: Compatible<
  Before,
  With<{ name: string; kind?: 'a' | 'b' }, { id: string; state: 'x' }>
> = true;
// @ts-expect-error a field of the request is removed
export const lostInput: Compatible<Before, With<{ name: string }, { id: number; state: 'x' }>> = true;
// @ts-expect-error a field of the request becomes required
export const required: Compatible<
  Before,
  With<{ name: string; kind: 'a' | 'b' }, { id: number; state: 'x' }>
> = true;
// @ts-expect-error a value of the request's enum is removed
export const lostValue: Compatible<
  Before,
  With<{ name: string; kind?: 'a' }, { id: number; state: 'x' }>
> = true;
