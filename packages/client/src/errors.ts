import type { RawResponse } from './transport.ts';
import type { ErrorCode, ErrorCodeOf, ErrorDataOf, OperationId } from './types.ts';

/** What is wrong with one value of the input. */
export interface FieldError {
  /** Name of the input, or JSON pointer for a value inside it. */
  field: string;
  /** For programs; never changes. */
  code: string;
  /** The server's text for people. */
  message: string;
  /** What `code` is about, such as `min` of `too_short`. */
  params?: { min?: number; max?: number; allowed?: string[] };
}

/** The service rejected a call, or failed. `code` says why; {@link isApiError} narrows it to the codes of an operation. */
export class ApiError<Code extends string = ErrorCode, Data = { detail: string; code: Code }> extends Error {
  override readonly name = 'ApiError';
  /** What was called. */
  readonly operation: OperationId;
  /** The HTTP status. */
  readonly status: number;
  /** For programs; never changes. */
  readonly code: Code;
  /** The server's text for people, in the language of the call. `message` is for logs: operation, code and this text. */
  readonly detail: string;
  /** `data` of the response. */
  readonly data: Data;
  /** Texts for people, by the name of the input that they are about. */
  readonly fields: Readonly<Partial<Record<string, readonly string[]>>>;
  /** The same for programs: one for each text in `fields`, in the same order. */
  readonly errors: readonly FieldError[];
  /** Seconds after which the call may be repeated, where the server says so. */
  readonly retryAfter: number | undefined;
  /** Names the call in the logs of the server. */
  readonly requestId: string | undefined;

  constructor(operation: OperationId, parts: Omit<ApiError<Code, Data>, keyof Error | 'operation'>) {
    super(`${operation} ${parts.code}: ${parts.detail}`);
    this.operation = operation;
    this.status = parts.status;
    this.code = parts.code;
    this.detail = parts.detail;
    this.data = parts.data;
    this.fields = parts.fields;
    this.errors = parts.errors;
    this.retryAfter = parts.retryAfter;
    this.requestId = parts.requestId;
  }
}

type DataOf<Code extends string, Data> = Data extends { code: infer Codes }
  ? Code extends Codes
    ? Data & { code: Code }
    : never
  : never;

type OneApiError<Code extends string, Data> = Code extends unknown
  ? ApiError<Code, DataOf<Code, Data>>
  : never;

/** The errors of an operation: a union that `code` tells apart. */
export type ApiErrorOf<Id extends OperationId> = OneApiError<ErrorCodeOf<Id>, ErrorDataOf<Id>>;

/** Whether a caught value is an error of the API. Name an operation to narrow its `code`. */
export function isApiError(error: unknown): error is ApiError;
/** Whether a caught value is an error of this operation, whose `code` and `data` it narrows. */
export function isApiError<Id extends OperationId>(error: unknown, operation: Id): error is ApiErrorOf<Id>;
export function isApiError(error: unknown, operation?: OperationId): boolean {
  // By its name: an app may have loaded the client twice, as ESM and as CommonJS.
  const isOne = error instanceof Error && error.name === 'ApiError' && 'operation' in error;
  return isOne && (operation === undefined || error.operation === operation);
}

/** No response came: no network, a connection that broke, or an origin that the service does not allow. `cause` is the error of `fetch`. */
export class NetworkError extends Error {
  override readonly name: string = 'NetworkError';
}

/** No response came in time. */
export class TimeoutError extends NetworkError {
  override readonly name = 'TimeoutError';
}

/** As browsers name it. React Native has no `DOMException`. */
export function notSupported(text: string): Error {
  return Object.assign(new Error(text), { name: 'NotSupportedError' });
}

/** The response is not one of the API, such as the HTML page of a proxy, or a redirect, which is not followed. */
export class UnexpectedResponseError extends Error {
  override readonly name = 'UnexpectedResponseError';
  /** What was called. */
  readonly operation: OperationId;
  /** Without the query. */
  readonly url: string;
  /** 0 for a redirect in a browser, which does not tell. */
  readonly status: number;
  /** The beginning of the response. */
  readonly body: string;
  /** Names the call in the logs of the server, if it is the server that responded. */
  readonly requestId: string | undefined;

  constructor(operation: OperationId, { url, status, text, headers }: RawResponse) {
    const what = isRedirect(status) ? 'a redirect, which the service does not have' : 'none of the API';
    const requestId = headers.get('x-request-id') ?? undefined;
    const id = requestId && `, request ${requestId}`;
    super(`${operation}: the response of ${url} is ${what} (status ${status}${id ?? ''})`);
    this.operation = operation;
    this.url = url;
    this.status = status;
    this.body = text.slice(0, 500);
    this.requestId = requestId;
  }
}

function isRedirect(status: number): boolean {
  return status === 0 || (status >= 300 && status < 400);
}
