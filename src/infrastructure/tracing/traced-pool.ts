import { context, type Span, SpanKind, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api';
import type { Pool, PoolClient } from 'pg';
import { statementSummary } from './statement-summary.ts';

type ConnectCallback = Parameters<Pool['connect']>[0];

/** Makes a span of each statement of a pool, below the active span; without one, as in the clean-up, there is none. */
export function tracePool(pool: Pool, tracer: Tracer): void {
  pool.on('connect', (client) => traceClient(client, tracer));
  const { connect } = pool;
  Object.defineProperty(pool, 'connect', {
    // A request that waits gets its connection in the context of the one that gives it back.
    value: (callback?: ConnectCallback) =>
      callback === undefined
        ? Reflect.apply(connect, pool, [])
        : Reflect.apply(connect, pool, [context.bind(context.active(), callback)]),
  });
}

function traceClient(client: PoolClient, tracer: Tracer): void {
  const { query } = client;
  Object.defineProperty(client, 'query', {
    value(...args: unknown[]) {
      const text = textOf(args[0]);
      if (text === undefined || !trace.getActiveSpan()?.isRecording())
        return Reflect.apply(query, client, args);
      const summary = statementSummary(text);
      const span = tracer.startSpan(summary, {
        kind: SpanKind.CLIENT,
        attributes: { 'db.system.name': 'postgresql', 'db.query.summary': summary },
      });
      const callback = args.at(-1);
      if (typeof callback !== 'function') return endWith(span, Reflect.apply(query, client, args));
      const finish = (...outcome: unknown[]) => {
        end(span, outcome[0]);
        Reflect.apply(callback, undefined, outcome);
      };
      return Reflect.apply(query, client, [...args.slice(0, -1), finish]);
    },
  });
}

/** The text of what `query` was called with; undefined for what is no plain statement. */
function textOf(statement: unknown): string | undefined {
  if (typeof statement === 'string') return statement;
  if (typeof statement !== 'object' || statement === null || !('text' in statement)) return undefined;
  return typeof statement.text === 'string' ? statement.text : undefined;
}

function endWith<Result>(span: Span, result: Promise<Result>): Promise<Result> {
  result.then(
    () => end(span, undefined),
    (error: unknown) => end(span, error),
  );
  return result;
}

function end(span: Span, error: unknown): void {
  if (error) failSpan(span, error);
  span.end();
}

/** Marks a span as failed by the code or the class of an error. Its text may quote values. */
export function failSpan(span: Span, error: unknown): void {
  span.setStatus({ code: SpanStatusCode.ERROR });
  span.setAttribute('error.type', typeOf(error));
}

function typeOf(error: unknown): string {
  const { code } = Object(error);
  if (/^\w{1,40}$/.test(String(code ?? ''))) return String(code);
  return error instanceof Error ? error.name : 'unknown';
}
