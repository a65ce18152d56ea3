import { ApiError, type FieldError, UnexpectedResponseError } from './errors.ts';
import type { RawResponse } from './transport.ts';
import type { CallResponse, Operation, OperationId, Output } from './types.ts';

interface Envelope {
  message: string;
  data: Record<string, unknown>;
}

interface ErrorEnvelope {
  message: string;
  data: {
    detail: string;
    code: ApiError['code'];
    reason?: string;
    fields?: Record<string, string[]>;
    errors?: FieldError[];
  };
}

/** Whether a response has the form that all responses of the API have. */
function isEnvelope(body: unknown): body is Envelope {
  return isObject(body) && typeof body['message'] === 'string' && isObject(body['data']);
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
  const { status, headers, body, text } = response;
  if (status < 200 || status > 299) throw errorOf(id, response);
  const isExpected = plain ? body !== undefined : isEnvelope(body);
  if (!isExpected) throw new UnexpectedResponseError(id, response);
  const parsed = JSON.parse(text);
  const result: { data: Output<Id>; message: string } = plain ? { data: parsed, message: '' } : parsed;
  const { data, message } = result;
  return { data, message, status, requestId: requestIdOf(headers), headers };
}

function requestIdOf(headers: Headers): string | undefined {
  return headers.get('x-request-id') ?? undefined;
}

/** Seconds of `Retry-After`, which the API never sends as a date. */
export function retryAfterOf(headers: Headers): number | undefined {
  const text = headers.get('retry-after');
  return text !== null && /^\d+$/.test(text) ? Number(text) : undefined;
}
