import type { connectCollector, SpanOptions } from './collector.ts';

/** Traces of requests, statements and emails. No span has values, texts of errors, or paths of requests. */
export type Tracing = ReturnType<typeof connectCollector>;

/** Opens tracing where a collector is configured. The libraries are large and loaded only then. */
export async function openTracing(endpoint: string | undefined): Promise<Tracing | undefined> {
  return endpoint === undefined ? undefined : (await import('./collector.ts')).connectCollector(endpoint);
}

/** Runs work in a span where tracing is on. */
export function inSpan<Result>(
  tracing: Tracing | undefined,
  options: SpanOptions,
  work: () => Promise<Result>,
): Promise<Result> {
  return tracing ? tracing.inSpan(options, work) : work();
}
