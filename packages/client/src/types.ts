import type { operations } from './generated/api.ts';
import type * as operationTable from './generated/operations.ts';
import type { OperationCall } from './operation-call.ts';
import type { UploadProgress } from './upload.ts';

/** The name of an operation; `streamNotifications` is `client.notifications.subscribe`. */
export type OperationId = Exclude<keyof typeof operationTable, 'streamNotifications'>;

/** The operations that only read. */
export type ReadOperationId = {
  [Id in OperationId]: (typeof operationTable)[Id]['method'] extends 'GET' ? Id : never;
}[OperationId];

/** `never` where an operation has none of it. */
type Inputs<Value> = [NonNullable<Value>] extends [never] ? unknown : NonNullable<Value>;

type BodyOf<Operation> = Operation extends { requestBody?: infer Body }
  ? Inputs<Body> extends { content: infer Content }
    ? Content[keyof Content]
    : unknown
  : unknown;

type ParametersOf<Operation, Place extends string> = Operation extends { parameters: infer Parameters }
  ? Place extends keyof Parameters
    ? Inputs<Parameters[Place]>
    : unknown
  : unknown;

/** A type as one flat object, so that editors show its properties; `undefined` stands for a property that is left out. */
type Flat<Type> = Type extends unknown
  ? {
      [Key in keyof Type]: Record<never, never> extends Pick<Type, Key> ? Type[Key] | undefined : Type[Key];
    }
  : never;

/** What an operation takes: the parameters of its path and its query and the properties of its body, in one object. */
export type Input<Id extends OperationId> = Flat<
  ParametersOf<operations[Id], 'path'> & ParametersOf<operations[Id], 'query'> & BodyOf<operations[Id]>
>;

type Json<Response> = Response extends { content: { 'application/json': infer Body } } ? Body : never;
type SuccessStatus = 200 | 201 | 202;
type Responses<Id extends OperationId> = operations[Id]['responses'];

type SuccessBody<Id extends OperationId> = Json<Responses<Id>[keyof Responses<Id> & SuccessStatus]>;

/** What an operation resolves to: `data` of its response. */
export type Output<Id extends OperationId> =
  SuccessBody<Id> extends { data: infer Data } ? Data : SuccessBody<Id>;

/** One entry of the pages that an operation lists, such as `Item<'listPosts'>`. */
export type Item<Id extends OperationId> = Output<Id> extends { items: (infer Entry)[] } ? Entry : never;

type ErrorBody<Id extends OperationId> = Json<Responses<Id>[Exclude<keyof Responses<Id>, SuccessStatus>]>;

/** `data` of the errors of an operation. */
export type ErrorDataOf<Id extends OperationId> =
  ErrorBody<Id> extends infer Body ? (Body extends { data: infer Data } ? Data : never) : never;

/** The codes with which an operation fails. */
export type ErrorCodeOf<Id extends OperationId> = Extract<ErrorDataOf<Id>, { code: string }>['code'];

/** All codes of the API. */
export type ErrorCode = { [Id in OperationId]: ErrorCodeOf<Id> }[OperationId];

/** What a single call may have beside its input. */
export interface CallOptions {
  /** Aborts the call, which then rejects with the reason of the signal. */
  signal?: AbortSignal | undefined;
  /** Milliseconds that one attempt may take. */
  timeout?: number | undefined;
  /** For operations that take one, in place of a random key for each call: see `newIdempotencyKey`. */
  idempotencyKey?: string | undefined;
  /** They replace those of the client, `authorization` too. */
  headers?: Record<string, string> | Headers | undefined;
  /** The `ETag` of what the app has read: an update of something newer is rejected with `precondition_failed`. */
  ifMatch?: string | undefined;
  /** How often the call is repeated, where that is safe, in place of the number of the client. */
  retries?: number | undefined;
  /** Called while files are uploaded, in browsers and React Native; the call then uses XMLHttpRequest in place of `fetch`. */
  onUploadProgress?: ((progress: UploadProgress) => void) | undefined;
  /** Of the texts in the response, in place of that of the client. */
  language?: Language | undefined;
}

/** The languages of the server's texts. */
export type Language = 'ko' | 'en';

/** The arguments of an operation: its input may be left out where nothing in it is required. */
export type Arguments<Id extends OperationId> =
  Record<never, never> extends Input<Id>
    ? [input?: Input<Id>, options?: CallOptions]
    : [input: Input<Id>, options?: CallOptions];

/** An operation of a client, such as `client.posts.list`. */
export interface Method<Id extends OperationId> {
  (...args: Arguments<Id>): Promise<Output<Id>>;
  /** Its `operationId`. */
  readonly operation: Id;
  /** Whether it needs a login. */
  readonly needsLogin: boolean;
}

/** How an operation is called, such as `listPosts`. */
export interface Operation<Id extends OperationId> extends OperationCall {
  id: Id;
}

/** Calls an operation and resolves to `data` of its response. */
export type Call = <Id extends OperationId>(
  operation: Operation<Id>,
  ...args: Arguments<Id>
) => Promise<Output<Id>>;

/** The whole response to a call. */
export interface CallResponse<Id extends OperationId> {
  /** What a method such as `client.posts.list` resolves to. */
  data: Output<Id>;
  /** The server's text for people, in the language of the call. */
  message: string;
  /** The HTTP status. */
  status: number;
  /** Names the call in the logs of the server. */
  requestId: string | undefined;
  headers: Headers;
}
