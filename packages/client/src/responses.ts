import { ApiError, type FieldError, UnexpectedResponseError } from './errors.ts';
import type { RawResponse } from './transport.ts';
import type { CallResponse, Operation, OperationId, Output } from './types.ts';

interface Envelope<Data> {
  message: string;
  data: Data;
}

type ErrorEnvelope = Envelope<{
  detail: string;
  code: ApiError['code'];
  reason?: string;
  fields?: Record<string, string[]>;
  errors?: FieldError[];
}>;

/** Whether a response has the form that all responses of the API have. */
function isEnvelope<Data = Record<string, unknown>>(body: unknown): body is Envelope<Data> {
  return isObject(body) && typeof body['message'] === 'string' && isObject(body['data']);
}

/** Whether a response without the form is JSON. */
function isJson<Data>(body: unknown): body is Data {
  return body !== undefined;
}

/** Whether a response is an error that the API describes. */
export function isErrorEnvelope(body: unknown): body is ErrorEnvelope {
  return isEnvelope(body) && typeof body.data['code'] === 'string';
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** The error of a response that is no success. */
function errorOf(id: OperationId, response: RawResponse): ApiError | UnexpectedResponseError {
  const { status, headers, body } = response;
  if (!isErrorEnvelope(body)) return new UnexpectedResponseError(id, response);
  const { message, data } = body;
  return new ApiError(id, {
    status,
    detail: message,
    code: data.code,
    data,
    fields: data.fields ?? {},
    errors: data.errors ?? [],
    requestId: requestIdOf(headers),
    retryAfter: retryAfterOf(headers),
  });
}

/** The result of a call. @throws when the response is an error, or none of the API */
export function resultOf<Id extends OperationId>(
  { id, plain }: Operation<Id>,
  response: RawResponse,
): CallResponse<Id> {
  const { status, headers, body } = response;
  if (status < 200 || status > 299) throw errorOf(id, response);
  const rest = { status, requestId: requestIdOf(headers), headers };
  if (plain && isJson<Output<Id>>(body)) return { data: body, message: '', ...rest };
  if (!plain && isEnvelope<Output<Id>>(body)) return { data: body.data, message: body.message, ...rest };
  throw new UnexpectedResponseError(id, response);
}

export function requestIdOf(headers: Headers): string | undefined {
  return headers.get('x-request-id') ?? undefined;
}

/** Seconds of `Retry-After`, which the API never sends as a date. */
export function retryAfterOf(headers: Headers): number | undefined {
  const text = headers.get('retry-after');
  return text !== null && /^\d+$/.test(text) ? Number(text) : undefined;
}
