import type { IncomingHttpHeaders } from 'node:http';
import type { Pool } from 'pg';

/** Traces of requests, statements and mails. No span has values, texts of errors, or paths of requests. */
export interface Tracing {
  /** `trace_id` and `span_id` of the active span, for each line of the log. */
  logFields(): Record<string, string>;
  /** The active span in the form of W3C Trace Context; undefined without one, and when it is not sampled. */
  traceparent(): string | undefined;
  /** Starts the span of a request under the span that its `traceparent` names. */
  startRequest(request: TracedRequest): RequestSpan;
  /** Makes a span of each statement of a pool, below the span that is active. */
  tracePool(pool: Pool): void;
  /** Runs work in a span. */
  inSpan<Result>(name: string, options: SpanOptions, work: () => Promise<Result>): Promise<Result>;
  /** Sends what is left, within a few seconds. */
  close(): Promise<void>;
}

interface TracedRequest {
  method: string;
  /** The pattern of the path; undefined for an unknown path. */
  route: string | undefined;
  headers: IncomingHttpHeaders;
}

/** The span of a request. */
export interface RequestSpan {
  /** Runs work in the span. */
  run(work: () => void): void;
  /** Ends the span. @param status undefined when the client disconnected before the response */
  end(status: number | undefined): void;
}

interface SpanOptions {
  kind: 'consumer' | 'client';
  attributes?: Record<string, string | number>;
  /** The `traceparent` of what caused the work. */
  cause?: string | undefined;
}

/** Runs work in a span where tracing is on. */
export function inSpan<Result>(
  tracing: Tracing | undefined,
  name: string,
  options: SpanOptions,
  work: () => Promise<Result>,
): Promise<Result> {
  return tracing ? tracing.inSpan(name, options, work) : work();
}
