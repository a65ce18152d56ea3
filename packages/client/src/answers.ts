import { ApiError, type FieldError, UnexpectedAnswerError } from './errors.ts';
import { operationTable } from './generated/operations.ts';
import type { OperationCall } from './operation-call.ts';
import type { PreparedRequest, RawAnswer } from './transport.ts';
import type { Answer, OperationId, Output } from './types.ts';

interface Envelope {
  message: string;
  data: Record<string, unknown>;
}

interface FailureEnvelope {
  message: string;
  data: {
    detail: string;
    code: ApiError['code'];
    reason?: string;
    fields?: Record<string, string[]>;
    errors?: FieldError[];
  };
}

/** Whether an answer has the form that all answers of the API have. */
function isEnvelope(body: unknown): body is Envelope {
  return isObject(body) && typeof body['message'] === 'string' && isObject(body['data']);
}

/** Whether an answer is a failure that the API describes. */
export function isFailure(body: unknown): body is FailureEnvelope {
  return isEnvelope(body) && typeof body.data['code'] === 'string';
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** The error of an answer that is no success. */
function failureOf(id: PreparedRequest['id'], answer: RawAnswer): ApiError | UnexpectedAnswerError {
  const { status, headers, body, text } = answer;
  if (!isFailure(body)) return new UnexpectedAnswerError(status, text);
  const { message, data } = body;
  return new ApiError(id, {
    status,
    message,
    code: data.code,
    data,
    fields: data.fields ?? {},
    errors: data.errors ?? [],
    requestId: requestIdOf(headers),
    retryAfter: retryAfterOf(headers),
  });
}

/** The result of a call. @throws when the answer is a failure, or none of the API */
export function resultOf<Id extends OperationId>(id: Id, answer: RawAnswer): Answer<Id> {
  const { status, headers, body, text } = answer;
  if (status < 200 || status > 299) throw failureOf(id, answer);
  const { plain }: OperationCall = operationTable[id];
  const isExpected = plain ? body !== undefined : isEnvelope(body);
  if (!isExpected) throw new UnexpectedAnswerError(status, text);
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
