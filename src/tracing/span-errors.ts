import { type Span, SpanStatusCode } from '@opentelemetry/api';

/** Marks a span as failed by the code or the class of an error. Its text may quote values. */
export function failSpan(span: Span, error: unknown): void {
  span.setStatus({ code: SpanStatusCode.ERROR });
  span.setAttribute('error.type', typeOf(error));
}

function typeOf(error: unknown): string {
  if (
    typeof error === 'object' &&
    error !== null &&
    'code' in error &&
    /^\w{1,40}$/.test(String(error.code))
  ) {
    return String(error.code);
  }
  return error instanceof Error ? error.name : 'unknown';
}
